import { type Outcome, succeeds } from './report.ts'

// What a tarball has, as `tar -tvzf` lists it.

/** Of a package as it is installed: about what a bundle and the documents beside it take. */
const MAX_OCTETS = 640_000

export function containsOnlyWhatIsMeant(outcome: Outcome): string | undefined {
  const failure = succeeds(outcome)
  if (failure !== undefined) return failure
  // test/publishing/package.test.ts lists the guides.
  const meant =
    /^package\/(?:package\.json|[A-Z-]+\.md|LICENSE|sbom\.cdx\.json|serve\.schema\.json|alerts\.yml|dashboard\.json|pictures\/[a-z-]+\.svg|browser\/[a-z-]+\.(?:js|css|svg)|dist\/.*\.(?:js|d\.ts))$/
  const entries = [...outcome.stdout.matchAll(/ (\d+) [\d-]+ [\d:]+ (.+)$/gm)]
  const files = entries.map(([, , path = '']) => path)
  const octets = entries.reduce((sum, [, size]) => sum + Number(size), 0)
  if (octets > MAX_OCTETS)
    return `it has ${octets} octets: what of it need not be in each node_modules?`
  const stray = files.filter((file) => !meant.test(file))
  if (stray.length > 0) return `stray files: ${stray.join(', ')}`
  const isProgram = files.includes('package/dist/main.js')
  const code = isProgram ? ['dist/main.js'] : ['dist/index.js', 'dist/index.d.ts']
  const missing = [
    'README.md',
    'SKILL.md',
    'LICENSE',
    'SECURITY.md',
    'sbom.cdx.json',
    ...code,
  ].filter((file) => !files.includes(`package/${file}`))
  return missing.length > 0 ? `missing files: ${missing.join(', ')}` : undefined
}

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

// Which packages are published: all but those that say that they are private.

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Their manifests, from the root of this repository. */
export const manifestPaths = manifestPathsIn(root)

/** The same of another clone. */
export function manifestPathsIn(clone: string): readonly string[] {
  return globSync('packages/*/package.json', { cwd: clone })
    .filter((path) => !isPrivate(join(clone, path)))
    .toSorted()
}

function isPrivate(path: string): boolean {
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as { private?: boolean }
  return manifest.private === true
}

interface Declared {
  readonly name: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

/** What a bundle imports of others without its manifest saying so: users would not have it. */
export function undeclared(imports: Iterable<string>, manifest: Declared): readonly string[] {
  const { name, dependencies, peerDependencies } = manifest
  const declared = new Set([name, ...Object.keys({ ...dependencies, ...peerDependencies })])
  const packages = [...imports]
    .filter((each) => !each.startsWith('node:') && !each.startsWith('.'))
    .map((each) => /^(?:@[^/]+\/)?[^/]+/.exec(each)?.[0] ?? each)
  return [...new Set(packages)].filter((each) => !declared.has(each)).toSorted()
}

import { readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

// What a package brings into a project, as CycloneDX: itself, and what is installed with it. The same sources make the same text, without a
// time and a number of its own, so that the package is the same as well.

interface Manifest {
  readonly name: string
  readonly version: string
  readonly description?: string
  readonly license?: string
  readonly dependencies?: Readonly<Record<string, string>>
}

interface Component {
  readonly type: 'library'
  readonly 'bom-ref': string
  readonly name: string
  readonly version: string
  readonly description?: string
  readonly hashes?: readonly { readonly alg: 'SHA-512'; readonly content: string }[]
  readonly licenses: readonly { readonly license: { readonly id: string } }[]
  readonly purl: string
}

/**
 * The text of the file.
 *
 * @param folder Of the package, where its dependencies are installed.
 * @param lockfile The text of pnpm-lock.yaml, which knows what their tarballs are.
 */
export function sbomOf(folder: string, lockfile: string): string {
  const own = manifestIn(folder)
  const found = new Map<string, readonly [Component, readonly string[]]>()
  const root = collect(folder, lockfile, found)
  const components = [...found.values()].map(([component]) => component)
  const sbom = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: componentOf(own, lockfile) },
    components: components.filter(({ purl }) => purl !== root).toSorted(byPurl),
    dependencies: [...found]
      .map(([ref, [, dependsOn]]) => ({ ref, dependsOn }))
      .toSorted((one, other) => (one.ref < other.ref ? -1 : 1)),
  }
  return `${JSON.stringify(sbom)}\n`
}

/** Notes a package and all that it depends on. Answers its name in the list. */
function collect(
  folder: string,
  lockfile: string,
  found: Map<string, readonly [Component, readonly string[]]>,
): string {
  const manifest = manifestIn(folder)
  const component = componentOf(manifest, lockfile)
  if (found.has(component.purl)) return component.purl
  found.set(component.purl, [component, []])
  const names = Object.keys(manifest.dependencies ?? {}).toSorted()
  const dependsOn = names.map((name) => collect(folderOf(name, folder), lockfile, found))
  found.set(component.purl, [component, dependsOn])
  return component.purl
}

function componentOf(manifest: Manifest, lockfile: string): Component {
  const { name, version, description, license = '' } = manifest
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  const integrity = integrityOf(name, version, lockfile)
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    ...(description !== undefined && { description }),
    ...(integrity !== undefined && { hashes: [{ alg: 'SHA-512', content: integrity }] }),
    licenses: [{ license: { id: license } }],
    purl,
  }
}

/** In hexadecimal digits. Of our own there is none before they are packed. */
function integrityOf(name: string, version: string, lockfile: string): string | undefined {
  const entry = [`${name}@${version}`, `'${name}@${version}'`].map((key) => `\n  ${key}:\n`)
  const at = entry.map((each) => lockfile.indexOf(each)).find((place) => place !== -1)
  const [, base64] = /integrity: sha512-([^,}]+)/.exec(lockfile.slice(at ?? lockfile.length)) ?? []
  return base64 === undefined ? undefined : Buffer.from(base64, 'base64').toString('hex')
}

/** Where a package finds another one: in its own folder, or in one above. */
function folderOf(name: string, from: string): string {
  const place = join(from, 'node_modules', name)
  try {
    return realpathSync(place)
  } catch {
    const above = dirname(from)
    if (above === from) throw new Error(`${name} is not installed`)
    return folderOf(name, above)
  }
}

function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}

function byPurl(one: Component, other: Component): number {
  return one.purl < other.purl ? -1 : 1
}

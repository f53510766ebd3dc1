import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, relative, sep } from 'node:path'

/** What installing a package brings. */
export interface InstallSize {
  /** Itself and all that it depends on. */
  readonly packages: number
  /** Octets of all their files. */
  readonly size: number
}

/** The packages of this repository are not packed here: these are the parts that would be. */
const PACKED = /^(?:package\.json|README\.md|LICENSE|(?:dist|src)\/.+\.(?:js|ts|map))$/

/** @param from A file of the package that depends on it. */
export function installSize(names: readonly string[], from: string): InstallSize {
  const found = new Set<string>()
  for (const name of names) collect(name, from, found)
  const sizes = [...found].map(sizeOf)
  return { packages: found.size, size: sizes.reduce((sum, size) => sum + size, 0) }
}

function collect(name: string, from: string, found: Set<string>): void {
  const folders = createRequire(from).resolve.paths(name) ?? []
  const folder = folders.map((each) => join(each, name)).find((each) => existsSync(each))
  if (folder === undefined) throw new Error(`${name} is not installed`)
  const home = realpathSync(folder)
  if (found.has(home)) return
  found.add(home)
  const manifest = join(home, 'package.json')
  const { dependencies = {} } = JSON.parse(readFileSync(manifest, 'utf8')) as {
    dependencies?: Readonly<Record<string, string>>
  } // by the format of package.json
  for (const dependency of Object.keys(dependencies)) collect(dependency, manifest, found)
}

function sizeOf(home: string): number {
  const isPacked = home.includes(`${sep}.pnpm${sep}`)
  return filesIn(home)
    .filter((path) => isPacked || PACKED.test(relative(home, path).split(sep).join('/')))
    .reduce((sum, path) => sum + statSync(path).size, 0)
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isFile()) return [path]
    return entry.isDirectory() && entry.name !== 'node_modules' ? filesIn(path) : []
  })
}

import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

/** What installing packages brings: themselves and all that they depend on. */
export interface InstallSize {
  readonly packages: number
  readonly files: number
  /** Octets of all files. */
  readonly size: number
  /** Octets of the packages themselves, without what they depend on. */
  readonly ownSize: number
}

/**
 * Peers do not count: they are there already.
 *
 * @param from A file of the package that depends on them.
 */
export function installSize(names: readonly string[], from: string): InstallSize {
  const found = new Set<string>()
  const own = names.map((name) => homeOf(name, from))
  for (const name of names) collect(name, from, found)
  const files = [...found].flatMap(filesIn)
  return {
    packages: found.size,
    files: files.length,
    size: sizeOf(files),
    ownSize: sizeOf(own.flatMap(filesIn)),
  }
}

function collect(name: string, from: string, found: Set<string>): void {
  const home = homeOf(name, from)
  if (found.has(home)) return
  found.add(home)
  const manifest = join(home, 'package.json')
  const { dependencies = {} } = JSON.parse(readFileSync(manifest, 'utf8')) as {
    dependencies?: Readonly<Record<string, string>>
  } // by the format of package.json
  for (const dependency of Object.keys(dependencies)) collect(dependency, manifest, found)
}

/** The folder of an installed package. */
function homeOf(name: string, from: string): string {
  const folders = createRequire(from).resolve.paths(name) ?? []
  const folder = folders.map((each) => join(each, name)).find((each) => existsSync(each))
  if (folder === undefined) throw new Error(`${name} is not installed`)
  return realpathSync(folder)
}

function sizeOf(files: readonly string[]): number {
  return files.reduce((sum, path) => sum + statSync(path).size, 0)
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isFile()) return [path]
    return entry.isDirectory() && entry.name !== 'node_modules' ? filesIn(path) : []
  })
}

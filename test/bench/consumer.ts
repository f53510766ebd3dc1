import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { install, pack } from '../publishing/packed/consumers.ts'

type Versions = Readonly<Record<string, string>>

// A project of its own in which packages are installed, ours as they would be published.

export interface Consumer {
  /** The names of ours. */
  readonly packages: readonly string[]
  /** Runs Node in it, and answers what it prints. */
  readonly node: (...args: readonly string[]) => Promise<string>
  /** Milliseconds that one import takes in a fresh process. What an application has anyway is imported before. */
  readonly importOnce: (modules: readonly string[], before?: readonly string[]) => Promise<number>
  /** What installing brings, these and all that they depend on: how many packages, and kB. Peers are there already. */
  readonly sizeOf: (names: readonly string[]) => readonly [packages: number, kilobytes: number]
}

const CHILD = 'fresh-child.ts'

export async function withConsumer(
  versions: Versions,
  use: (consumer: Consumer) => Promise<void>,
): Promise<void> {
  const here = dirname(fileURLToPath(import.meta.url))
  const work = mkdtempSync(join(tmpdir(), 'portcullis-bench-'))
  const home = join(work, 'consumer')
  const node = async (...args: readonly string[]) =>
    (await promisify(execFile)(process.execPath, ['--no-warnings', ...args], { cwd: home })).stdout
  try {
    const tarballs = await pack(join(here, '..', '..'), work)
    await install(home, tarballs, versions)
    cpSync(join(here, CHILD), join(home, CHILD))
    await use({
      packages: [...tarballs.keys()],
      node,
      importOnce: async (modules, before = []) =>
        Number(await node(CHILD, 'import', JSON.stringify([before, modules]))),
      sizeOf(names) {
        const found = new Set<string>()
        for (const name of names) collect(name, join(home, 'package.json'), found)
        return [found.size, [...found].reduce((sum, each) => sum + octetsIn(each), 0) / 1000]
      },
    })
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** The folders of an installed package and of all that it depends on. */
function collect(name: string, from: string, found: Set<string>): void {
  const folders = createRequire(from).resolve.paths(name) ?? []
  const folder = folders.map((each) => join(each, name)).find((each) => existsSync(each))
  if (folder === undefined) throw new Error(`${name} is not installed`)
  const home = realpathSync(folder)
  if (found.has(home)) return
  found.add(home)
  const manifest = join(home, 'package.json')
  const { dependencies = {} } = JSON.parse(readFileSync(manifest, 'utf8')) as {
    dependencies?: Versions
  } // by the format of package.json
  for (const dependency of Object.keys(dependencies)) collect(dependency, manifest, found)
}

function octetsIn(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name)
    if (entry.isFile()) return sum + statSync(path).size
    return sum + (entry.isDirectory() && entry.name !== 'node_modules' ? octetsIn(path) : 0)
  }, 0)
}

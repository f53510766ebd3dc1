import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { GUARDING } from '../../frameworks/packages.ts'
import { manifestPathsIn } from '../published.ts'
import { mustRun, pnpm } from './report.ts'
import { NEWEST_NODE, NODES, type NodeVersion } from './versions.ts'

/** The manifest entries of these Nodes. */
export const NODE_PACKAGES: Readonly<Record<string, string>> = Object.fromEntries(
  NODES.map((version) => [
    `node-${version}`,
    `npm:node-${process.platform}-${process.arch}@${version}`,
  ]),
)

/** Copies the programs of `consumer`, with an index of the guarded applications that they try. */
export function copyPrograms(root: string, consumer: string): void {
  cpSync(join(root, 'test', 'publishing', 'packed', 'consumer'), consumer, { recursive: true })
  writeIndex(consumer, GUARDING)
}

/** Of the guarded applications of these packages. */
export function writeIndex(home: string, folders: readonly string[]): void {
  const lines = folders.map((folder) => `export { guarded as ${folder} } from './${folder}.js'\n`)
  writeFileSync(join(home, 'guards', 'index.ts'), lines.join(''))
}

/** The program of a Node that the consumer has installed. */
export function nodeIn(consumer: string, version: NodeVersion): string {
  return join(consumer, 'node_modules', `node-${version}`, 'bin', 'node')
}

/** Builds and packs what would be published of a clone. The path of each tarball, by the name of its package. */
export async function pack(root: string, into: string): Promise<ReadonlyMap<string, string>> {
  await mustRun(pnpm('build'), root)
  return await packBuilt(root, into)
}

/** As above, of what `pnpm build` has made. */
export async function packBuilt(root: string, into: string): Promise<ReadonlyMap<string, string>> {
  const tarballs = new Map(
    manifestPathsIn(root).map((path) => {
      const { name, version } = readManifest(join(root, path))
      return [name, join(into, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`)]
    }),
  )
  await mustRun(
    pnpm(
      '-r',
      ...[...tarballs.keys()].flatMap((name) => ['--filter', name]),
      'pack',
      '--pack-destination',
      into,
    ),
    root,
  )
  return tarballs
}

function readManifest(path: string): { name: string; version: string } {
  return JSON.parse(readFileSync(path, 'utf8')) as {
    name: string
    version: string
  }
}

type Dependencies = Readonly<Record<string, string>>

/**
 * Makes a project that knows our packages as tarballs alone.
 *
 * @param tarballs The path of each, by the name of its package.
 * @param members The dependencies of further projects in folders of it, by the name of the folder.
 */
export async function install(
  folder: string,
  tarballs: ReadonlyMap<string, string>,
  dependencies: Dependencies,
  members: Readonly<Record<string, Dependencies>> = {},
): Promise<void> {
  const ours = Object.fromEntries([...tarballs].map(([name, path]) => [name, `file:${path}`]))
  for (const [member, own] of Object.entries({ '.': dependencies, ...members })) {
    mkdirSync(join(folder, member), { recursive: true })
    writeFileSync(
      join(folder, member, 'package.json'),
      JSON.stringify({ private: true, type: 'module', dependencies: { ...ours, ...own } }),
    )
  }
  // JSON is valid YAML.
  writeFileSync(
    join(folder, 'pnpm-workspace.yaml'),
    JSON.stringify({
      packages: Object.keys(members),
      overrides: ours,
      nodeVersion: NEWEST_NODE,
      pmOnFail: 'ignore',
      strictDepBuilds: false, // Jest works without what its dependencies would compile
    }),
  )
  await mustRun(pnpm('install', '--no-frozen-lockfile', '--prefer-offline'), folder)
}

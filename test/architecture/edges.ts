import { globSync } from 'node:fs'
import { join } from 'node:path'

import { GUARDING } from '../frameworks/packages.ts'
import { root } from './sources.ts'

type Edges = Readonly<Record<string, readonly string[]>>

/** An adapter is one file over core. One that is more says so in its `test/edges.ts`. */
const ADAPTERS: Edges = Object.fromEntries(
  GUARDING.map((folder) => [`${folder}/index`, ['@portcullis/core', '@portcullis/core/adapter']]),
)

/** The table of one package, with the folder of the package before each name. */
async function edgesAt(path: string): Promise<readonly [file: string, edges: readonly string[]][]> {
  const { EDGES: own } = (await import(join(root, path))) as { EDGES: Edges } // each exports it with this type
  const folder = path.split(/[/\\]/)[1] ?? ''
  return Object.entries(own).map(([file, edges]) => [`${folder}/${file}`, edges])
}

const tables = await Promise.all(globSync('packages/*/test/edges.ts', { cwd: root }).map(edgesAt))

/** Which imports of values each source of the packages beside core has; types may cross. */
export const EDGES: Edges = { ...ADAPTERS, ...Object.fromEntries(tables.flat()) }

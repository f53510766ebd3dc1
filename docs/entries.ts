import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

import { manifestPaths } from '../test/publishing/published.ts'

export const root = join(import.meta.dirname, '..')

/** Something that a user can import from. */
export interface Entry {
  /** As it is imported, such as `@portcullis/core/explain`. */
  readonly module: string
  /** The folder of its package. */
  readonly folder: string
  /** Its source and its types, from the root of the repository. */
  readonly source: string
  readonly types: string
  /** Whether it is what the name of the package alone imports. */
  readonly isMain: boolean
}

interface Manifest {
  readonly name: string
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
}

/** Everything that can be imported from the packages, as their manifests say. */
export function entriesOf(): readonly Entry[] {
  return manifestPaths.flatMap((path) => {
    const folder = dirname(path)
    const { name, exports } = JSON.parse(readFileSync(join(root, path), 'utf8')) as Manifest // as test/publishing/package.test.ts wants it
    return Object.entries(exports).flatMap(([subpath, target]) => {
      if (typeof target === 'string') return []
      const { '@portcullis/source': source = '', types = '' } = target
      return {
        module: join(name, subpath),
        folder,
        source: join(folder, source),
        types: join(folder, types),
        isMain: subpath === '.',
      }
    })
  })
}

/** The path of a file as an import in another folder names it. */
export function pathFrom(folder: string, path: string): string {
  return relative(join(root, folder), join(root, path))
}

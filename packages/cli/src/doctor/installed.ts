import { readdir, readFile, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { parseJson } from '@portcullis/kit/json'

import { memberOf } from '../input/unread-json.ts'

// Finds packages in node_modules as Node does, from a folder upwards. It reads manifests, and loads no code of theirs.

/** A package as it is installed somewhere. */
export interface Installed {
  readonly name: string
  readonly version: string
  /** Its folder, without links. */
  readonly path: string
  readonly manifest: unknown
}

const SCOPE = '@portcullis'

/** The package that an import finds from a folder. */
export async function findPackage(name: string, from: string): Promise<Installed | undefined> {
  for (const folder of upwards(from)) {
    const path = await realPath(join(folder, 'node_modules', name))
    const manifest = path && (await readManifest(path))
    if (path === undefined || manifest === undefined) continue
    return { name, version: String(memberOf(manifest, 'version')), path, manifest }
  }
  return undefined
}

/** Our packages that a folder finds. */
export async function ourPackages(from: string): Promise<readonly Installed[]> {
  const lists = await Promise.all(
    upwards(from).map(async (folder) => await namesIn(join(folder, 'node_modules', SCOPE))),
  )
  const names = [...new Set(lists.flat())].toSorted()
  const found = await Promise.all(
    names.map(async (name) => await findPackage(`${SCOPE}/${name}`, from)),
  )
  return found.filter((each) => each !== undefined)
}

/** Every copy of core that the folder or one of our packages finds: two of them do not take what the other has made. */
export async function copiesOfCore(
  from: string,
  ours: readonly Installed[],
): Promise<readonly Installed[]> {
  const seen = await Promise.all(
    [from, ...ours.map(({ path }) => path)].map(
      async (folder) => await findPackage(`${SCOPE}/core`, folder),
    ),
  )
  const itself = ours.filter(({ name }) => name === `${SCOPE}/core`)
  const copies = [...itself, ...seen].flatMap((each) => each ?? [])
  return [...new Map(copies.map((each) => [each.path, each])).values()]
}

export async function readManifest(folder: string): Promise<unknown> {
  try {
    return parseJson(await readFile(join(folder, 'package.json'), 'utf8'))
  } catch {
    // There is none.
  }
  return undefined
}

function upwards(folder: string): readonly string[] {
  const parent = dirname(folder)
  return parent === folder ? [folder] : [folder, ...upwards(parent)]
}

async function realPath(path: string): Promise<string | undefined> {
  try {
    return await realpath(path)
  } catch {
    // It is not there.
  }
  return undefined
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch {
    // It is not there.
  }
  return []
}

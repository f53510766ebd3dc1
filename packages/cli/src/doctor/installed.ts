import { readdir, readFile, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { parseJson } from '@portcullis/kit/json'

import { memberOf } from '../input/unread-json.ts'

// Finds packages in node_modules as Node does, from a folder upwards. It reads manifests, and loads no code of theirs.

export interface Checked {
  readonly name: string
  /** A `problem` should be mended; a `note` is worth knowing. */
  readonly outcome: 'ok' | 'problem' | 'note' | 'skipped'
  readonly text: string
}

export interface Installed {
  readonly name: string
  readonly version: string
  /** Without links. */
  readonly path: string
  readonly manifest: unknown
}

const SCOPE = '@portcullis'

export async function findPackage(name: string, from: string): Promise<Installed | undefined> {
  for (const folder of upwards(from)) {
    const path = await ifThere(realpath(join(folder, 'node_modules', name)))
    const manifest = path && (await readManifest(path))
    if (path === undefined || manifest === undefined) continue
    return { name, version: String(memberOf(manifest, 'version')), path, manifest }
  }
  return undefined
}

/** What was installed from a registry: nothing there is private. */
export async function ourPackages(from: string): Promise<readonly Installed[]> {
  const lists = await Promise.all(
    upwards(from).map(
      async (folder) => (await ifThere(readdir(join(folder, 'node_modules', SCOPE)))) ?? [],
    ),
  )
  const names = [...new Set(lists.flat())].toSorted()
  const found = await Promise.all(
    names.map(async (name) => await findPackage(`${SCOPE}/${name}`, from)),
  )
  return found
    .filter((each) => each !== undefined)
    .filter(({ manifest }) => memberOf(manifest, 'private') !== true)
}

/** Every copy of core that the folder or one of our packages finds: two of them do not take what the other has made. */
export async function copiesOfCore(from: string, ours: readonly Installed[]) {
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
  const text = await ifThere(readFile(join(folder, 'package.json'), 'utf8'))
  return text === undefined ? undefined : parseJson(text)
}

function upwards(folder: string): readonly string[] {
  const parent = dirname(folder)
  return parent === folder ? [folder] : [folder, ...upwards(parent)]
}

export async function ifThere<Value>(reading: Promise<Value>): Promise<Value | undefined> {
  return await reading.catch(() => undefined)
}

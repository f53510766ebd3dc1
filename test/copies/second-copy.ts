import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

import { afterAll } from 'vitest'

import { temporaryFolder } from '../temporary-folder.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

export interface SecondCopy {
  readonly path: string
  readonly core: typeof import('@portcullis/core')
  readonly adapter: typeof import('@portcullis/core/adapter')
  readonly verifier: typeof import('@portcullis/core/verifier')
  readonly explain: typeof import('@portcullis/core/explain')
}

/** Another copy of core in this process, as package managers make one: the same files in another folder. */
export async function secondCopy(): Promise<SecondCopy> {
  const folder = temporaryFolder(afterAll)
  const core = join(root, 'packages', 'core')
  const path = join(folder, '@portcullis', 'core')
  mkdirSync(path, { recursive: true })
  cpSync(join(core, 'src'), join(path, 'src'), { recursive: true })
  cpSync(join(core, 'package.json'), join(path, 'package.json'))
  symlinkSync(join(core, 'node_modules'), join(path, 'node_modules'))
  const entry = async (name: string): Promise<unknown> =>
    await import(/* @vite-ignore */ pathToFileURL(join(path, 'src', `${name}.ts`)).href)
  const [index, adapter, verifier, explain] = await Promise.all(
    ['index', 'adapter', 'verifier', 'explain'].map(entry),
  )
  return { path, core: index, adapter, verifier, explain } as SecondCopy
}

import { existsSync, globSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

// What Jest has to transform: whatever our packages need at run time, and is an ES module for `require` as well.

const root = fileURLToPath(new URL('../..', import.meta.url))
const PROGRAM = '@portcullis/cli'

interface Manifest {
  readonly name: string
  readonly type?: string
  readonly dependencies?: Readonly<Record<string, string>>
}

function readManifest(file: string): Manifest {
  return JSON.parse(readFileSync(file, 'utf8')) as Manifest // of a package that was installed
}

/** The nearest manifest from a file upwards that has something. */
function manifestOf(file: string, has: (manifest: Manifest) => boolean): string {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    const manifest = join(folder, 'package.json')
    if (existsSync(manifest) && has(readManifest(manifest))) return manifest
  }
  throw new Error(`no manifest above ${file}`)
}

function isEsModule(file: string): boolean {
  if (/\.[cm]js$/.test(file)) return file.endsWith('.mjs')
  return readManifest(manifestOf(file, () => true)).type === 'module'
}

/** Adds what a package needs at run time, with what that needs, as far as `require` finds an ES module. */
function addEsModules(manifest: string, found: Set<string>): void {
  const require = createRequire(manifest)
  for (const name of Object.keys(readManifest(manifest).dependencies ?? {})) {
    if (name.startsWith('@portcullis/') || found.has(name)) continue
    const file = require.resolve(name)
    if (isEsModule(file)) found.add(name)
    addEsModules(
      manifestOf(file, (each) => each.name === name),
      found,
    )
  }
}

test('the Jest settings of testing transform every run-time dependency that is an ES module alone', () => {
  const found = new Set<string>()
  for (const file of globSync('packages/*/package.json', { cwd: root })) {
    const manifest = join(root, file)
    if (readManifest(manifest).name !== PROGRAM) addEsModules(manifest, found)
  }
  expect([...found].toSorted()).toEqual(['jose', 'oauth4webapi'])
  const readme = readFileSync(join(root, 'packages/testing/README.md'), 'utf8')
  const [, names = ''] = /node_modules\/\(\?!\(([^)]*)\)/.exec(readme) ?? []
  expect(names.split('|')).toEqual(expect.arrayContaining([...found]))
})

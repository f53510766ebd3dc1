import { readFileSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { rolldown } from 'rolldown'
import { describe, expect, test } from 'vitest'

import { manifestPaths, undeclared } from './published.ts'

// What the bundle of each package imports of others. The kit within it is part of that, so no source of the package may say it.

const root = fileURLToPath(new URL('../..', import.meta.url))

interface Manifest {
  readonly name: string
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly dependencies?: Readonly<Record<string, string>>
}

/** Made of the sources, so that nothing must be built before. */
async function importsOf(folder: string, { exports }: Manifest): Promise<readonly string[]> {
  const input = Object.values(exports).flatMap((entry) =>
    typeof entry === 'string' ? [] : [join(folder, entry['@portcullis/source'] ?? '')],
  )
  if (input.length === 0) return []
  const building = await rolldown({
    input,
    platform: 'node',
    resolve: { conditionNames: ['@portcullis/source', 'import'] },
    external: (name) =>
      !name.startsWith('.') && !isAbsolute(name) && !name.startsWith('@portcullis/kit/'),
    checks: { pluginTimings: false },
    logLevel: 'silent',
  })
  const { output } = await building.generate({ format: 'es' })
  await building.close()
  const files = new Set(output.map(({ fileName }) => fileName))
  const imports = output.flatMap((each) => (each.type === 'chunk' ? each.imports : []))
  return [...new Set(imports)].filter((each) => !files.has(each))
}

const bundles = manifestPaths.map((path) => {
  const manifest = JSON.parse(readFileSync(join(root, path), 'utf8')) as Manifest
  return [manifest.name, manifest, importsOf(join(root, dirname(path)), manifest)] as const
})

test.each(bundles)(
  'the bundle of %s imports what its manifest names',
  async (_, manifest, made) => {
    expect(undeclared(await made, manifest)).toEqual([])
  },
)

test('the bundles of client and introspection leave oauth4webapi to their users, and that of core has none', async () => {
  const having: string[] = []
  for (const [name, , made] of bundles) {
    if ((await made).includes('oauth4webapi')) having.push(name)
  }
  expect(having).toEqual(['@portcullis/client', '@portcullis/introspection'])
})

describe('what a manifest does not name', () => {
  const manifest = {
    name: '@a/b',
    dependencies: { one: '1', '@c/d': '1' },
    peerDependencies: { two: '2' },
  }

  test.each<[readonly string[], readonly string[]]>([
    [['one', 'one/part', '@c/d/part', 'two', 'node:crypto', './shared.js'], []],
    [
      ['three/part', 'three', '@c/e'],
      ['@c/e', 'three'],
    ],
    [['@a/b/part'], []],
  ])('of %j is %j', (imports, missing) => {
    expect(undeclared(imports, manifest)).toEqual(missing)
  })
})

import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { afterAll, describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

test('the example for node:test passes', async () => {
  const folder = join(root, 'examples', 'testing', 'node-test')
  const args = ['--conditions=@portcullis/source', '--test', '--test-reporter=tap']
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder, env })
  expect(stdout).toMatch(/^# pass [1-9]/m)
  expect(stdout).toMatch(/^# fail 0$/m)
})

test('tokens and proofs are made where the global Uint8Array is not that of Node, as with jsdom', async () => {
  const program = fileURLToPath(new URL('another-realm.ts', import.meta.url))
  const args = ['--conditions=@portcullis/source', program]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  expect(stdout).toBe('done\n')
})

// Each is a test file of its own, which is read into this one.
describe('packages/testing/README.md', async () => {
  const folder = join(root, 'test', '.readme-testing')
  mkdirSync(folder, { recursive: true })
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true })
  })
  const text = read('packages/testing/README.md')
  const blocks = blocksOf(text)

  test('has an example of a stub, and one of a service on a port', () => {
    expect(blocks).toHaveLength(2)
  })

  const guide = blocksOf(read('packages/testing/BOUND-TOKENS.md'))

  test('its guide has one more', () => {
    expect(guide).toHaveLength(1)
  })

  for (const [at, code] of [...blocks, ...guide].entries()) {
    const file = join(folder, `level-${at + 1}.ts`)
    writeFileSync(file, code)
    await import(file)
  }
})

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

function blocksOf(text: string): readonly string[] {
  return [...text.matchAll(/```ts\n(.*?)```/gs)].map(([, code = '']) => code)
}

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import { createReader } from '../../docs/reader.ts'

// What the reference of the site shows of a type.

// Each starts a compiler, which takes long on a busy machine.
const SLOW = { timeout: 120_000 }

/** The first parameter of each function of a source, as the reference reads it. */
async function firstParametersOf(source: string) {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-reference-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true })
  })
  writeFileSync(join(folder, 'source.ts'), source)
  writeFileSync(join(folder, 'tsconfig.json'), '{ "files": ["source.ts"] }')
  const app = await createReader({
    entryPoints: [join(folder, 'source.ts')],
    tsconfig: join(folder, 'tsconfig.json'),
    logLevel: 'Error',
  })
  const project = await app.convert()
  const signatures = project?.children?.flatMap((each) => each.signatures ?? []) ?? []
  return signatures.map(({ parameters }) => parameters?.[0]?.type)
}

test('a parameter of a readonly list keeps its rest element', SLOW, async () => {
  const types = await firstParametersOf(
    'export function first(...all: readonly [number, ...string[]]): void {}\n' +
      'export function second(pair: readonly [number, string]): void {}\n',
  )
  expect(types.map(String)).toEqual(['readonly [number, ...string[]]', 'readonly [number, string]'])
})

test('options that two object types join are shown with the comment of each', SLOW, async () => {
  const [type] = await firstParametersOf(`
export interface All {
  every: {
    /** The last. */
    b?: number
  }
  one: All['every'] & {
    /** The first. */
    a: string
  }
}
export function one(options: All['one']): void {}
`)
  const members = type?.type === 'reflection' ? type.declaration.children : undefined
  expect(
    members?.map(({ name, comment }) => [name, comment?.summary.map(({ text }) => text).join('')]),
  ).toEqual([
    ['a', 'The first.'],
    ['b', 'The last.'],
  ])
})

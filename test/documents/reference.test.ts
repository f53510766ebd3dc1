import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import { createReader } from '../../docs/reader.ts'

// What the reference of the site shows of a type.

// It starts a compiler, which takes long on a busy machine.
test('a parameter of a readonly list keeps its rest element', { timeout: 120_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-reference-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true })
  })
  writeFileSync(
    join(folder, 'source.ts'),
    'export function first(...all: readonly [number, ...string[]]): void {}\n' +
      'export function second(pair: readonly [number, string]): void {}\n',
  )
  writeFileSync(join(folder, 'tsconfig.json'), '{ "files": ["source.ts"] }')
  const app = await createReader({
    entryPoints: [join(folder, 'source.ts')],
    tsconfig: join(folder, 'tsconfig.json'),
    logLevel: 'Error',
  })
  const project = await app.convert()
  const types = project?.children?.map(({ signatures: [signature] = [] }) =>
    String(signature?.parameters?.[0]?.type),
  )
  expect(types).toEqual(['readonly [number, ...string[]]', 'readonly [number, string]'])
})

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { afterEach, beforeEach, expect, test } from 'vitest'

import { fuzz } from './fuzz.ts'

// The targets of planted.ts, in processes of their own.

let seeds: string

beforeEach(() => {
  seeds = mkdtempSync(join(tmpdir(), 'portcullis-seeds-'))
})

afterEach(() => {
  rmSync(seeds, { recursive: true })
})

async function fuzzPlanted(...names: readonly string[]) {
  for (const name of names) {
    mkdirSync(join(seeds, name))
    writeFileSync(join(seeds, name, 'harmless.txt'), 'harmless')
  }
  const printed: string[] = []
  const isSound = await fuzz(names, {
    program: fileURLToPath(new URL('planted.ts', import.meta.url)),
    node: process.execPath,
    seeds,
    seed: 42,
    seconds: 1,
    isTimed: false,
    print: (line) => printed.push(line),
  })
  return { isSound, printed }
}

function keptOf(target: string): readonly string[] {
  return readdirSync(join(seeds, target))
    .filter((name) => name.startsWith('found-'))
    .map((name) => String(JSON.parse(readFileSync(join(seeds, target, name), 'utf8'))))
}

test('targets that abort, damage the memory or break a promise: each is named with the seed and its input, which is kept', async () => {
  const { isSound, printed } = await fuzzPlanted('aborts', 'damages', 'breaks', 'sound')
  expect(isSound).toBe(false)
  const [[aborting], [damaging], [breaking]] = [
    keptOf('aborts'),
    keptOf('damages'),
    keptOf('breaks'),
  ]
  for (const input of [aborting, damaging, breaking]) expect(input).toMatch(/^\uD800a\uD800/)
  const kept: unknown = expect.stringMatching(/^kept as .*\/found-[\da-f]{12}\.json$/)
  expect(printed).toEqual([
    `aborts, seed 42: the process died (SIGABRT) of: ${JSON.stringify(aborting)}`,
    kept,
    `damages, seed 42: the process died (SIGABRT) of: ${JSON.stringify(damaging)}`,
    kept,
    `breaks, seed 42: a promise is broken by: ${JSON.stringify(breaking)}`,
    kept,
  ])
  expect(keptOf('sound')).toEqual([])
})

test('targets that keep their promises: nothing is kept', async () => {
  expect(await fuzzPlanted('sound')).toEqual({ isSound: true, printed: [] })
  expect(keptOf('sound')).toEqual([])
})

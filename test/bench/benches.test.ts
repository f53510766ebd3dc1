import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { choose, listed } from '../choose.ts'
import { BENCHES, CHECKED } from './benches.ts'

const here = import.meta.dirname
const files: readonly string[] = Object.values(BENCHES).map(({ file }) => file)

test('each bench has a name, and each name a bench', () => {
  // A bench says in its first comment how to run it.
  const benches = globSync('*.ts', { cwd: here, exclude: ['*.test.ts', 'benches.ts', 'run.ts'] })
  const runnable = benches.filter((file) =>
    /pnpm bench [a-z]/.test(readFileSync(join(here, file), 'utf8')),
  )
  expect(runnable.filter((file) => !files.includes(file))).toEqual([])
  const all = globSync('*.ts', { cwd: here })
  expect(files.filter((file) => !all.includes(file))).toEqual([])
})

test('what a bench says of itself has its name', () => {
  const wrong = Object.entries(BENCHES).filter(([name, { file }]) => {
    const named = [...readFileSync(join(here, file), 'utf8').matchAll(/pnpm bench ([a-z]\w*)/g)]
    return named.some(([, each]) => each !== name)
  })
  expect(wrong).toEqual([])
})

test('each bench that CI checks takes --check', () => {
  const sources = CHECKED.map((name) => readFileSync(join(here, BENCHES[name].file), 'utf8'))
  expect(sources.filter((source) => !source.includes('await report('))).toEqual([])
})

test('a name that is wrong gets an error with all names', () => {
  const list = listed('bench', BENCHES)
  for (const name of Object.keys(BENCHES)) expect(list).toContain(`  ${name} `)
  expect(choose('bench', BENCHES, undefined)).toBe(list)
  expect(choose('bench', BENCHES, 'htpp')).toBe(`bench has no "htpp".\n\n${list}`)
  expect(choose('bench', BENCHES, 'constructor')).toContain('has no "constructor"')
  expect(choose('bench', BENCHES, 'dpop')).toBe(BENCHES.dpop)
})

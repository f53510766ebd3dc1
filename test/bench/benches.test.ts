import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, onTestFinished, test, vi } from 'vitest'

import { choose, listed } from '../choose.ts'
import { BENCHES, CHECKED } from './benches.ts'
import { isWithin } from './floors.ts'
import { checkFloors } from './report.ts'

const here = import.meta.dirname
const files: readonly string[] = Object.values(BENCHES).map(({ file }) => file)

test('each name has a bench, and each bench a name: its first comment says how to run it', () => {
  const all = globSync('*.ts', { cwd: here, exclude: ['*.test.ts'] })
  const runnable = all.filter((file) =>
    /pnpm bench\s(?:\/\/ )?[a-z]/.test(readFileSync(join(here, file), 'utf8')),
  )
  expect(runnable.toSorted()).toEqual(files.toSorted())
})

test('what a bench says of itself has its name', () => {
  const wrong = Object.entries(BENCHES).filter(([name, { file }]) => {
    const named = [
      ...readFileSync(join(here, file), 'utf8').matchAll(/pnpm bench\s(?:\/\/ )?([a-z]\w*)/g),
    ]
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

const FLOORS = [
  { figure: 'price', goal: { atMost: 1 }, floor: { atMost: 2 } },
  { figure: 'microseconds', goal: { atMost: 3 } },
]

test.each([
  ['at the limit', 2, { atMost: 2 }, true],
  ['above the most', 2.001, { atMost: 2 }, false],
  ['at the least', 10, { atLeast: 10 }, true],
  ['below the least', 9, { atLeast: 10 }, false],
] as const)('a figure %s', (_, value, limit, within) => {
  expect(isWithin(value, limit)).toBe(within)
})

test('a floor that is missed is said, and stops nothing', () => {
  const print = vi.spyOn(console, 'log').mockReturnValue()
  onTestFinished(() => {
    print.mockRestore()
  })
  checkFloors(FLOORS, { price: 2.5 })
  expect(print).toHaveBeenCalledWith(
    expect.stringMatching(/price +\| at most 2 +\| 2\.500 +\| missed/),
  )
})

test.each([undefined, Number.NaN, Infinity])(
  'a figure that has a floor and was not measured, %s, stops the run',
  (value) => {
    const figures = value === undefined ? {} : { price: value }
    expect(() => checkFloors(FLOORS, figures)).toThrow('not measured: price')
  },
)

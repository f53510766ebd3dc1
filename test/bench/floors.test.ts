import { readFileSync } from 'node:fs'

import { expect, test } from 'vitest'

import { type Floor, missedFloors } from './floors.ts'
import { goalsTable, partsOf } from './results.ts'

const FLOORS: readonly Floor[] = [
  { figure: 'price', goal: { atMost: 1 }, floor: { atMost: 2 } },
  { figure: 'gain', floor: { atLeast: 10 } },
  { figure: 'microseconds', goal: { atMost: 3 } },
]

test.each([
  ['on its floor', [2, 10], []],
  ['beyond its goal, not its floor', [1.5, 11], []],
  ['above the most', [2.001, 10], ['price: 2.001, must be at most 2']],
  ['below the least', [2, 9], ['gain: 9.000, must be at least 10']],
  ['not a number', [Number.NaN, 10], ['price: NaN, must be at most 2']],
] as const)('a figure %s', (_, [price, gain], missed) => {
  const figures = new Map([
    ['price', price],
    ['gain', gain],
  ])
  expect(missedFloors(figures, FLOORS)).toEqual(missed)
})

test('a figure that has a floor and was not measured is missed', () => {
  expect(missedFloors(new Map([['gain', 12]]), FLOORS)).toEqual(['price: not measured'])
})

test('README.md has the figures that were measured last', () => {
  const [, table] = partsOf(readFileSync(new URL('README.md', import.meta.url), 'utf8'))
  expect(withoutSpace(table)).toBe(withoutSpace(goalsTable()))
})

function withoutSpace(text: string): string {
  return text.replaceAll(/ +|-+|\n{2,}/g, '').trim()
}

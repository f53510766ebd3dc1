import { expect, onTestFinished, test, vi } from 'vitest'

import { type Floor, isWithin } from './floors.ts'
import { checkFloors } from './report.ts'

const FLOORS: readonly Floor[] = [
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

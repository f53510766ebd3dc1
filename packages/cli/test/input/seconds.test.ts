import { InvalidArgumentError } from 'commander'
import { expect, test } from 'vitest'

import { seconds, secondsIn } from '../../src/input/seconds.ts'

test.each<[text: string, value: number]>([
  ['0', 0],
  ['30', 30],
  ['30s', 30],
  ['5m', 300],
  ['2h', 7200],
  ['1d', 86_400],
  ['-5m', -300],
  ['0.5', 0.5],
  ['1.5h', 5400],
  [' 5m ', 300],
  ['10000000000', 1e10],
])('%j is %d seconds', (text, value) => {
  expect(secondsIn(text)).toBe(value)
  expect(seconds(text)).toBe(value)
})

test.each(['', ' ', 's', '5x', '5ms', '5 m', '1h30m', '5M', '1e3', '+5', '.5', '0x10', 'NaN'])(
  '%j is no length of time',
  (text) => {
    expect(secondsIn(text)).toBeUndefined()
  },
)

test.each(['10000000001', '-10000000001', '115741d', '9'.repeat(400), 'Infinity'])(
  '%s is longer than any that is of use',
  (text) => {
    expect(secondsIn(text)).toBeUndefined()
  },
)

test('for an option, what is wrong is said with what is right', () => {
  expect(() => seconds('5x')).toThrow(InvalidArgumentError)
  expect(() => seconds('5x')).toThrow(
    'It must be a time such as 30s, 5m, 2h or 1d, or a number of seconds.',
  )
})

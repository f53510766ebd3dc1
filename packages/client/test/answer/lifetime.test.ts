import { describe, expect, test } from 'vitest'

import { lifetimeOf, MAX_CLOCK_CORRECTION } from '../../src/answer/lifetime.ts'
import { jws } from '../login-service.ts'

const NOW = 1_767_225_600
const MINUTE = 60
const HOUR = 3600

/** Judges a token that expires in so many seconds by the service's clock. `age` is the time since `iat`: none, no `iat`. */
function judge(
  expiresIn: number,
  skew: number,
  { ours = 0, age }: { ours?: number; age?: number | undefined },
) {
  const token = jws({ exp: NOW + expiresIn, iat: age === undefined ? undefined : NOW - age })
  return lifetimeOf(token, NOW + ours, skew)
}

test('what is corrected is five minutes at most', () => {
  expect(MAX_CLOCK_CORRECTION).toBe(5 * MINUTE)
})

// Our clock is right, and the `Date` that says otherwise is wrong.
describe.each<[string, number, number, number]>([
  ['no Date, or one of the wrong form', 0, 300, 300],
  ['a Date 4 minutes ahead', 4 * MINUTE, 60, 60],
  ['a Date 6 minutes ahead', 6 * MINUTE, 300, 300],
  ['a Date an hour ahead', HOUR, 300, 300],
  ['a Date a day ahead', 24 * HOUR, 300, 300],
  ['a Date 4 minutes behind', -4 * MINUTE, 540, 300],
  ['a Date 6 minutes behind', -6 * MINUTE, 300, 300],
  ['a Date 20 hours behind', -20 * HOUR, 300, 300],
])('a token for 300 s, %s', (_title, skew, withoutIat, withIat) => {
  test('without iat', () => {
    expect(judge(300, skew, {})).toBe(withoutIat)
  })

  test('with iat', () => {
    expect(judge(300, skew, { age: 0 })).toBe(withIat)
  })
})

describe.each<[string, number, number]>([
  ['4 minutes ahead would alone make it dead', 4 * MINUTE, 30],
  ['30 s ahead would alone make it dead', 30, 30],
  ['29 s ahead leaves it a second', 29, 1],
  ['6 minutes ahead', 6 * MINUTE, 30],
  ['an hour ahead', HOUR, 30],
  ['20 hours behind', -20 * HOUR, 30],
])('a token with 30 s left, a Date %s', (_title, skew, lifetime) => {
  test.each([undefined, 270])('issued %s s ago', (age) => {
    expect(judge(30, skew, { age })).toBe(lifetime)
  })
})

// The service is right, and our clock is wrong by what its `Date` says.
describe.each<[string, number, number, number]>([
  ['4 minutes behind', -4 * MINUTE, 300, 300],
  ['5 minutes behind', -5 * MINUTE, 300, 300],
  ['6 minutes behind', -6 * MINUTE, 660, 300],
  ['4 minutes ahead', 4 * MINUTE, 300, 300],
  ['5 minutes ahead', 5 * MINUTE, 300, 300],
  ['6 minutes ahead', 6 * MINUTE, -60, -60],
])('our clock is %s', (_title, ours, withoutIat, withIat) => {
  test('without iat', () => {
    expect(judge(300, -ours, { ours })).toBe(withoutIat)
  })

  test('with iat', () => {
    expect(judge(300, -ours, { ours, age: 0 })).toBe(withIat)
  })
})

test('an expired token stays expired, whatever the Date that agrees', () => {
  expect(judge(-1, 0, {})).toBe(-1)
  expect(judge(-1, 4 * MINUTE, {})).toBe(-241)
  expect(judge(-1, HOUR, {})).toBe(-1)
})

test('a token without an expiry has no lifetime', () => {
  expect(lifetimeOf(jws({ iat: NOW }), NOW, 0)).toBeUndefined()
})

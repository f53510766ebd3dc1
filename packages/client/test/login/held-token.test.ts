import type { Instant } from '@portcullis/kit/time'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { canLast, freshness, hold, remaining } from '../../src/login/held-token.ts'

const at = (seconds: number): Instant => ({ wall: seconds, monotonic: seconds })
const held = (lifetime: number | undefined, random = 0) => hold('a', lifetime, at(0), random, true)

describe('hold', () => {
  test.each<[string, number | undefined, number, number, number]>([
    ['an hour: 10 % of it, and 10 s', 3600, 3600, 300, 10],
    ['ten hours: 5 minutes, and 10 s', 36_000, 36_000, 300, 10],
    ['five minutes', 300, 300, 30, 10],
    ['a minute: nobody waits for most of its life', 60, 60, 6, 3],
    ['a second', 1, 1, 0.1, 0.05],
    ['no expiry: a minute', undefined, 60, 6, 3],
  ])('%s', (_title, lifetime, known, renewBefore, waitBefore) => {
    expect(held(lifetime)).toMatchObject({ lifetime: known, renewBefore, waitBefore })
  })

  test('a fleet that logged in together is spread over a quarter of the advance', () => {
    expect(held(300, 0).renewBefore).toBe(30)
    expect(held(300, 0.5).renewBefore).toBe(33.75)
    expect(held(300, 1).renewBefore).toBe(37.5)
  })

  test('a token that cannot be renewed is fresh until it expires', () => {
    const last = hold('a', 300, at(0), 1, false)
    expect([0, 299.9, 300].map((now) => freshness(last, at(now)))).toEqual([
      'fresh',
      'fresh',
      'none',
    ])
    expect(freshness(last, at(100), 201)).toBe('short')
  })

  test('every token is fresh first, then due, then short, then none', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.001, max: 1e8, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (lifetime, random) => {
          const token = hold('a', lifetime, at(0), random, true)
          const { renewBefore, waitBefore } = token
          const left = [lifetime, 0.99 * renewBefore, 0.99 * waitBefore, 0]
          const words = left.map((seconds) => freshness(token, at(lifetime - seconds)))
          expect(words).toEqual(['fresh', 'due', 'short', 'none'])
        },
      ),
    )
  })
})

describe('freshness', () => {
  test.each<[string, Instant, number | undefined, ReturnType<typeof freshness>]>([
    ['just obtained', at(0), undefined, 'fresh'],
    ['before the advance', at(269.9), undefined, 'fresh'],
    ['in the advance', at(270.1), undefined, 'due'],
    ['10 s left', at(290), undefined, 'due'],
    ['less than 10 s left', at(290.1), undefined, 'short'],
    ['a moment before it expires', at(299.9), undefined, 'short'],
    ['expired', at(300), undefined, 'none'],
    ['a machine that was suspended: the wall clock counts', { wall: 300, monotonic: 1 }, 0, 'none'],
    [
      'a wall clock set back: the monotonic clock counts',
      { wall: -9e9, monotonic: 300 },
      0,
      'none',
    ],
    ['a clock that answers with no number', at(NaN), undefined, 'none'],
    ['enough for the caller', at(100), 200, 'fresh'],
    ['not enough for the caller', at(100.1), 200, 'short'],
    ['enough for a caller who needs next to nothing', at(299), 0, 'due'],
    ['more than it ever had', at(0), 301, 'short'],
  ])('%s', (_title, now, minValidity, word) => {
    expect(freshness(held(300), now, minValidity)).toBe(word)
  })

  test('no token is none', () => {
    expect(freshness(undefined, at(0))).toBe('none')
    expect(freshness(undefined, at(0), 0)).toBe('none')
  })

  test('what is left is the lifetime less the larger of the elapsed times', () => {
    expect(remaining(held(300), { wall: 40, monotonic: 30 })).toBe(260)
    expect(remaining(held(300), { wall: 30, monotonic: 40 })).toBe(260)
  })
})

test('a caller may need a token for nine tenths of its lifetime, no longer', () => {
  expect(canLast(held(300), 270)).toBe(true)
  expect(canLast(held(300), 270.1)).toBe(false)
})

import { describe, expect, test } from 'vitest'

import { clockSkewOf, type HeaderLookup } from '../../src/answer/http-time.ts'

const DATE = 'Thu, 01 Jan 2026 00:00:00 GMT'
const NOW = 1_767_225_600

/** A lookup that trims nothing and joins nothing, unlike the platform's: an injected `fetch` may have such a one. */
const headersOf = (values: Readonly<Record<string, string | null>>): HeaderLookup => ({
  get: (name) => values[name] ?? null,
})

/** That much of both clocks since the request was sent. */
const at = (wall: number, monotonic = 0) => ({ wall: NOW - 100 + wall, monotonic })

describe('Date', () => {
  test.each([
    ['an IMF-fixdate', DATE, 100.5],
    ['white space around it', ` ${DATE}\t`, 100.5],
    ['a wrong day of the week', 'Fri, 01 Jan 2026 00:00:00 GMT', 0],
    ['a day that is none', 'Mon, 30 Feb 2026 00:00:00 GMT', 0],
    ['no zone', 'Thu, 01 Jan 2026 00:00:00', 0],
    ['another zone', 'Thu, 01 Jan 2026 00:00:00 +0100', 0],
    ['a year alone', '2026', 0],
    ['a format of ISO', '2026-01-01T00:00:00Z', 0],
    ['the format of RFC 850', 'Thursday, 01-Jan-26 00:00:00 GMT', 0],
    ['the format of asctime', 'Thu Jan  1 00:00:00 2026', 0],
    ['two of them', `${DATE}, ${DATE}`, 0],
    ['what is invalid, as JavaScript spells it', 'Invalid Date', 0],
    ['an empty text', '', 0],
    ['nothing', null, 0],
  ])('%s', (_title, date, skew) => {
    expect(clockSkewOf(headersOf({ date }), at(0), at(0))).toBe(skew)
  })

  test.each([
    ['missing: it was made for us', null, 100.5],
    ['0: a proxy passed it on', '0', 100.5],
    ['0 with white space around', ' 0 ', 100.5],
    ['of a stored answer: its Date is old', '100', 0],
    ['of two caches', '0, 100', 0],
    ['that is no number: a cache all the same', 'old', 0],
    ['below 0', '-1', 0],
  ])('beside an Age %s', (_title, age, skew) => {
    expect(clockSkewOf(headersOf({ date: DATE, age }), at(0), at(0))).toBe(skew)
  })

  test.each([
    ['a second: the rounding explains it', at(99.5), 0],
    ['more than a second', at(99.4), 1.1],
    ['a second and half the time on the way', at(99.5, 4), 0],
  ])('ahead by %s', (_title, receivedAt, skew) => {
    const sentAt = { wall: receivedAt.wall - receivedAt.monotonic, monotonic: 0 }
    expect(clockSkewOf(headersOf({ date: DATE }), sentAt, receivedAt)).toBeCloseTo(skew, 5)
  })

  test.each([
    ['the same by both clocks', at(8, 8), 96.5],
    ['a second more by the wall clock', at(9, 8), 95.5],
    ['more than that: the machine was suspended, or its clock set ahead', at(9.1, 8), 0],
    ['a minute more', at(60, 0), 0],
    ['less: the clock was set back, and the time on the way is monotonic', at(-60, 8), 164.5],
  ])('of an answer that took %s', (_title, receivedAt, skew) => {
    expect(clockSkewOf(headersOf({ date: DATE }), at(0), receivedAt)).toBe(skew)
  })
})

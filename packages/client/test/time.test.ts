import { describe, expect, test } from 'vitest'

import { instant, secondsUntil, skewOf, systemClock } from '../src/time.ts'

const DATE = 'Thu, 01 Jan 2026 00:00:00 GMT'
const NOW = 1_767_225_600

describe('the clock of the system', () => {
  test('tells both times in seconds', () => {
    const { wall, monotonic } = instant(systemClock)
    expect(Math.abs(wall - Date.now() / 1000)).toBeLessThan(5)
    expect(Math.abs(monotonic - performance.now() / 1000)).toBeLessThan(5)
  })

  test('calls back, once that much time has passed', async () => {
    const before = systemClock.monotonic()
    await new Promise<void>((resolve) => {
      systemClock.after(0.01, resolve)
    })
    expect(systemClock.monotonic() - before).toBeGreaterThan(0.005)
  })

  test('does not call back what was cancelled', async () => {
    let called = false
    const cancel = systemClock.after(0, () => (called = true))
    cancel()
    await new Promise<void>((resolve) => {
      systemClock.after(0.005, resolve)
    })
    expect(called).toBe(false)
  })
})

describe('Date', () => {
  test.each([
    ['an IMF-fixdate', DATE, 100.5],
    ['a wrong day of the week', 'Fri, 01 Jan 2026 00:00:00 GMT', 0],
    ['a day that is none', 'Mon, 30 Feb 2026 00:00:00 GMT', 0],
    ['no zone', 'Thu, 01 Jan 2026 00:00:00', 0],
    ['another zone', 'Thu, 01 Jan 2026 00:00:00 +0100', 0],
    ['a year alone', '2026', 0],
    ['a format of ISO', '2026-01-01T00:00:00Z', 0],
    ['the format of RFC 850', 'Thursday, 01-Jan-26 00:00:00 GMT', 0],
    ['the format of asctime', 'Thu Jan  1 00:00:00 2026', 0],
    ['what is invalid, as JavaScript spells it', 'Invalid Date', 0],
    ['nothing', null, 0],
  ])('%s', (_title, date, skew) => {
    expect(skewOf(date, NOW - 100, 0)).toBe(skew)
  })
})

describe('Retry-After', () => {
  test.each<[string, string | null, string | null, number | undefined]>([
    ['seconds', '120', DATE, 120],
    ['a date, by the clock of the answer', 'Thu, 01 Jan 2026 00:02:00 GMT', DATE, 120],
    ['a date, by ours if there is no other', 'Thu, 01 Jan 2026 00:02:00 GMT', null, 20],
    ['a date, beside one that is none', 'Thu, 01 Jan 2026 00:02:00 GMT', 'today', 20],
    ['a date in the past', 'Wed, 31 Dec 2025 23:59:59 GMT', DATE, undefined],
    ['a number below 0', '-5', DATE, undefined],
    ['a fraction', '1.5', DATE, undefined],
    ['a date without a zone', '2027-01-01', DATE, undefined],
    ['nothing', null, DATE, undefined],
  ])('%s', (_title, retryAfter, date, seconds) => {
    expect(secondsUntil(retryAfter, date, NOW + 100)).toBe(seconds)
  })
})

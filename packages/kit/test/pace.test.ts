import { expect, test } from 'vitest'

import { doubled, drawn, failurePauseEnd, LONGEST_PAUSE } from '../src/pace.ts'

test.each([
  [4, -1, 300, 2],
  [4, 0, 300, 4],
  [4, 1, 300, 8],
  [4, 6, 300, 256],
  [4, 7, 300, 300],
  [4, 10_000, 300, 300],
  [15, 0, 10, 10],
])('%d doubled %i times, at most %d, is %d', (first, repetitions, limit, seconds) => {
  expect(doubled(first, repetitions, limit)).toBe(seconds)
})

test.each([
  { failures: 1, random: 0.5, retryAfter: 0, settledAt: 100, end: 101 },
  { failures: 3, random: 0, retryAfter: 0, settledAt: 100, end: 103.2 },
  { failures: 3, random: 1, retryAfter: 0, settledAt: 100, end: 104.8 },
  { failures: 60, random: 0.5, retryAfter: 0, settledAt: 100, end: 130 },
  // It counts from the answer.
  { failures: 1, random: 0.5, retryAfter: 20, settledAt: 105, end: 125 },
  { failures: 1, random: 0.5, retryAfter: 86_400, settledAt: 105, end: 165 },
  { failures: 1, random: 0.5, retryAfter: -86_400, settledAt: 105, end: 105 },
])(
  'after failure $failures, drawn $random, with Retry-After $retryAfter: at $end',
  ({ failures, random, retryAfter, settledAt, end }) => {
    const times = { startedAt: 100, settledAt }
    expect(failurePauseEnd(failures, times, retryAfter, random)).toBeCloseTo(end)
    expect(end - settledAt).toBeLessThanOrEqual(LONGEST_PAUSE)
  },
)

test.each([
  [10, 0.5, 1, 0, 5],
  [10, 0.5, 1, 0.5, 7.5],
  [10, 0.5, 1, 1, 10],
  [30, 0.8, 1.2, 1, 36],
  [0, 1, 1.1, 1, 0],
])('%d s, drawn from %d to %d times that by %d, is %d', (seconds, from, to, random, expected) => {
  expect(drawn(seconds, from, to, random)).toBeCloseTo(expected)
})

import { expect, test } from 'vitest'

import { pacing, pauseAfter } from '../src/pacing.ts'

test.each([1, 10, 3600])('a lost connection is replaced within a maxStaleness of %d s', (max) => {
  const { heartbeat, answer } = pacing(max)
  // A read that blocks and its deadline, the pause, and the report over the next connection with its deadline.
  expect(heartbeat + answer + pauseAfter('timeout', 1, max, 1) + answer).toBeLessThanOrEqual(max)
})

test('pauses double, are bounded, and differ from process to process', () => {
  const pauses = [1, 2, 3, 9, 999].map((failures) => pauseAfter('unreachable', failures, 3600, 1))
  expect(pauses).toEqual([0.1, 0.2, 0.4, 5, 5])
  expect(pauseAfter('unreachable', 9, 10, 1)).toBe(2.5)
  expect(pauseAfter('unreachable', 9, 10, 0)).toBe(1.25)
  expect(pauseAfter('full', 1, 10, 1)).toBe(60)
})

import { expect, test } from 'vitest'

import {
  longestUntilWriteBack,
  pacing,
  pauseAfter,
  pauseAfterWriting,
  restWhenFull,
  writeBackPauses,
} from '../../src/store/pacing.ts'

test.each([1, 10, 3600])('a lost connection is replaced within a maxStaleness of %d s', (max) => {
  const { heartbeat, answer } = pacing(max)
  // A read that blocks and its deadline, the pause, and the report over the next connection with its deadline.
  expect(heartbeat + answer + pauseAfter(1, max, 1) + answer).toBeLessThanOrEqual(max)
})

test('pauses double, are bounded, and differ from process to process', () => {
  const pauses = [1, 2, 3, 9, 999].map((failures) => pauseAfter(failures, 3600, 1))
  expect(pauses).toEqual([0.1, 0.2, 0.4, 5, 5])
  expect(pauseAfter(9, 10, 1)).toBe(2.5)
  expect(pauseAfter(9, 10, 0)).toBe(1.25)
})

test('after it failed to write back, the first pauses are as short, and at last a stream is read a tenth of the time', () => {
  const pauses = [1, 2, 3, 9, 999].map((failures) => pauseAfterWriting(failures, 30, 3600, 1))
  expect(pauses).toEqual([0.1, 0.2, 0.4, 25.6, 300])
  expect(pauseAfterWriting(999, 0, 3600, 1)).toBe(5)
  expect(pauseAfterWriting(999, 0.1, 10, 1)).toBe(2.5)
  expect(pauseAfterWriting(999, 1e6, 10, 0)).toBe(1800)
})

test.each([
  ['a small stream', 0.01, 60, 60],
  ['a million entries', 14, 140, 1400],
  ['a slow store', 1000, 3600, 3600],
])(
  '%s that has too many entries is read at most a hundredth of the time, a tenth while it changes',
  (_, took, soonest, longest) => {
    expect(restWhenFull(took, 1)).toEqual({ soonest, longest })
    expect(restWhenFull(took, 0)).toEqual({ soonest: soonest / 2, longest: longest / 2 })
  },
)

test.each([
  [1, 0.5, 1],
  [10, 5, 8],
  [60, 30, 45],
  [3600, 30, 930],
])(
  'with a maxStaleness of %d s it is %d s until what is lost is written back, and %d with the time to notice it',
  (maxStaleness, pause, longest) => {
    expect(writeBackPauses(maxStaleness, 1)).toEqual({ first: pause, page: 0.1 })
    expect(writeBackPauses(maxStaleness, 0)).toEqual({ first: pause / 2, page: 0.05 })
    expect(longestUntilWriteBack(maxStaleness)).toBe(longest)
  },
)

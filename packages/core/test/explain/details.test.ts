import { expect, test } from 'vitest'

import { describeTime } from '../../src/explain.ts'

/** 2026-11-25T23:00:00Z */
const NOW = 1_795_647_600

test.each<[at: number, now: number, words: string]>([
  [NOW + 299, NOW, '2026-11-25T23:04:59Z, in 4 min 59 s'],
  [NOW, NOW, '2026-11-25T23:00:00Z, 0 s ago'],
  [NOW - 7200, NOW, '2026-11-25T21:00:00Z, 2 h ago'],
  [1e16, NOW, '10000000000000000 (no date), in 9999998204352400 s'],
  [NOW, Number.NaN, '2026-11-25T23:00:00Z, and this clock shows no time'],
])('%d, at %d, is described as %s', (at, now, words) => {
  expect(describeTime(at, now)).toBe(words)
})

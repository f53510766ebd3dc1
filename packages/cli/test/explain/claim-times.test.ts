import { expect, test } from 'vitest'

import { claimsText, timeLines, timeOf } from '../../src/explain/claim-times.ts'

/** 2026-11-25T23:00:00Z */
const NOW = 1_795_647_600

test.each<[difference: number, words: string]>([
  [0, '2026-11-25T23:00:00Z, 0 s ago'],
  [1, '2026-11-25T23:00:01Z, in 1 s'],
  [-1, '2026-11-25T22:59:59Z, 1 s ago'],
  [59, '2026-11-25T23:00:59Z, in 59 s'],
  [60, '2026-11-25T23:01:00Z, in 1 min'],
  [61, '2026-11-25T23:01:01Z, in 1 min 1 s'],
  [240, '2026-11-25T23:04:00Z, in 4 min'],
  [-240, '2026-11-25T22:56:00Z, 4 min ago'],
  [599, '2026-11-25T23:09:59Z, in 9 min 59 s'],
  [601, '2026-11-25T23:10:01Z, in 10 min'],
  [3599, '2026-11-25T23:59:59Z, in 59 min'],
  [3600, '2026-11-26T00:00:00Z, in 1 h'],
  [-86_399, '2026-11-24T23:00:01Z, 23 h ago'],
  [-86_400, '2026-11-24T23:00:00Z, 1 d ago'],
  [0.5, '2026-11-25T23:00:00.500Z, in 1 s'],
])('a time %d s from now is %s', (difference, words) => {
  expect(timeOf('exp', NOW + difference, NOW)).toBe(words)
})

test.each<[value: number, words: string]>([
  [0, '1970-01-01T00:00:00Z, 20782 d ago'],
  [-1, '1969-12-31T23:59:59Z, 20782 d ago'],
  [1e11, '5138-11-16T09:46:40Z, in 1136624 d'],
  [1e11 + 1, 'not in seconds'],
  [NOW * 1000, 'not in seconds'],
  [-1e300, 'not in seconds'],
])('a number %d is %s', (value, words) => {
  expect(timeOf('iat', value, NOW)).toBe(words)
})

test('a clock that shows no time: the date alone', () => {
  expect(timeOf('exp', NOW, Number.NaN)).toBe('2026-11-25T23:00:00Z, and this clock shows no time')
})

test.each<[name: string, value: unknown]>([
  ['exp', '1795647600'],
  ['exp', null],
  ['exp', [NOW]],
  ['sub', NOW],
  ['constructor', NOW],
])('%s with %j is no time', (name, value) => {
  expect(timeOf(name, value, NOW)).toBeUndefined()
  expect(timeLines({ [name]: value }, NOW)).toEqual([])
})

test('claims are shown with a comment behind each time, and behind nothing else', () => {
  const claims = {
    iat: NOW,
    note: `a\n  "exp": 5`,
    nested: { exp: NOW },
    count: NOW,
    exp: NOW + 240,
  }
  expect(claimsText(claims, NOW)).toBe(String.raw`{
  "iat": 1795647600, // 2026-11-25T23:00:00Z, 0 s ago
  "note": "a\n  \"exp\": 5",
  "nested": {
    "exp": 1795647600
  },
  "count": 1795647600,
  "exp": 1795647840 // 2026-11-25T23:04:00Z, in 4 min
}`)
})

test.each([null, 5, 'text', ['exp', 5], {}])('%j has no times, and is shown as it is', (value) => {
  expect(claimsText(value, NOW)).toBe(JSON.stringify(value, null, 2))
  expect(timeLines(value, NOW)).toEqual([])
})

test('lines name each time, its number and what it means', () => {
  expect(timeLines({ exp: NOW + 60, sub: 'ada', auth_time: NOW - 3600 }, NOW)).toEqual([
    'exp 1795647660: 2026-11-25T23:01:00Z, in 1 min',
    'auth_time 1795644000: 2026-11-25T22:00:00Z, 1 h ago',
  ])
})

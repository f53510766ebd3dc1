import { expect, test } from 'vitest'

import { alternatives, nearest } from '../../src/serve/nearest.ts'

const NAMES = [
  'alg none',
  'alg None',
  'alg NONE',
  'expired',
  'expiry as string',
  'no header',
  'jku',
]

test.each<[name: string, meant: readonly string[]]>([
  ['expird', ['expired']],
  ['exipred', ['expired']],
  ['EXPIRED', ['expired']],
  ['expiredd', ['expired']],
  ['alg-none', ['alg none', 'alg None', 'alg NONE']],
  ['no_heder', ['no header']],
  ['jkw', ['jku']],
  ['string', ['expiry as string']],
])('%s is like %j', (name, meant) => {
  expect(nearest(name, NAMES)).toEqual(meant)
})

test.each(['foo', '', ' ', 'x', 'jq', 'something else altogether'])('%j is like none', (name) => {
  expect(nearest(name, NAMES)).toEqual([])
})

test('where nothing is known, nothing is near', () => {
  expect(nearest('expired', [])).toEqual([])
})

test('at most three are named, and a name of any length is compared', () => {
  expect(nearest('a a', ['a-a', 'a_a', 'A A', 'a  a'])).toHaveLength(3)
  expect(nearest('x'.repeat(1_000_000), NAMES)).toEqual([])
})

test('names are put into a sentence', () => {
  expect([[], ['a'], ['a', 'b'], ['a', 'b', 'c']].map(alternatives)).toEqual([
    '',
    'a',
    'a or b',
    'a, b or c',
  ])
})

import { expect, test } from 'vitest'

import { wrapped } from '../../src/surroundings/wrapped.ts'

test('a text that fits stays one line', () => {
  expect(wrapped('one two', 80, 4)).toBe('one two')
})

test('further lines begin with spaces, and none is longer than the columns', () => {
  const text = wrapped('aaa bbb ccc ddd', 11, 4)
  expect(text).toBe('aaa bbb\n    ccc ddd')
})

test('a word that is longer than a line stays whole, so that it can be copied', () => {
  expect(wrapped('a https://auth.example.com/keys b', 12, 2)).toBe(
    'a\n  https://auth.example.com/keys\n  b',
  )
})

import { authErrorReasons } from '@portcullis/core'
import { expect, expectTypeOf, test } from 'vitest'

import { ATTEMPT_OUTCOMES, CODES, REASONS, wordIn, type WordsOf } from '../src/words.ts'

test('each code and each reason of a refusal is a word of its label, and nothing else is', () => {
  expect(Object.keys(CODES.words)).toEqual(Object.keys(authErrorReasons))
  expect(new Set(Object.keys(REASONS.words))).toEqual(
    new Set(Object.values(authErrorReasons).flat()),
  )
})

test('the list of a type has each of its words, and no other: a word that is gone does not stay', () => {
  expectTypeOf<WordsOf<'fresh'>>().not.toExtend<WordsOf<'fresh' | 'stale'>>()
  expectTypeOf<WordsOf<'fresh' | 'stale'>>().not.toExtend<WordsOf<'fresh'>>()
})

test('an attempt to fetch keys ends with success, with nothing new, or as the refusal is called that it leads to', () => {
  expect(Object.keys(ATTEMPT_OUTCOMES.words)).toEqual([
    'success',
    'ignored',
    ...authErrorReasons.keys_unavailable,
  ])
})

test.each([
  [undefined, 'none'],
  ['expired', 'expired'],
  ['constructor', 'other'],
  [7, 'other'],
])('%s is counted as %s', (word, label) => {
  expect(wordIn(REASONS, word)).toBe(label)
})

import { describe, expect, test } from 'vitest'

import { duration, kindOf, listed, moment, printable, shown } from '../../src/refusal/text.ts'

describe('printable', () => {
  test.each([
    ['a control character', 'a\n\u001B[31mb', String.raw`a\u000a\u001b[31mb`],
    ['a mark that turns the direction of a text', 'a\u202Eb', String.raw`a\u202eb`],
    ['a format character', 'a\u200Bb', String.raw`a\u200bb`],
    ['a lone surrogate', 'a\uD83Db', String.raw`a\ud83db`],
    ['a line separator', 'a\u2028b', String.raw`a\u2028b`],
    ['a letter that looks like another', '\u0430pi', String.raw`\u0430pi`],
  ])('escapes %s', (_, text, printed) => {
    expect(printable(text, 100)).toBe(printed)
  })

  test('cuts before it escapes, so that the text has an end', () => {
    expect(printable('\n'.repeat(1e6), 2)).toBe(String.raw`\u000a\u000a...`)
  })

  test.each([
    'eyJhbGciOiJSUzUxMiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl',
    'eyAiYWxnIjoiUlM1MTIifQ.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl',
    'ewogICJhbGciOiAiUlM1MTIiCn0.e30.c2lnbmF0dXJl',
  ])('leaves tokens out: %s', (token) => {
    expect(printable(`/reset/${token}/now`, 200)).toBe('/reset/(a token)/now')
  })
})

describe('shown', () => {
  test.each([
    ['api', '"api"'],
    ['a"b\\c', String.raw`"a\"b\\c"`],
    ['x'.repeat(100), `"${'x'.repeat(64)}..."`],
    [42, 'a number'],
    [null, 'null'],
    [['a'], 'a list'],
    [{ secret: 1 }, 'an object'],
    [undefined, 'undefined'],
  ])('shows %j as %s', (value, text) => {
    expect(shown(value)).toBe(text)
  })

  test('says of every kind of value what it is', () => {
    const kinds = [() => {}, Symbol('s'), 1n, true].map(kindOf)
    expect(kinds).toEqual(['a function', 'a symbol', 'a bigint', 'a boolean'])
  })
})

test('a list shows three values, and how many others there are', () => {
  expect(listed([])).toBe('an empty list')
  expect(listed(['a'])).toBe('"a"')
  expect(listed(['a', 'b', 'c', 'd', 'e'])).toBe('"a", "b", "c", 2 more')
  expect(listed(['a'], 10_000)).toBe('"a", 9,999 more')
})

test.each([
  [3600, '3,600 s'],
  [0.5, '0.5 s'],
  [12.345, '12 s'],
  [9.96, '10 s'],
  [-0.01, '0 s'],
  [-86_400, '-86,400 s'],
  [999, '999 s'],
  [1_234_567.8, '1,234,568 s'],
  [1e300, '1e+300 s'],
  [Number.NaN, 'NaN s'],
])('a length of %d seconds is %s', (seconds, text) => {
  expect(duration(seconds)).toBe(text)
})

test.each([
  [1_795_341_600, '2026-11-22T10:00:00Z'],
  [1_795_341_600.5, '2026-11-22T10:00:00.500Z'],
  [1e300, '1e+300 (no date)'],
])('the moment %d is %s', (seconds, text) => {
  expect(moment(seconds)).toBe(text)
})

import { describe, expect, test } from 'vitest'

import { createFormCheck, isForm, isJwe, type TokenForm } from '../src/form.ts'

describe('what a form may be', () => {
  test.each<TokenForm>([
    { length: [1, 65_536] },
    { length: [20, 20], prefix: undefined, alphabet: undefined },
    { prefix: 'o' },
    { prefix: '12|', alphabet: '0123456789|ab' },
    { prefix: 'oat_', length: [4, 4] },
    { alphabet: '!#$&()*+-./:<=>?@[\\]^_`{|}~' },
    { alphabet: 'a', length: undefined },
  ])('%j', (form) => {
    expect(isForm(form)).toBeUndefined()
  })

  test.each<[unknown, RegExp]>([
    [null, /must be an object with length, prefix or alphabet/],
    ['a', /must be an object with/],
    [{}, /must be an object with/],
    [{ prefix: 'a', max: 1 }, /unknown member "max"/],
    [{ length: [20, 19] }, /as length/],
    [{ length: [0, 1] }, /as length/],
    [{ length: [1, 65_537] }, /as length/],
    [{ length: [1.5, 2] }, /as length/],
    [{ length: [1, 2.5] }, /as length/],
    [{ length: ['1', 2] }, /as length/],
    [{ length: [1, '2'] }, /as length/],
    [{ length: [1] }, /as length/],
    [{ length: [1, 2, 3] }, /as length/],
    [{ length: { 0: 1, 1: 2, length: 2 } }, /as length/],
    [{ length: 20 }, /as length/],
    [{ length: null }, /as length/],
    [{ prefix: '' }, /as prefix/],
    [{ prefix: 1 }, /as prefix/],
    [{ prefix: ['a'] }, /as prefix/],
    [{ alphabet: '' }, /as alphabet/],
    [{ alphabet: ['a'] }, /as alphabet/],
    ...['a b', 'a\tb', 'a,b', 'a"b', "a'b", 'a;b', 'a%', 'aé', 'a\u007F', 'a\n'].map(
      (alphabet): [unknown, RegExp] => [{ alphabet }, /as alphabet printable ASCII/],
    ),
    [{ prefix: '12|' }, /characters of its alphabet/],
    [{ prefix: 'o t' }, /characters of its alphabet/],
    [{ prefix: 'oat_', alphabet: 'abc' }, /characters of its alphabet/],
    [{ prefix: 'oat_', length: [1, 3] }, /a prefix that is not longer/],
  ])('not %j', (form, complaint) => {
    expect(isForm(form)).toMatch(complaint)
  })
})

describe('what a token lacks of a form', () => {
  test.each<[TokenForm, string, string | undefined]>([
    [{ length: [2, 4] }, 'a', 'it has 1 characters'],
    [{ length: [2, 4] }, 'ab', undefined],
    [{ length: [2, 4] }, 'abcd', undefined],
    [{ length: [2, 4] }, 'abcde', 'it has 5 characters'],
    [{}, '', 'it has 0 characters'],
    [{ prefix: 'oat_' }, 'oat_a', undefined],
    [{ prefix: 'oat_' }, 'a_oat_', 'it begins otherwise'],
    [{ alphabet: 'ab' }, 'abba', undefined],
    [{ alphabet: 'ab' }, 'abca', 'it has other characters'],
    [{ alphabet: 'ab|' }, 'a|b|', undefined],
    [{}, 'azAZ09._~+/-==', undefined],
    [{}, 'a', undefined],
    [{}, 'a=b', 'it has other characters'],
    [{}, '=', 'it has other characters'],
    [{}, '=a', 'it has other characters'],
    [{}, ' a', 'it has other characters'],
    [{}, 'a ', 'it has other characters'],
    [{}, 'a\n', 'it has other characters'],
  ])('%j: %j', (form, token, complaint) => {
    expect(createFormCheck(form)(token)).toBe(complaint)
  })
})

test('a header that is as long as any may be still says that a token is JWE', () => {
  const members = '{"enc":"A256GCM"}'
  const header = (length: number) =>
    Buffer.from(members.padStart((length * 3) / 4)).toString('base64url')
  expect(header(8192)).toHaveLength(8192)
  expect([isJwe(`${header(8192)}.a.b.c.d`), isJwe(`${header(8196)}.a.b.c.d`)]).toEqual([
    true,
    false,
  ])
})

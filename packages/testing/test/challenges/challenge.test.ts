import { expect, test } from 'vitest'

import { parseChallenges } from '../../src/challenges/challenge.ts'

type Expected = readonly [scheme: string, more?: string | Readonly<Record<string, string>>]

function read(...fields: readonly string[]): Expected[] {
  return parseChallenges(fields).map(({ scheme, token68, parameters }) =>
    token68 === undefined ? [scheme, Object.fromEntries(parameters)] : [scheme, token68],
  )
}

test.each<[title: string, fields: string | readonly string[], expected: readonly Expected[]]>([
  ['a scheme alone', 'Bearer', [['bearer', {}]]],
  ['white space around it', ' \t Bearer \t ', [['bearer', {}]]],
  ['parameters', 'Bearer realm="a", error=b', [['bearer', { realm: 'a', error: 'b' }]]],
  ['no space behind a comma', 'Bearer a=b,c=d', [['bearer', { a: 'b', c: 'd' }]]],
  ['spaces before a comma', 'Bearer a=b \t,c=d', [['bearer', { a: 'b', c: 'd' }]]],
  [
    'a challenge within quotes',
    'Bearer a="x, DPoP b=", DPoP algs="ES256 EdDSA", error_description="\\", DPoP c=d"',
    [
      ['bearer', { a: 'x, DPoP b=' }],
      ['dpop', { algs: 'ES256 EdDSA', error_description: '", DPoP c=d' }],
    ],
  ],
  ['spaces around the sign', 'Bearer a\t=  "b" , c = d', [['bearer', { a: 'b', c: 'd' }]]],
  ['several spaces behind the scheme', 'Bearer   a=b', [['bearer', { a: 'b' }]]],
  ['names in any case', 'BEARER Realm=A', [['bearer', { realm: 'A' }]]],
  ['an empty text', 'Bearer a=""', [['bearer', { a: '' }]]],
  ['a comma in quotes', 'Bearer a="b, Basic c=d"', [['bearer', { a: 'b, Basic c=d' }]]],
  ['a sign in quotes', 'Bearer a="b=c"', [['bearer', { a: 'b=c' }]]],
  ['an escaped quote', String.raw`Bearer a="b\"c"`, [['bearer', { a: 'b"c' }]]],
  ['an escaped quote at the end', String.raw`Bearer a="b\""`, [['bearer', { a: 'b"' }]]],
  ['an escaped backslash', String.raw`Bearer a="b\\", c=d`, [['bearer', { a: 'b\\', c: 'd' }]]],
  ['an escape that none needs', String.raw`Bearer a="\b\c"`, [['bearer', { a: 'bc' }]]],
  ['a tab and Latin-1 in quotes', 'Bearer a="b\tc\u{E9}"', [['bearer', { a: 'b\tc\u{E9}' }]]],
  [
    'every character of a token',
    "Bearer !#$%&'*+-.^_`|~0aZ=x",
    [['bearer', { "!#$%&'*+-.^_`|~0az": 'x' }]],
  ],
  ['a token68', 'Negotiate YII=', [['negotiate', 'YII=']]],
  ['a token68 of every character', 'NTLM aZ09-._~+/==', [['ntlm', 'aZ09-._~+/==']]],
  ['a token68 without padding', 'Negotiate abc', [['negotiate', 'abc']]],
  ['a token68 that ends in one sign', 'Negotiate a=', [['negotiate', 'a=']]],
  [
    'two challenges in one field',
    'Basic realm="a", Bearer realm="b", error="c"',
    [
      ['basic', { realm: 'a' }],
      ['bearer', { realm: 'b', error: 'c' }],
    ],
  ],
  [
    'a scheme alone before another',
    'Negotiate, Bearer realm=b',
    [
      ['negotiate', {}],
      ['bearer', { realm: 'b' }],
    ],
  ],
  [
    'a scheme alone behind parameters',
    'Bearer realm=b, Negotiate',
    [
      ['bearer', { realm: 'b' }],
      ['negotiate', {}],
    ],
  ],
  [
    'a token68 before another challenge',
    'Negotiate abc==,Bearer a=b',
    [
      ['negotiate', 'abc=='],
      ['bearer', { a: 'b' }],
    ],
  ],
  [
    'several fields',
    ['Basic a=b', 'Bearer c=d'],
    [
      ['basic', { a: 'b' }],
      ['bearer', { c: 'd' }],
    ],
  ],
  [
    'the same parameter in two challenges',
    'A x=1, B x=2',
    [
      ['a', { x: '1' }],
      ['b', { x: '2' }],
    ],
  ],
  ['empty elements', ', ,Bearer a=b, ,\t, c=d,,', [['bearer', { a: 'b', c: 'd' }]]],
  ['an empty element behind the scheme', 'Bearer ,a=b', [['bearer', { a: 'b' }]]],
  ['a parameter called like a method', 'Bearer __proto__=a', [['bearer', { ['__proto__']: 'a' }]]],
  ['nothing', '', []],
  ['nothing but commas', ' , ,', []],
  ['no field', [], []],
])('%s', (_title, fields, expected) => {
  expect(read(...[fields].flat())).toEqual(expected)
})

test.each([
  ['a parameter without a scheme', 'realm="a"'],
  ['a parameter without a scheme, behind a comma', ', realm="a"'],
  ['a text that does not end', 'Bearer a="b'],
  ['a text whose end is escaped', String.raw`Bearer a="b\"`],
  ['a quote in a token', 'Bearer a=b"c"'],
  ['something behind a text', 'Bearer a="b"c'],
  ['two parameters without a comma', 'Bearer a="b" c="d"'],
  ['a word behind a word', 'Bearer abc def'],
  ['no value', 'Bearer x=y, a=, b=c'],
  ['no name', 'Bearer ="b"'],
  ['a parameter behind a token68', 'Negotiate abc==, a=b'],
  ['a sign in a token', 'Bearer a=b=c'],
  ['a tab behind the scheme', 'Bearer\ta=b'],
  ['a line break in a text', 'Bearer a="b\nc"'],
  ['a control character in a text', 'Bearer a="b\u{1}c"'],
  ['an escaped control character', 'Bearer a="b\\\u{1}c"'],
  ['a letter beyond Latin-1', 'Bearer a="\u{416}"'],
  ['a separator for a scheme', '(Bearer) a=b'],
  ['a semicolon for a comma', 'Bearer a=b; c=d'],
])('%s cannot be read', (_title, field) => {
  expect(() => parseChallenges([field])).toThrow(SyntaxError)
})

test('a parameter that occurs twice cannot be read, in whatever case', () => {
  expect(() => parseChallenges(['Bearer a=b, A=b'])).toThrow('the parameter a occurs twice')
})

test('the message has what cannot be read', () => {
  expect(() => parseChallenges(['Bearer a=b, ?'])).toThrow('comes at "?"')
})

test.each(['a', ' ', ',', '"', '\\', '=', 'a=', 'a,', 'a ', '="', '\\"', 'a="b",'])(
  '100 KB of %j are read or refused before anybody waits',
  (text) => {
    const field = `Bearer ${text.repeat(100_000 / text.length)}`
    const attempt = () => {
      try {
        parseChallenges([field])
        return 'read'
      } catch (error) {
        return error instanceof SyntaxError ? 'refused' : error
      }
    }
    expect(['read', 'refused']).toContain(attempt())
  },
)

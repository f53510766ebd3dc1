import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import {
  isJsonObject,
  isTooDeep,
  member,
  parseJson,
  parseJsonObject,
  parseObject,
  repeatsMember,
  withoutNulls,
} from '../src/json.ts'

function parse(text: string) {
  return parseJsonObject(Buffer.from(text))
}

/** An object of so many levels: itself, then arrays or objects. */
function nested(levels: number, open: string, close: string): string {
  return `{"a":${open.repeat(levels - 1)}0${close.repeat(levels - 1)}}`
}

test.each([
  { name: 'an empty object', text: '{}' },
  { name: 'white space of JSON around it', text: ' \t\r\n{ } ' },
  { name: 'every type of value', text: '{"a":"x","b":1.5,"c":true,"d":null,"e":[1,{}]}' },
  { name: 'structural characters in a text', text: '{"a":"{[:,]}","b":":::"}' },
  { name: 'structural characters in a name', text: '{"{:[":1,"}:]":2}' },
  { name: 'quotes and backslashes in texts', text: String.raw`{"a":"\"","b":"\\","c":"\\\":\"{"}` },
  { name: 'an escaped quote by its number', text: String.raw`{"a":"\u0022:{","b":1}` },
  {
    name: 'members of nested objects beside those of the top',
    text: '{"a":{"b":1,"c":2},"d":[{}]}',
  },
  { name: 'one name on different levels', text: '{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}' },
  { name: 'a nested duplicate, which the last one wins', text: '{"a":{"b":1,"b":2}}' },
  { name: 'names that differ in case alone', text: '{"exp":1,"Exp":2}' },
  { name: 'names that differ in their normal form alone', text: '{"\u00E9":1,"e\u0301":2}' },
  {
    name: 'names of what every object inherits',
    text: '{"toString":1,"constructor":{"prototype":2}}',
  },
  { name: 'the name __proto__ as a value', text: '{"a":"__proto__"}' },
  { name: 'the greatest double', text: '{"a":1.7976931348623157e308,"b":-1.7976931348623157e308}' },
  { name: 'a number that is too small for a double', text: '{"a":1e-400}' },
  { name: 'UTF-8 of two, three and four octets', text: '{"\u00E9":"\u20AC\u{1F511}"}' },
  { name: 'an escaped lone surrogate', text: String.raw`{"a":"\ud800"}` },
  { name: 'U+FEFF inside a text', text: '{"a":"\uFEFF"}' },
])('$name: accepted', ({ text }) => {
  expect(JSON.stringify(parse(text))).toBe(JSON.stringify(JSON.parse(text)))
})

test.each([
  { name: 'nothing', text: '' },
  { name: 'white space', text: '  ' },
  { name: 'an array', text: '[{"a":1}]' },
  { name: 'a text', text: '"a"' },
  { name: 'a number', text: '1' },
  { name: 'true', text: 'true' },
  { name: 'null', text: 'null' },
  { name: 'half an object', text: '{"a":1' },
  { name: 'two objects', text: '{}{}' },
  { name: 'a comma too many', text: '{"a":1,}' },
  { name: 'a comment', text: '{/**/}' },
  { name: 'single quotes', text: "{'a':1}" },
  { name: 'NaN', text: '{"a":NaN}' },
  { name: 'Infinity', text: '{"a":Infinity}' },
  { name: 'a raw line feed in a text', text: '{"a":"\n"}' },
  { name: 'a NUL at the end', text: '{}\0' },
  { name: 'a no-break space around it', text: '\u00A0{}' },
  { name: 'a byte order mark in front', text: '\uFEFF{}' },
  { name: 'a byte order mark at the end', text: '{}\uFEFF' },
])('not one JSON object: $name', ({ text }) => {
  expect(parse(text)).toBeUndefined()
})

test.each([
  { name: 'a lone continuation octet', octets: [0x80] },
  { name: 'an octet that UTF-8 never has', octets: [0xff] },
  { name: 'a Latin-1 letter', octets: [0xe9] },
  { name: 'a sequence cut short', octets: [0xe2, 0x82] },
  { name: 'an overlong slash', octets: [0xc0, 0xaf] },
  { name: 'a lone surrogate', octets: [0xed, 0xa0, 0x80] },
  { name: 'a code point beyond U+10FFFF', octets: [0xf4, 0x90, 0x80, 0x80] },
])('$name in a text is refused and not replaced', ({ octets }) => {
  const parts = [Buffer.from('{"sub":"a'), Buffer.from(octets), Buffer.from('"}')]
  expect(parseJsonObject(Buffer.concat(parts))).toBeUndefined()
})

test.each([
  { name: 'in UTF-16, little endian', octets: Buffer.from('{}', 'utf16le') },
  { name: 'in UTF-16 with a byte order mark', octets: Buffer.from('\uFEFF{}', 'utf16le') },
])('an object $name is refused', ({ octets }) => {
  expect(parseJsonObject(octets)).toBeUndefined()
})

describe('a name with escapes', () => {
  const poison = [String.raw`{"alg":1,"\\u00":1}`, String.raw`{"alg":1,"\\":1}`]

  test.each([
    [String.raw`{"alg":1,"\u0063rit":2}`, { alg: 1, crit: 2 }],
    [String.raw`{"alg":1,"\u0063rit" :{"\u0061":["\u0062"]}}`, { alg: 1, crit: { a: ['b'] } }],
    [
      String.raw`{"https:\/\/a.test\/r\u00f4le":"\"","b":"\\"}`,
      { 'https://a.test/rôle': '"', b: '\\' },
    ],
    ['{"a" \t\r\n: "\\u0022:", "b":1}', { a: '":', b: 1 }],
  ])('means what it says, whatever texts came before: %s', (text, value) => {
    // V8 remembers these, and reads what begins alike as one of them.
    const remembered = poison.map((each): unknown => JSON.parse(each))
    expect(parse(text)).toEqual(value)
    expect(remembered).toHaveLength(2)
  })

  test.each([
    String.raw`{"a\"b":1}`,
    String.raw`{"a\\b":1}`,
    String.raw`{"a\u0000b":1}`,
    String.raw`{"a\nb":1}`,
    String.raw`{"a\ud800b":1}`,
    String.raw`{"a":{"b\"":1}}`,
  ])('is refused where it cannot be written without: %s', (text) => {
    expect(parse(text)).toBeUndefined()
  })
})

test('a text that is refused changes nothing about how the process reads others', () => {
  expect(parse(String.raw`{"x":{"harmless":0,"\\u00":0}}`)).toBeUndefined()
  const body = String.raw`{"harmless":1,"\u00e9tat":2}`
  expect(JSON.parse(body)).toEqual({ harmless: 1, état: 2 })
})

describe('parseJson', () => {
  test.each(['', '{', '"\\', '{"a\\', '{"\\q":1}', '{"\\u0061"', '["\\u0061" 1]', 'undefined'])(
    'what is no JSON is undefined: %j',
    (text) => {
      expect(parseJson(text)).toBeUndefined()
    },
  )

  test.each(['"a\\\\"', '["\\u0061", ":"]', '1', 'null', 'false'])('any value: %s', (text) => {
    expect(parseJson(text)).toEqual(JSON.parse(text))
  })
})

describe('a duplicate member at the top level is refused', () => {
  test.each([
    { name: 'with the same value', text: '{"exp":1,"exp":1}' },
    { name: 'with another value', text: '{"exp":1,"sub":"a","exp":2}' },
    { name: 'in an escaped spelling', text: String.raw`{"exp":1,"\u0065xp":2}` },
    { name: 'in an escaped spelling that comes first', text: String.raw`{"\u0065xp":2,"exp":1}` },
    { name: 'in two escaped spellings', text: String.raw`{"\u0065xp":1,"e\u0078p":2}` },
    { name: 'with hexadecimal digits of another case', text: String.raw`{"\u004A":1,"\u004a":2}` },
    { name: 'as a slash with and without its escape', text: String.raw`{"\/":1,"/":2}` },
    { name: 'with an empty name', text: '{"":1,"":2}' },
    { name: 'with an index as its name', text: '{"0":1,"0":2}' },
    { name: 'after a nested object', text: '{"a":{"b":1},"a":{"b":1}}' },
    { name: 'after a list', text: '{"a":[1,[2]],"a":1}' },
    { name: 'after texts full of quotes', text: String.raw`{"a":"\"\\","b":"\\\"","a":1}` },
    { name: 'with white space around the colon', text: '{"a" : 1 , "a"\n:\n2}' },
    { name: 'of a name that every object inherits', text: '{"toString":1,"toString":2}' },
  ])('$name', ({ text }) => {
    expect(parse(text)).toBeUndefined()
  })
})

describe('a member named __proto__ is refused', () => {
  test.each([
    { name: 'at the top', text: '{"__proto__":{"admin":true}}' },
    { name: 'with a value that is no object', text: '{"__proto__":1}' },
    { name: 'in an escaped spelling', text: String.raw`{"__pr\u006fto__":{}}` },
    { name: 'twice', text: '{"__proto__":1,"__proto__":2}' },
    { name: 'in a nested object', text: '{"a":{"b":{"__proto__":null}}}' },
    { name: 'in a list', text: '{"a":[1,[{"__proto__":{}}]]}' },
    { name: 'after harmless members', text: '{"a":1,"b":{},"c":{"__proto__":1}}' },
    {
      name: 'on the deepest level',
      text: `{"a":${'['.repeat(30)}{"__proto__":1}${']'.repeat(30)}}`,
    },
  ])('$name', ({ text }) => {
    expect(parse(text)).toBeUndefined()
    expect(Object.keys(Object.prototype)).toEqual([])
  })
})

test.each([
  { name: 'at the top', text: '{"exp":1e309}' },
  { name: 'below zero', text: '{"exp":-1e309}' },
  { name: 'in a nested object', text: '{"a":{"b":1e309}}' },
  { name: 'in a list', text: '{"a":[0,[1e309]]}' },
  { name: 'written with digits alone', text: `{"a":1${'0'.repeat(309)}}` },
  { name: 'after harmless members', text: '{"a":1,"b":"c","d":1e400}' },
])('a number that a double cannot hold is refused: $name', ({ text }) => {
  expect(parse(text)).toBeUndefined()
})

describe('depth', () => {
  test.each([
    { name: 'lists', open: '[', close: ']' },
    { name: 'objects', open: '{"a":', close: '}' },
  ])('$name: 32 levels are accepted, 33 are not', ({ open, close }) => {
    const deepest = nested(32, open, close)
    expect(parse(deepest)).toStrictEqual(JSON.parse(deepest))
    expect(parse(nested(33, open, close))).toBeUndefined()
  })

  test('the deepest place counts, not the last one', () => {
    expect(parse(`{"a":${'['.repeat(32)}${']'.repeat(32)},"b":1}`)).toBeUndefined()
  })

  test('levels beside each other do not add up', () => {
    const branch = `${'['.repeat(20)}${']'.repeat(20)}`
    expect(parse(`{"a":${branch},"b":${branch},"c":[${branch},${branch}]}`)).toBeDefined()
  })

  test('brackets in texts are no levels', () => {
    expect(parse(`{"a":"${'['.repeat(100)}","${'{'.repeat(100)}":1}`)).toBeDefined()
  })

  test('whatever strings stand between the brackets, each level counts', () => {
    const anyString = fc.string({ unit: fc.constantFrom('[', ']', '{', '}', '"', '\\', ':', 'a') })
    fc.assert(
      fc.property(fc.array(anyString, { minLength: 30, maxLength: 34 }), (strings) => {
        const open = strings.map((each) => `[${JSON.stringify(each)},`).join('')
        const isRead = parse(`{"a":${open}0${']'.repeat(strings.length)}}`) !== undefined
        expect(isRead).toBe(strings.length <= 31)
      }),
    )
  })

  test.each([
    { name: 'lists', text: nested(100_000, '[', ']') },
    { name: 'objects', text: nested(100_000, '{"a":', '}') },
  ])('100,000 levels of $name are refused without a fault', ({ text }) => {
    expect(parse(text)).toBeUndefined()
  })
})

describe('wide texts', () => {
  test('an object of 20,000 members is read', () => {
    const members = Array.from({ length: 20_000 }, (_, at) => [`member ${at}`, at] as const)
    expect(parse(JSON.stringify(Object.fromEntries(members)))).toEqual(Object.fromEntries(members))
  })

  test('one duplicate among 20,000 members is found', () => {
    const members = Array.from({ length: 20_000 }, (_, at) => `"m${at}":0`)
    expect(parse(`{${members.join(',')},"m777":1}`)).toBeUndefined()
  })

  test('a list of 100,000 values is read', () => {
    const list = Array.from({ length: 100_000 }, (_, at) => at)
    expect(parse(JSON.stringify({ list }))).toEqual({ list })
  })

  test('a text of a million escapes is read', () => {
    expect(parse(`{"a":"${String.raw`\"`.repeat(1_000_000)}"}`)).toEqual({
      a: '"'.repeat(1_000_000),
    })
  })
})

test('the value is frozen to the last level', () => {
  const value = parse('{"a":{"b":[{"c":1}]}}')
  const a = value?.['a'] as { b: [object] }
  expect([value, a, a.b, a.b[0]].map((each) => Object.isFrozen(each))).toEqual([
    true,
    true,
    true,
    true,
  ])
  expect(() => Reflect.apply(Array.prototype.push, a.b, [1])).toThrow(TypeError)
})

test.each([
  { name: 'an object', value: {}, answer: true },
  { name: 'an object without a prototype', value: Object.create(null) as object, answer: true },
  { name: 'a list', value: [], answer: false },
  { name: 'null', value: null, answer: false },
  { name: 'undefined', value: undefined, answer: false },
  { name: 'a text', value: '{}', answer: false },
  { name: 'a function', value: () => ({}), answer: false },
])('$name as a JSON object: $answer', ({ value, answer }) => {
  expect(isJsonObject(value)).toBe(answer)
})

test.each(['toString', 'constructor', '__proto__', 'hasOwnProperty'])(
  'an inherited %s is not a member',
  (name) => {
    expect(member({}, name)).toBeUndefined()
  },
)

test('an own member is read whatever its name', () => {
  expect(member({ toString: 1 }, 'toString')).toBe(1)
  expect(member({ a: null }, 'a')).toBeNull()
  expect(member(Object.create(null) as Record<string, unknown>, 'a')).toBeUndefined()
})

test('a text may have 1000 levels, and no more', () => {
  expect(parseJson(nested(1000, '[', ']'))).toBeDefined()
  expect(parseJson(nested(1001, '[', ']'))).toBeUndefined()
  expect(parseJson(nested(1001, '{"a":', '}'))).toBeUndefined()
  expect(parseJson('['.repeat(500_000))).toBeUndefined()
})

test('brackets in strings are no levels', () => {
  const brackets = '[{'.repeat(2000)
  expect(parseJson(JSON.stringify({ [brackets]: brackets }))).toBeDefined()
})

function repeats(text: string): boolean {
  return repeatsMember(text, parse(text) ?? {})
}

describe('repeatsMember', () => {
  test.each([
    '{}',
    '{"a":{"b":1,"c":[{"b":2},{"b":3}]},"d":"{:,:}"}',
    String.raw`{"a":{"b":"\":","c":"\\"}}`,
    '{"a":[[],[[]],{}]}',
  ])('finds none in %s', (text) => {
    expect(repeats(text)).toBe(false)
  })

  test.each(['{"a":{"b":1,"b":1}}', '{"a":[{"b":1,"b":2}]}', '{"a":{"b":{},"b":{}}}'])(
    'finds one in %s',
    (text) => {
      expect(repeats(text)).toBe(true)
    },
  )
})

describe('without nulls', () => {
  test.each([
    ['{}', '{}'],
    ['{"a":null}', '{}'],
    ['{"a":null,"b":false,"c":0,"d":""}', '{"b":false,"c":0,"d":""}'],
    ['{"a":{"b":null,"c":1},"d":null}', '{"a":{"c":1}}'],
    ['{"a":{"b":null}}', '{"a":{}}'],
    ['{"a":[null,{"b":null},[null]]}', '{"a":[null,{},[null]]}'],
    ['{"toString":null}', '{}'],
  ])('%s is %s, and frozen', (text, left) => {
    const value = withoutNulls(parse(text) ?? { unread: true })
    expect(JSON.stringify(value)).toBe(left)
    expect(Object.isFrozen(value)).toBe(true)
    expect(Object.values(value).every(Object.isFrozen)).toBe(true)
  })
})

test('whatever strings stand between the brackets, each level counts', () => {
  const anyString = fc.string({ unit: fc.constantFrom('[', ']', '{', '}', '"', '\\', ':', 'a') })
  fc.assert(
    fc.property(fc.array(anyString, { maxLength: 10 }), (strings) => {
      const text = strings.map((each) => `[${JSON.stringify(each)},`).join('')
      const rest = 1000 - strings.length
      expect(isTooDeep(text + '['.repeat(rest))).toBe(false)
      expect(isTooDeep(text + '['.repeat(rest + 1))).toBe(true)
    }),
  )
})

test.each([
  '{}',
  '{"a":":","b":{"a":1,"a":2}}',
  '{"a":[{"b":1},{"b":"\\":"}]}',
  '{"__proto__":{"a":1}}',
])('the object %s is read', (text) => {
  expect(parseObject(text)).toEqual(JSON.parse(text))
})

test.each([
  '{"a":1,"a":1}',
  '{"a":1,"\\u0061":2}',
  '{"b":{},"a":1,"b":{}}',
  '[]',
  'null',
  '"a"',
  '{',
])('%s is no object without a member twice', (text) => {
  expect(parseObject(text)).toBeUndefined()
})

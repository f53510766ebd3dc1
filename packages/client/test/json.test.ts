import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { isTooDeep, parseJson, parseObject } from '../src/json.ts'

test.each(['"a"', '{"a":[1,{"b":null}]}', 'false', '1e3'])('%s is read as JSON', (text) => {
  expect(parseJson(text)).toEqual(JSON.parse(text))
})

test.each(['', '{', '"\\', '{"a":1,}', 'undefined', '['.repeat(1000)])(
  'what is no JSON is undefined: %j',
  (text) => {
    expect(parseJson(text)).toBeUndefined()
  },
)

test.each([
  { name: 'lists', open: '[', close: ']' },
  { name: 'objects', open: '{"a":', close: '}' },
])('$name: 1000 levels are read, 1001 are not', ({ open, close }) => {
  const nested = (levels: number) => `${open.repeat(levels)}0${close.repeat(levels)}`
  expect(parseJson(nested(1000))).toBeDefined()
  expect(parseJson(nested(1001))).toBeUndefined()
})

test('levels beside each other do not add up', () => {
  expect(parseJson(`[${'[],'.repeat(5000)}{}]`)).toHaveLength(5001)
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

describe('a name with escapes', () => {
  const poison = [String.raw`{"alg":1,"\\u00":1}`, String.raw`{"alg":1,"\\":1}`]

  test.each([
    [String.raw`{"alg":1,"\u0063rit":2}`, { alg: 1, crit: 2 }],
    [String.raw`{"https:\/\/a.test" : "\u0062\\"}`, { 'https://a.test': 'b\\' }],
    ['{"a" \t\r\n: "\\u0022:", "b":1}', { a: '":', b: 1 }],
  ])('means what it says, whatever texts came before: %s', (text, value) => {
    // V8 remembers these, and reads what begins alike as one of them.
    const remembered = poison.map((each): unknown => JSON.parse(each))
    expect(parseJson(text)).toEqual(value)
    expect(remembered).toHaveLength(2)
  })

  test.each(['{"a\\"b":1}', '{"a\\\\b":1}', '{"a":{"b\\n":1}}', '{"\\q":1}'])(
    'is refused where it cannot be written without: %s',
    (text) => {
      expect(parseJson(text)).toBeUndefined()
    },
  )
})

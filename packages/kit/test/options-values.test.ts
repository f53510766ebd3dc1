import { describe, expect, test } from 'vitest'

import {
  checkArgument,
  checkOptions,
  countUpTo,
  hasMethods,
  isAbsoluteUrl,
  isBoolean,
  isClock,
  isFunction,
  isLoopback,
  isText,
  isTextList,
  memberOf,
  mustBe,
  noOptions,
  oneOf,
  type OptionCheck,
  ownMembers,
  seconds,
  secureUrl,
  urlComplaint,
} from '../src/options.ts'

// What each check says of each value, at its bounds. Other packages prove that they ask.

const HOLES = Object.assign(Array<string>(), { 1: 'a' })
const IS_COUNT = 'must be a number from 1 to 10'
const IS_TEXT = 'must be a string that is not empty'
const IS_LIST = 'must be a list of strings that are not empty'
const IS_CLOCK = 'must have the functions now, monotonic and after'
const IS_TIME = 'must be a number of seconds from 1 to 60'

test.each<[string, OptionCheck, unknown, string | undefined]>([
  ['seconds at the lower bound', seconds(1, 60), 1, undefined],
  ['seconds at the upper bound', seconds(1, 60), 60, undefined],
  ['a fraction of seconds', seconds(1, 60), 1.5, undefined],
  ['seconds below', seconds(1, 60), 0.999, IS_TIME],
  ['seconds above', seconds(1, 60), 60.001, IS_TIME],
  ['seconds as a text', seconds(1, 60), '5', IS_TIME],
  ['no number of seconds', seconds(1, 60), NaN, IS_TIME],
  ['endless seconds', seconds(1, 60), Infinity, IS_TIME],
  ['a count at the lower bound', countUpTo(10), 1, undefined],
  ['a count at the upper bound', countUpTo(10), 10, undefined],
  ['a count of nothing', countUpTo(10), 0, IS_COUNT],
  ['a count above', countUpTo(10), 11, IS_COUNT],
  ['a fraction of a count', countUpTo(10), 1.5, IS_COUNT],
  ['a count as a text', countUpTo(10), '5', IS_COUNT],
  ['a count of something', countUpTo(10, 'bytes'), 0, 'must be a number of bytes from 1 to 10'],
  ['what holds', mustBe('even', (value) => Number(value) % 2 === 0), 2, undefined],
  ['what does not hold', mustBe('even', (value) => Number(value) % 2 === 0), 1, 'must be even'],
  ['true', isBoolean, true, undefined],
  ['false', isBoolean, false, undefined],
  ['what is like true', isBoolean, 'true', 'must be true or false'],
  ['a function', isFunction, () => {}, undefined],
  ['no function', isFunction, {}, 'must be a function'],
  ['a text', isText, 'a', undefined],
  ['an empty text', isText, '', IS_TEXT],
  ['no text', isText, 1, IS_TEXT],
  ['a list of texts', isTextList, ['a', 'b'], undefined],
  ['an empty list', isTextList, [], IS_LIST],
  ['a list with an empty text', isTextList, ['a', ''], IS_LIST],
  ['a list with a hole', isTextList, HOLES, IS_LIST],
  ['a text in place of a list', isTextList, 'a', IS_LIST],
  ['one of the words', oneOf('a', null), null, undefined],
  ['none of the words', oneOf('a', null), 'b', 'must be one of a, null'],
  ['no clock', isClock, { now() {}, monotonic() {} }, IS_CLOCK],
])('%s', (_title, check, value, complaint) => {
  expect(check(value)).toBe(complaint)
})

const UNSET = 'is not an absolute URL: is an environment variable unset?'
const CREDENTIALS = 'must not contain credentials'
const HTTPS = 'must begin with https:'
const LOOPBACK_ALONE = 'must begin with https: (http: is for the loopback alone)'
const PERMITTED = 'must begin with https: (allowInsecure: true permits http: beyond the loopback)'

describe('a URL that something of others comes from', () => {
  test.each<[string, boolean | undefined, string | undefined]>([
    ['https://a.test/keys', undefined, undefined],
    ['https://a.test/keys', false, undefined],
    ['/keys', undefined, UNSET],
    ['', undefined, UNSET],
    ['undefined', undefined, UNSET],
    ['https://undefined/keys', undefined, UNSET],
    ['undefined://a.test', undefined, UNSET],
    ['undefined:443', undefined, UNSET],
    ['https://user@a.test', undefined, CREDENTIALS],
    ['https://:secret@a.test', undefined, CREDENTIALS],
    ['ftp://a.test', true, HTTPS],
    ['data:application/json,{}', true, HTTPS],
    ['http://localhost:8080', undefined, undefined],
    ['http://127.0.0.1', false, undefined],
    ['http://[::1]:8080/a', false, undefined],
    ['http://localhost.a.test', undefined, LOOPBACK_ALONE],
    ['http://127.0.0.2', undefined, LOOPBACK_ALONE],
    ['http://a.test', undefined, LOOPBACK_ALONE],
    ['http://a.test', false, PERMITTED],
    ['http://a.test', true, undefined],
  ])('%s, allowInsecure %s: %s', (url, allowInsecure, complaint) => {
    expect(urlComplaint(url, allowInsecure)).toBe(complaint)
  })

  test('may be a URL object, and is never repeated in a complaint', () => {
    expect(isAbsoluteUrl(new URL('https://a.test'))).toBeUndefined()
    expect(isAbsoluteUrl(undefined)).toBe(UNSET)
    expect(secureUrl('remoteKeys', 'url', 'https://a.test/a b', false).href).toBe(
      'https://a.test/a%20b',
    )
    const url = new URL('http://a.test')
    expect(secureUrl('remoteKeys', 'url', url, true)).not.toBe(url)
    expect(() => secureUrl('remoteKeys', 'url', 'https://secret@a.test', true)).toThrow(
      new TypeError(`remoteKeys: url ${CREDENTIALS}`),
    )
  })

  test.each([
    ['localhost', true],
    ['127.0.0.1', true],
    ['[::1]', true],
    ['::1', false],
    ['example.test', false],
  ])('whether %s is this machine: %s', (host, answer) => {
    expect(isLoopback(host)).toBe(answer)
  })
})

test('an argument without a complaint is accepted, and any other is a TypeError that names it', () => {
  expect(() => {
    checkArgument('scope', 'the scope', undefined)
  }).not.toThrow()
  expect(() => {
    checkArgument('scope', 'the scope', 'must be a text')
  }).toThrow(new TypeError('scope: the scope must be a text'))
})

test('complaints name what is known and what is missing', () => {
  const checks = { a: isText, b: () => undefined }
  expect(() => {
    checkOptions('create', { '__proto__ ': 1 }, checks)
  }).toThrow(new TypeError('create: unknown option "__proto__ ", known are a, b'))
  expect(() => {
    checkOptions('create', {}, checks, ['b'])
  }).toThrow(new TypeError('create: b must be stated'))
  expect(() => {
    checkOptions('create', {}, checks, ['c'])
  }).toThrow(new TypeError('create: c must be stated'))
  expect(() => {
    checkOptions('create', { b: 1 }, checks, ['b', 'a'])
  }).toThrow(new TypeError(`create: a ${IS_TEXT}`))
})

describe('members', () => {
  class Base {
    get inherited() {
      return 'of its class'
    }
  }

  test('of an object and of its class count, and what is on the end of the chain does not', () => {
    const value = Object.assign(new Base(), { own: 1 })
    expect(
      ['own', 'inherited', 'toString', 'nowhere'].map((name) => memberOf(value, name)),
    ).toEqual([1, 'of its class', undefined, undefined])
    expect(memberOf(Object.prototype, 'toString')).toBeTypeOf('function')
    expect(memberOf(Object.create(null) as object, 'a')).toBeUndefined()
    expect(memberOf(Object.assign(Object.create(null) as object, { a: 1 }), 'a')).toBe(1)
  })

  test('a copy has its own members alone, and inherits nothing', () => {
    const copy = ownMembers(Object.assign(Object.create({ inherited: 1 }) as object, { own: 2 }))
    expect(Object.getPrototypeOf(copy)).toBeNull()
    expect({ ...copy }).toEqual({ own: 2 })
    expect(Reflect.get(copy, 'inherited')).toBeUndefined()
  })

  test('no options are a new object each time, which can be written to and inherits nothing that can', () => {
    const [first, second] = [noOptions(), noOptions()]
    expect(first).not.toBe(second)
    Reflect.set(first, 'a', 1)
    expect([Reflect.get(first, 'a'), Reflect.get(second, 'a')]).toEqual([1, undefined])
    const end: unknown = Object.getPrototypeOf(first)
    expect([Object.isFrozen(end), Object.getPrototypeOf(end)]).toEqual([true, null])
    expect(Reflect.get(first, 'toString')).toBeUndefined()
  })

  test.each<[string, unknown, boolean]>([
    ['an object with both', { a() {}, b() {} }, true],
    ['an object with one', { a() {} }, false],
    ['an object whose second is no function', { a() {}, b: 1 }, false],
    ['a function with both', Object.assign(() => {}, { a() {}, b() {} }), true],
    ['nothing', undefined, false],
    ['null', null, false],
    ['a text', 'a', false],
  ])('methods of %s: %s', (_title, value, answer) => {
    expect(hasMethods(value, 'a', 'b')).toBe(answer)
  })

  test('a text has no methods of its own, although it inherits some', () => {
    expect(hasMethods('a', 'slice')).toBe(false)
  })
})

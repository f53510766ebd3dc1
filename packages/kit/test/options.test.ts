import { describe, expect, test } from 'vitest'

import {
  checkOptions,
  hasMethods,
  isBoolean,
  isClock,
  isFunction,
  isText,
  isTextList,
  oneOf,
  own,
  ownMembers,
  type OptionCheck,
  seconds,
} from '../src/options.ts'
import { systemClock } from '../src/time.ts'

const checks = {
  timeout: seconds(0.1, 60),
  optional: isBoolean,
  fetch: isFunction,
  type: isText,
  names: isTextList,
  respond: oneOf('forward', 'problem'),
  clock: isClock,
}

const GOOD = {
  timeout: 5,
  optional: false,
  fetch: () => undefined,
  type: 'at+jwt',
  names: ['a', 'b'],
  respond: 'problem',
  clock: systemClock,
}

class InheritedClock {
  now() {
    return 0
  }
  monotonic() {
    return 0
  }
  after() {
    return () => undefined
  }
}

describe('the options of a factory', () => {
  test.each([
    { name: 'all of them', options: GOOD },
    { name: 'none', options: {} },
    { name: 'some', options: { timeout: 1, optional: true } },
    {
      name: 'undefined ones, which are left out',
      options: { timeout: undefined, type: undefined },
    },
    { name: 'an object without a prototype', options: Object.create(null) as object },
  ])('$name: accepted', ({ options }) => {
    expect(() => {
      checkOptions('createThing', options, checks)
    }).not.toThrow()
  })

  test('what is required counts as stated if a copy of its own members has it', () => {
    const required = ['timeout']
    const act = (options: object) => () => checkOptions('createThing', options, checks, required)
    expect(act({ timeout: 5 })).not.toThrow()
    const hidden = Object.defineProperty({}, 'timeout', { value: 5, enumerable: false })
    for (const options of [{}, { timeout: undefined }, Object.create({ timeout: 5 }), hidden]) {
      expect(act(options as object)).toThrow(/^createThing: timeout must be/)
    }
  })

  test.each([
    { name: 'undefined', options: undefined },
    { name: 'null', options: null },
    { name: 'a text', options: 'timeout' },
    { name: 'a number', options: 5 },
    { name: 'true', options: true },
    { name: 'a function', options: () => ({}) },
    { name: 'a list', options: [] },
  ])('$name instead of an object is a mistake', ({ options }) => {
    expect(() => {
      checkOptions('createThing', options, checks)
    }).toThrow(new TypeError('createThing: options must be an object'))
  })

  test.each([
    { name: 'a misspelt option', options: { timeOut: 5 }, option: 'timeOut' },
    { name: 'another case', options: { Timeout: 5 }, option: 'Timeout' },
    { name: 'an unknown option that is undefined', options: { speed: undefined }, option: 'speed' },
    { name: 'an inherited name', options: { toString: 1 }, option: 'toString' },
    {
      name: '__proto__ from JSON',
      options: JSON.parse('{"__proto__":1}') as object,
      option: '__proto__',
    },
    { name: 'a name with a quote', options: { 'a"b': 1 }, option: 'a"b' },
  ])('$name is named, with those that are known', ({ options, option }) => {
    expect(() => {
      checkOptions('createThing', options, checks)
    }).toThrow(
      new TypeError(
        `createThing: unknown option ${JSON.stringify(option)}, known are ` +
          'timeout, optional, fetch, type, names, respond, clock',
      ),
    )
  })

  test.each([
    {
      options: { timeout: '5' },
      complaint: 'timeout must be a number of seconds from 0.1 to 60',
    },
    { options: { optional: 'true' }, complaint: 'optional must be true or false' },
    { options: { fetch: {} }, complaint: 'fetch must be a function' },
    { options: { type: '' }, complaint: 'type must be a string that is not empty' },
    { options: { names: 'a' }, complaint: 'names must be a list of strings that are not empty' },
    { options: { respond: 'json' }, complaint: 'respond must be one of forward, problem' },
    {
      options: { clock: Date },
      complaint: 'clock must have the functions now, monotonic and after',
    },
    { options: { ...GOOD, type: null }, complaint: 'type must be a string that is not empty' },
  ])('the message names factory and option: $complaint', ({ options, complaint }) => {
    expect(() => {
      checkOptions('createThing', options, checks)
    }).toThrow(new TypeError(`createThing: ${complaint}`))
  })

  test('every mistake is a TypeError', () => {
    for (const options of [null, { speed: 1 }, { timeout: 0 }]) {
      expect(() => {
        checkOptions('createThing', options, checks)
      }).toThrow(TypeError)
    }
  })

  test('the options are not changed', () => {
    const options = Object.freeze({ timeout: undefined, names: Object.freeze(['a']) })
    checkOptions('createThing', options, checks)
    expect(options).toEqual({ timeout: undefined, names: ['a'] })
  })
})

const tables: { name: string; check: OptionCheck; good: unknown[]; bad: unknown[] }[] = [
  {
    name: 'seconds',
    check: seconds(0, 600),
    good: [0, -0, 0.5, 5, 599.999, 600],
    bad: [-0.001, -1, 600.001, 5000, NaN, Infinity, -Infinity, '5', '', null, true, [5], {}, 5n],
  },
  { name: 'a boolean', check: isBoolean, good: [true, false], bad: ['true', 0, 1, '', null, {}] },
  {
    name: 'a function',
    check: isFunction,
    good: [() => 1, async () => await Promise.resolve(1), Date, Math.max],
    bad: [{}, 'fetch', null, true, []],
  },
  {
    name: 'a text',
    check: isText,
    good: ['a', ' ', '0'],
    bad: ['', 0, null, true, ['a'], {}, Object('a')],
  },
  {
    name: 'a list of texts',
    check: isTextList,
    good: [['a'], ['a', 'b'], Object.freeze(['a'])],
    bad: [[], [''], ['a', ''], ['a', 1], [null], [['a']], 'a', new Set(['a']), { 0: 'a' }, null],
  },
  {
    name: 'one of several values',
    check: oneOf('forward', 'problem', false),
    good: ['forward', 'problem', false],
    bad: ['Forward', 'forward ', '', true, null, 0, ['forward'], 'forward,problem'],
  },
  {
    name: 'a clock',
    check: isClock,
    good: [systemClock, new InheritedClock(), { ...systemClock, more: 1 }],
    bad: [
      {},
      null,
      'clock',
      Date,
      () => 0,
      { ...systemClock, now: undefined },
      { ...systemClock, monotonic: 0 },
      { ...systemClock, after: null },
    ],
  },
]

describe.each(tables)('$name', ({ check, good, bad }) => {
  test('is accepted in each of its forms', () => {
    expect(good.map((value) => check(value))).toEqual(good.map(() => undefined))
  })

  test('is not anything else', () => {
    const complaints = bad.map((value) => check(value) ?? 'accepted')
    expect(complaints).toEqual(bad.map(() => expect.stringMatching(/^must /) as unknown))
  })
})

test('a complaint about one of several values lists them all', () => {
  expect(oneOf('forward', 1, false, null)('x')).toBe('must be one of forward, 1, false, null')
})

describe('an object with methods', () => {
  test('needs each of them as a function', () => {
    const source = { now: () => 0, current: () => 0 }
    expect(hasMethods(source, 'now', 'current')).toBe(true)
    expect(hasMethods(source, 'now', 'suspect')).toBe(false)
    expect(hasMethods({ ...source, now: 0 }, 'now', 'current')).toBe(false)
  })

  test('may inherit them', () => {
    expect(hasMethods(new InheritedClock(), 'now')).toBe(true)
    expect(hasMethods({}, 'toString')).toBe(true)
    expect(
      hasMethods(
        Object.assign(() => 0, { now: () => 0 }),
        'now',
      ),
    ).toBe(true)
  })

  test.each([null, undefined, 'text', 1, true])('is not %s', (value) => {
    expect(hasMethods(value)).toBe(false)
    expect(hasMethods(value, 'toString')).toBe(false)
  })
})

describe('own members', () => {
  const given = Object.assign(Object.create({ inherited: 1 }) as { inherited?: number }, { own: 2 })

  test('are read, inherited ones are not', () => {
    expect(own(given, 'own')).toBe(2)
    expect(own(given, 'inherited')).toBeUndefined()
  })

  test('are copied into an object that inherits nothing', () => {
    const copy = ownMembers(given)
    expect(copy.inherited).toBeUndefined()
    expect(Object.getPrototypeOf(copy)).toBeNull()
    expect({ ...copy }).toEqual({ own: 2 })
  })
})

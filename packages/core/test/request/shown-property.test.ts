import { describe, expect, test } from 'vitest'

import { propertySetter } from '../../src/request/shown-property.ts'

const show = propertySetter('auth')
const auth = { claims: { sub: 'ada' } }
const OWN = { value: auth, writable: true, enumerable: true, configurable: true }

const own = (subject: object) => Reflect.getOwnPropertyDescriptor(subject, 'auth')
const forged = { get: () => 'forged', set: () => undefined }
const inheriting = (prototype: object) => Object.create(prototype) as object

/** Whoever is asked says that there is nothing, and takes what is assigned away. */
const swallowing: ProxyHandler<object> = { has: () => false, set: () => true, get: () => 'forged' }

describe('a property of an object itself', () => {
  test.each<[string, object]>([
    ['with nothing of that name', {}],
    ['without a prototype', inheriting(null as unknown as object)],
    ['with a value of its own', { auth: 'forged' }],
    [
      'with a setter of its own',
      Object.defineProperty({}, 'auth', { ...forged, configurable: true }),
    ],
    [
      'with a value that is not writable',
      Object.defineProperty({}, 'auth', { value: 'forged', configurable: true }),
    ],
    ['with a setter in its prototype', inheriting(Object.defineProperty({}, 'auth', forged))],
    ['with a fixed value in its prototype', inheriting(Object.freeze({ auth: 'forged' }))],
    ['whose prototype is a proxy that swallows it', inheriting(new Proxy({}, swallowing))],
    ['that is a function', () => {}],
  ])('%s', (_, subject) => {
    expect(show(subject, auth)).toBe(true)
    expect(own(subject)).toEqual(OWN)
  })

  test('that is a proxy: whatever it makes of an assignment', () => {
    const target = {}
    expect(show(new Proxy(target, swallowing), auth)).toBe(true)
    expect(own(target)).toEqual(OWN)
  })

  test('of any name', () => {
    for (const name of ['constructor', 'prototype', 'hasOwnProperty', 'then']) {
      const subject = {}
      expect(propertySetter(name)(subject, auth)).toBe(true)
      expect(Reflect.getOwnPropertyDescriptor(subject, name)).toEqual(OWN)
    }
  })

  test('shown again: the later value', () => {
    const subject = {}
    for (const value of ['first', undefined, auth]) expect(show(subject, value)).toBe(true)
    expect(own(subject)).toEqual(OWN)
  })
})

test.each<[string, object]>([
  ['frozen', Object.freeze({})],
  ['frozen, with such a property', Object.freeze({ auth: 'before' })],
  ['not extensible', Object.preventExtensions({})],
  ['one that has fixed that property', Object.defineProperty({}, 'auth', { value: 'before' })],
  ['one that has fixed a setter', Object.defineProperty({}, 'auth', forged)],
  ['a proxy that refuses it', new Proxy({}, { defineProperty: () => false })],
  [
    'a proxy that throws',
    new Proxy(
      {},
      {
        defineProperty: () => {
          throw new Error('no')
        },
      },
    ),
  ],
  ['a proxy that was revoked', revoked()],
])('an object that is %s: it says so, and nothing has changed', (_, subject) => {
  const before = shapeOf(subject)
  expect(show(subject, auth)).toBe(false)
  expect(shapeOf(subject)).toEqual(before)
})

test.each(['get', 'set', 'value', 'writable', 'enumerable', 'configurable', 'auth'])(
  'a polluted `%s` of Object.prototype changes nothing',
  (name) => {
    const subject = {}
    let isShown: boolean | undefined
    // oxlint-disable-next-line eslint/no-extend-native -- that is what is tested
    Reflect.defineProperty(Object.prototype, name, {
      ...own({ auth: () => 'forged' }),
      writable: false,
    })
    try {
      isShown = show(subject, auth)
    } finally {
      Reflect.deleteProperty(Object.prototype, name)
    }
    expect([isShown, own(subject)]).toEqual([true, OWN])
  },
)

test('an object that shows another value elsewhere meanwhile: each has its own', () => {
  const other = {}
  const target = {}
  const subject = new Proxy(target, {
    defineProperty(...given) {
      show(other, 'another')
      return Reflect.defineProperty(...given)
    },
  })
  expect(show(subject, auth)).toBe(true)
  expect([own(target)?.value, own(other)?.value]).toEqual([auth, 'another'])
})

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

function shapeOf(subject: object): unknown {
  try {
    return Object.getOwnPropertyDescriptors(subject)
  } catch (error) {
    return error
  }
}

import { describe, expect, test } from 'vitest'

import { checkKind, checkType, statesKind } from '../../src/claims/kind.ts'
import { AuthError } from '../../src/refusal/errors.ts'

function checked(check: () => void): string {
  try {
    check()
    return 'accepted'
  } catch (error) {
    if (!(error instanceof AuthError)) throw error
    return error.code === 'invalid_token' ? error.reason : error.code
  }
}

describe('the type of a token', () => {
  test.each([
    { name: 'the same', typ: 'at+jwt', type: 'at+jwt' },
    { name: 'another case', typ: 'AT+JWT', type: 'at+jwt' },
    { name: 'another case wanted', typ: 'at+jwt', type: 'At+Jwt' },
    { name: 'the whole media type', typ: 'application/at+jwt', type: 'at+jwt' },
    { name: 'the whole media type in another case', typ: 'Application/AT+jwt', type: 'at+jwt' },
    { name: 'the whole media type wanted', typ: 'at+jwt', type: 'application/at+jwt' },
    { name: 'the whole media type on both sides', typ: 'application/x', type: 'APPLICATION/x' },
    { name: 'any, when none is wanted', typ: 'JWT', type: undefined },
    { name: 'none, when none is wanted', typ: undefined, type: undefined },
  ])('$name is accepted', ({ typ, type }) => {
    expect(checked(() => checkType(typ, type === undefined ? undefined : [type]))).toBe('accepted')
  })

  test.each([
    { name: 'none', typ: undefined },
    { name: 'an empty one', typ: '' },
    { name: 'that of every JWT', typ: 'JWT' },
    { name: 'a beginning', typ: 'at' },
    { name: 'a longer one', typ: 'at+jwt2' },
    { name: 'one with a space', typ: ' at+jwt' },
    { name: 'one with parameters', typ: 'at+jwt; v=1' },
    { name: 'one of another tree', typ: 'text/at+jwt' },
    { name: 'one with the prefix twice', typ: 'application/application/at+jwt' },
    { name: 'one with the prefix inside', typ: 'at+application/jwt' },
  ])('$name is refused', ({ typ }) => {
    expect(checked(() => checkType(typ, ['at+jwt']))).toBe('type')
  })

  test.each(['at+jwt', 'AT+JWT', 'wimse-at+jwt'])(
    '%s is accepted if it is one of a list',
    (typ) => {
      expect(checked(() => checkType(typ, ['wimse-at+jwt', 'at+jwt']))).toBe('accepted')
    },
  )

  test.each([
    'logout+jwt',
    'secevent+jwt',
    'dpop+jwt',
    'token-introspection+jwt',
    'vc+sd-jwt',
    'kb+jwt',
    'LOGOUT+JWT',
    'application/logout+jwt',
    'Application/DPoP+Jwt',
    'logout+jwt; v=1',
    'x+at+jwt',
    'text/at+jwt',
    'logout+jwt ',
  ])('%j is refused if no type is stated: it names another kind of token', (typ) => {
    expect(checked(() => checkType(typ, undefined))).toBe('type')
    expect(checked(() => checkType(typ, [typ]))).toBe('accepted')
  })

  test.each([
    undefined,
    '',
    'JWT',
    'jwt',
    'application/jwt',
    'at+jwt',
    'application/AT+JWT',
    'JOSE',
    'at+jwt; v=1',
    'at+jwt ; v=1',
    'logout',
    'a+jwt2',
  ])('%j is accepted if no type is stated', (typ) => {
    expect(checked(() => checkType(typ, undefined))).toBe('accepted')
  })

  test.each([
    [undefined, 'accepted'],
    ['JWT', 'accepted'],
    ['application/jose', 'accepted'],
    ['', 'type'],
    ['null', 'type'],
    ['at+jwt', 'type'],
  ])('of a list with null, %j is %s: none, or one of these', (typ, verdict) => {
    expect(checked(() => checkType(typ, ['JWT', 'JOSE', null]))).toBe(verdict)
  })

  test('a token without a type is refused even for an empty wish', () => {
    expect(checked(() => checkType(undefined, ['']))).toBe('type')
  })
})

const LOGOUT = 'http://schemas.openid.net/event/backchannel-logout'
const REVOKED = 'https://schemas.openid.net/secevent/caep/event-type/session-revoked'

describe('a security event among the claims', () => {
  test.each([
    ['a log-out', { [LOGOUT]: {} }],
    ['an event with members', { [REVOKED]: { event_timestamp: 1 } }],
    ['an event with a URN', { 'urn:ietf:params:event:SCIM:create': {} }],
    ['an event beside something else', { revoke_offline_access: true, [LOGOUT]: {} }],
  ])('%s: type, unless the kind is stated', (_, events) => {
    expect(checked(() => checkKind({ events }, false))).toBe('type')
    expect(checked(() => checkKind({ events }, true))).toBe('accepted')
  })

  test.each([
    ['none', undefined],
    ['null', null],
    ['a text', LOGOUT],
    ['a list of names', [LOGOUT]],
    ['a list of objects', [{ [LOGOUT]: {} }]],
    ['an empty object', {}],
    ['names that are no URI', { login: {}, 'backchannel-logout': {} }],
    ['a URI of another scheme', { 'ftp://schemas.test/event': {}, 'HTTPS://schemas.test/e': {} }],
    ['a URI within a name', { ' https://schemas.test/event': {}, 'x-urn:y': {} }],
    ['a text in place of an object', { [LOGOUT]: 'yes' }],
    ['true in place of an object', { [LOGOUT]: true }],
    ['null in place of an object', { [LOGOUT]: null }],
    ['a list in place of an object', { [LOGOUT]: [] }],
  ])('events that are %s are none', (_, events) => {
    expect(checked(() => checkKind({ events }, false))).toBe('accepted')
  })

  test('an inherited one is none', () => {
    const claims = Object.create({ events: { [LOGOUT]: {} } }) as { events: unknown }
    expect(checked(() => checkKind(claims, false))).toBe('accepted')
  })
})

test.each([
  ['at+jwt', ['at+jwt'], true],
  ['application/logout+jwt', ['logout+jwt'], true],
  ['at+jwt', ['JWT', 'at+jwt'], true],
  ['JWT', ['JWT', 'at+jwt'], false],
  ['jwt', ['JWT'], false],
  ['JOSE', ['JOSE'], false],
  [undefined, ['JOSE', null], false],
  ['application/JWT', ['jwt'], false],
  ['at+jwt', undefined, false],
  [undefined, undefined, false],
] as const)('typ: %s, with the stated types %j, says of what kind it is: %s', (typ, types, is) => {
  expect(statesKind(typ, types)).toBe(is)
})

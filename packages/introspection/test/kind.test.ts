import { AuthError } from '@portcullis/core'
import { describe, expect, test } from 'vitest'

import { checkKind, type Kinds } from '../src/kind.ts'

// What an answer says of the kind of its token.

const THUMBPRINT = 'a'.repeat(43)

/** `accepted`, or the reason. */
function wordOf(claims: object, kinds?: Kinds): string {
  try {
    checkKind({ ...claims }, kinds)
    return 'accepted'
  } catch (error) {
    if (error instanceof AuthError) return error.reason
    throw error
  }
}

// By their documentation and sources.
describe('what issuers answer about their access tokens is accepted', () => {
  test.each<[string, object, Kinds?]>([
    ['oidc-provider', { token_type: 'Bearer' }],
    ['oidc-provider, a token bound to a key', { token_type: 'DPoP', cnf: { jkt: THUMBPRINT } }],
    ['Spring Authorization Server', { token_type: 'Bearer' }],
    ['Hydra', { token_type: 'Bearer', token_use: 'access_token' }],
    ['Keycloak', { typ: 'Bearer' }],
    ['Keycloak, which repeats it', { typ: 'Bearer', token_type: 'Bearer' }],
    ['Keycloak, a token bound to a key', { typ: 'DPoP', cnf: { jkt: THUMBPRINT } }],
    ['Keycloak, with the type of RFC 9068', { typ: 'at+jwt', token_type: 'Bearer' }],
    ['ZITADEL', { token_type: 'Bearer' }],
    ['Amazon Cognito', { token_use: 'access' }],
    ['Authelia and fosite, where that is waived', {}, null],
  ])('%s', (_issuer, claims, kinds) => {
    expect(wordOf(claims, kinds)).toBe('accepted')
  })
})

describe('what issuers answer about other tokens is refused', () => {
  test.each<[string, object]>([
    ['a refresh token of oidc-provider and Spring, which names no kind', {}],
    ['a refresh token of Hydra', { token_type: 'Bearer', token_use: 'refresh_token' }],
    ['a refresh token of Keycloak', { typ: 'Refresh' }],
    ['an offline token of Keycloak', { typ: 'Offline' }],
    ['an ID token of Keycloak', { typ: 'ID' }],
    ['an ID token of Cognito', { token_use: 'id' }],
    ['a token of an exchange that is no access token', { token_type: 'N_A' }],
  ])('%s', (_token, claims) => {
    expect(wordOf(claims)).toBe('type')
    // What is waived is a statement, and no contradiction.
    const isSilent = Object.keys(claims).length === 0
    expect(wordOf(claims, null)).toBe(isSilent ? 'accepted' : 'type')
  })
})

test.each<[object, string]>([
  [{ token_type: 'bearer' }, 'accepted'],
  [{ token_type: 'BEARER' }, 'accepted'],
  [{ token_use: 'Access_Token' }, 'accepted'],
  [{ token_use: 'ACCESS' }, 'accepted'],
  [{ typ: 'bearer' }, 'accepted'],
  [{ typ: 'AT+JWT' }, 'accepted'],
  [{ typ: 'JWT' }, 'type'],
  [{ typ: 'jwt', token_type: 'Bearer' }, 'accepted'],
  [{ typ: 'JWT', token_use: 'refresh_token' }, 'type'],
  [{ typ: 'Refresh', token_type: 'Bearer', token_use: 'access_token' }, 'type'],
  [{ typ: 'Bearer', token_type: 'refresh_token' }, 'type'],
  [{ typ: 'Bearer', token_use: 'refresh_token' }, 'type'],
  [{ token_type: 'JWT', typ: 'Bearer' }, 'type'],
  [{ token_use: 'JWT', typ: 'Bearer' }, 'type'],
  [{ token_type: '' }, 'type'],
  [{ token_type: 1 }, 'type'],
  [{ token_type: ['Bearer'] }, 'type'],
  [{ token_use: false, token_type: 'Bearer' }, 'type'],
  [{ token_use: 'Bearer' }, 'type'],
  [{ token_type: 'access_token' }, 'type'],
  [{ token_type: 'at+jwt' }, 'type'],
  [{ typ: 'access_token' }, 'type'],
  [{ typ: 'application/at+jwt' }, 'type'],
  [{ token_type: ' Bearer' }, 'type'],
  // The Kelvin sign is no k.
  [{ token_use: 'access_to\u{212A}en' }, 'type'],
  [{ token_type: 'DPoP' }, 'binding'],
  [{ typ: 'dpop' }, 'binding'],
  [{ token_type: 'Bearer', typ: 'DPoP', cnf: {} }, 'binding'],
  [{ typ: 'DPoP', cnf: { jkt: THUMBPRINT } }, 'accepted'],
])('%j: %s', (claims, word) => {
  expect(wordOf(claims)).toBe(word)
})

test('an inherited member names no kind', () => {
  const claims = Object.create({ token_type: 'Bearer' }) as object
  expect(() => {
    checkKind(claims as Parameters<typeof checkKind>[0], undefined)
  }).toThrow(AuthError)
})

test.each<[readonly string[], object, string]>([
  [['Custom'], { token_type: 'custom' }, 'accepted'],
  [['Custom'], { token_use: 'custom' }, 'accepted'],
  [['Custom'], { typ: 'custom' }, 'accepted'],
  [['Custom'], { token_type: 'custom', token_use: 'access_token', typ: 'at+jwt' }, 'accepted'],
  [['Custom'], { token_type: 'custom', token_use: 'refresh_token' }, 'type'],
  [['Custom'], { token_type: 'Bearer' }, 'type'],
  [['Custom'], { token_use: 'access_token' }, 'type'],
  [['Custom'], {}, 'type'],
  [['Bearer', 'DPoP'], {}, 'type'],
  [['DPoP'], { token_type: 'Bearer', token_use: 'access_token' }, 'type'],
  [['DPoP'], { token_type: 'DPoP', typ: 'Bearer', cnf: { jkt: THUMBPRINT } }, 'type'],
  [['DPoP'], { token_type: 'DPoP' }, 'binding'],
])('where type is %j, %j: %s', (kinds, claims, word) => {
  expect(wordOf(claims, kinds)).toBe(word)
})

test.each<[object, Kinds, string]>([
  [
    { typ: 'Refresh' },
    undefined,
    'the typ of the answer is "Refresh"; expected bearer, dpop, at+jwt',
  ],
  [
    { token_use: 'refresh_token' },
    null,
    'the token_use of the answer is "refresh_token"; expected access_token, access',
  ],
  [{}, undefined, 'names no kind of token, by token_type, token_use or typ'],
  [{}, ['DPoP'], 'the answer has none of the option type (dpop) as token_type, token_use or typ'],
])('the sentence for developers names the member: %j', (claims, kinds, sentence) => {
  const refused = (): unknown => {
    try {
      checkKind({ ...claims }, kinds)
    } catch (error) {
      return Reflect.get(Object(error), 'detail')
    }
    return undefined
  }
  expect(refused()).toContain(sentence)
})

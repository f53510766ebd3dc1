import { AssertionError } from 'node:assert'

import { AuthError } from '@portcullis/core'
import { describe, expect, test } from 'vitest'

import { assertChallenge, type ExpectedChallenge } from '../../src/challenges/assert-challenge.ts'

const SCOPE = new AuthError('insufficient_scope', 'scope', { scope: 'read write' })
const EXPIRED = new AuthError('invalid_token', 'expired')
const FORGED = new AuthError('invalid_token', 'signature')
const MISSING = new AuthError('missing_token', 'missing_header')

function answer({ status, headers }: AuthError, more?: string): Response {
  const response = new Response(null, { status, headers: { ...headers } })
  if (more !== undefined) response.headers.append('www-authenticate', more)
  return response
}

/** An API that takes DPoP-bound tokens as well names both schemes. The errors of a token are those of the scheme it came by. */
const PROOF =
  'DPoP realm="api", error="invalid_dpop_proof", error_description="The DPoP proof is for another URL"'
const BOTH = new Response(null, {
  status: 401,
  headers: { 'www-authenticate': `${PROOF}, algs="ES256 EdDSA", Bearer realm="api"` },
})
const STEP_UP = new Response(null, {
  status: 401,
  headers: {
    'www-authenticate':
      'Bearer error="insufficient_user_authentication", acr_values="gold silver", max_age="300"',
  },
})

/** The message of the assertion that fails. */
function failure(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    if (error instanceof AssertionError) return error.message
    throw error
  }
  return 'passed'
}

test.each<[title: string, error: AuthError, expected: ExpectedChallenge]>([
  ['nothing in particular', FORGED, {}],
  ['no error', MISSING, { status: 401, error: null, scope: null }],
  ['the reason of no error', MISSING, { reason: 'missing_header' }],
  ['an error', EXPIRED, { status: 401, error: 'invalid_token' }],
  ['a reason', EXPIRED, { reason: 'expired' }],
  ['a reason that the client must not learn', FORGED, { reason: 'signature' }],
  ['another that reads the same', FORGED, { reason: 'unknown_key' }],
  ['a scope', SCOPE, { status: 403, error: 'insufficient_scope', scope: 'read write' }],
  ['a scope in another order', SCOPE, { scope: 'write read', reason: 'scope' }],
  ['options left undefined', SCOPE, { status: undefined, error: undefined, scope: undefined }],
])('%s is as expected', (_title, error, expected) => {
  expect(failure(() => assertChallenge(answer(error), expected))).toBe('passed')
})

test.each<[message: string, error: AuthError, expected: ExpectedChallenge]>([
  ['the status is 401, not 403', EXPIRED, { status: 403 }],
  [
    'the error is "invalid_token", not "insufficient_scope"',
    EXPIRED,
    { error: 'insufficient_scope' },
  ],
  ['the error is "invalid_token", not missing', EXPIRED, { error: null }],
  ['the error is missing, not "invalid_token"', MISSING, { error: 'invalid_token' }],
  ['the scope is "read write", not "read"', SCOPE, { scope: 'read' }],
  ['the scope is "read write", not missing', SCOPE, { scope: null }],
  ['the scope is missing, not "read"', EXPIRED, { scope: 'read' }],
  [
    'the description is "The access token is not valid", not "The access token has expired"',
    FORGED,
    { reason: 'expired' },
  ],
  ['its error has no reason scope', EXPIRED, { reason: 'scope' }],
  ['its error has no reason expired', MISSING, { reason: 'expired' }],
])('%s: the message says so, and shows the header', (message, error, expected) => {
  const shown = `${message} (WWW-Authenticate: ${error.headers['WWW-Authenticate']})`
  expect(failure(() => assertChallenge(answer(error), expected))).toBe(shown)
})

test('the error has what a runner shows as a difference', () => {
  expect(() => assertChallenge(answer(EXPIRED), { status: 200 })).toThrow(
    expect.objectContaining({ actual: 401, expected: 200, code: 'ERR_ASSERTION' }),
  )
})

describe('the answer', () => {
  const value = FORGED.headers['WWW-Authenticate']
  const expected = { status: 401, error: 'invalid_token' }

  test.each([
    ['of fetch', new Response(null, { status: 401, headers: { 'www-authenticate': `${value}` } })],
    ['of supertest', { status: 401, statusCode: 401, headers: { 'www-authenticate': value } }],
    ['of inject', { statusCode: 401, headers: { 'www-authenticate': value, 'x-count': 1 } }],
    [
      'of inject, several fields',
      { statusCode: 401, headers: { 'www-authenticate': ['Basic realm="a"', value] } },
    ],
    ['of a mock, in its own case', { status: 401, headers: { 'WWW-Authenticate': value } }],
  ])('%s will do', (_title, response) => {
    expect(assertChallenge(response, expected)).toEqual({
      realm: 'api',
      error: 'invalid_token',
      error_description: 'The access token is not valid',
    })
  })

  test('may have challenges of other schemes', () => {
    expect(assertChallenge(answer(FORGED, 'Negotiate abc=='), expected)).toHaveProperty('realm')
  })

  test.each([
    [
      'the answer has 0 Bearer challenges, not 1 (no WWW-Authenticate)',
      { status: 401, headers: {} },
    ],
    ['the answer has 0 Bearer challenges, not 1 (no WWW-Authenticate)', new Response()],
    [
      'the answer has 0 Bearer challenges, not 1 (WWW-Authenticate: Basic)',
      { headers: { 'www-authenticate': 'Basic' } },
    ],
    [
      'the answer has 2 Bearer challenges, not 1 (WWW-Authenticate: Bearer a=b, bearer a=b)',
      { headers: { 'www-authenticate': ['Bearer a=b', 'bearer a=b'] } },
    ],
    [
      'the challenge cannot be read: SyntaxError: the parameter error occurs twice (WWW-Authenticate: Bearer error=a, error=b)',
      { headers: { 'www-authenticate': 'Bearer error=a, error=b' } },
    ],
  ])('%s', (message, response) => {
    expect(failure(() => assertChallenge(response))).toBe(message)
  })
})

test.each<[complaint: string, expected: object]>([
  ['unknown option "code"', { code: 'invalid_token' }],
  ['status must be a whole number', { status: '401' }],
  ['error must be a string', { error: 1 }],
  ['scope must be a string', { scope: ['read'] }],
  ['reason must be a string', { reason: null }],
])('a wrong expectation is a mistake of the test: %s', (complaint, expected) => {
  const act = () => assertChallenge(answer(FORGED), expected)
  expect(act).toThrow(TypeError)
  expect(act).toThrow(`assertChallenge: ${complaint}`)
})

test.each<[title: string, response: Response, expected: ExpectedChallenge]>([
  ['the DPoP challenge', BOTH, { scheme: 'DPoP', status: 401, error: 'invalid_dpop_proof' }],
  ['its reason', BOTH, { scheme: 'DPoP', reason: 'proof_url' }],
  ['its algorithms, in another order', BOTH, { scheme: 'DPoP', algs: 'EdDSA ES256' }],
  ['the Bearer challenge behind it', BOTH, { error: null, algs: null }],
  ['a step-up', STEP_UP, { acrValues: 'gold silver', maxAge: 300 }],
  ['no step-up', BOTH, { acrValues: null, maxAge: null }],
])('%s is as expected', (_title, response, expected) => {
  expect(failure(() => assertChallenge(response, expected))).toBe('passed')
})

test.each<[message: string, response: Response, expected: ExpectedChallenge]>([
  ['the answer has 0 DPoP challenges, not 1', STEP_UP, { scheme: 'DPoP' }],
  [
    'the error is "invalid_dpop_proof", not "use_dpop_nonce"',
    BOTH,
    { scheme: 'DPoP', error: 'use_dpop_nonce' },
  ],
  ['the error is missing, not "invalid_token"', BOTH, { error: 'invalid_token' }],
  ['the list algs is "ES256 EdDSA", not "ES256"', BOTH, { scheme: 'DPoP', algs: 'ES256' }],
  ['the list algs is missing, not "ES256"', BOTH, { algs: 'ES256' }],
  [
    'the list acr_values is "gold silver", not "silver gold"',
    STEP_UP,
    { acrValues: 'silver gold' },
  ],
  ['the max_age is "300", not "60"', STEP_UP, { maxAge: 60 }],
  ['the max_age is "300", not missing', STEP_UP, { maxAge: null }],
])('not as expected: %s', (message, response, expected) => {
  expect(failure(() => assertChallenge(response, expected))).toContain(message)
})

import { expect, test } from 'vitest'

import { AuthError } from '../../src/refusal/errors.ts'
import { type FetchRequest, parseBearer, type RequestHeaders } from '../../src/request/bearer.ts'

function refusalOf(request: RequestHeaders | FetchRequest): AuthError {
  try {
    parseBearer(request)
  } catch (error) {
    if (error instanceof AuthError) return error
  }
  throw new Error('nothing was refused')
}

function detailOf(authorization: unknown): string {
  return refusalOf({ headers: { authorization: authorization as string } }).detail
}

test.each([
  ['eyJhbGciOiJSUzUxMiJ9.e30.c2ln', 'looks like a token: write "Bearer " before it'],
  ['dpop abc', 'the scheme of the Authorization header is DPoP; expected Bearer'],
  ['JWT eyJhbGciOiJSUzUxMiJ9', 'the scheme of the Authorization header is JWT'],
  ['canary', 'does not begin with "Bearer "'],
  ['canary abc', 'does not begin with "Bearer "'],
  ['Bearer', 'nothing follows "Bearer"'],
  ['Bearer   ', 'nothing follows "Bearer"'],
  ['Bearer: canary', 'must be a space'],
  ['Bearer\tcanary', 'must be a space'],
  ['Bearer Bearer canary', 'written twice'],
  ['Bearer canary, Basic canary', 'have several headers been joined?'],
  ['Basic canary, Bearer canary', 'have several headers been joined?'],
  ['DPoP canary, DPoP canary', 'have several headers been joined?'],
  ['Bearer canary canary', 'white space in or behind the token'],
  ['Bearer canary ', 'white space in or behind the token'],
  ['Bearer "canary"', 'in quotes'],
  ['Bearer canary;', 'a character in the token'],
  ['Bearer [object Promise]', 'is an `await` missing'],
  ['Bearer [object Object]', 'what JavaScript makes of an object'],
  [
    'Bearer canary=canary',
    'a character in the token of the Authorization header that no token has in this place',
  ],
  ['"canary"', 'does not begin with the name of a scheme'],
  [42, 'is not a string'],
])('of the header %j it says: %s', (authorization, sentence) => {
  expect(detailOf(authorization)).toContain(sentence)
  expect(detailOf(authorization)).not.toContain('canary')
})

const PREFLIGHT = [['access-control-request-method', 'POST']] satisfies [string, string][]

test.each<[string, RequestHeaders | FetchRequest]>([
  ['node', { headers: Object.fromEntries(PREFLIGHT) }],
  ['Fetch', { headers: new Headers(PREFLIGHT) }],
])('of a preflight, with the headers of %s, it says what is wrong', (_, request) => {
  const { code, reason, detail } = refusalOf(request)
  expect({ code, reason }).toEqual({ code: 'missing_token', reason: 'missing_header' })
  expect(detail).toMatch(/it is a CORS preflight.*put CORS middleware before the guard$/)
})

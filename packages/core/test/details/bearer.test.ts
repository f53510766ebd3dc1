import { expect, test } from 'vitest'

import { parseBearer } from '../../src/bearer.ts'
import { AuthError } from '../../src/errors.ts'

function detailOf(authorization: unknown): string {
  try {
    parseBearer({ headers: { authorization: authorization as string } })
  } catch (error) {
    if (error instanceof AuthError) return error.detail
  }
  throw new Error('nothing was refused')
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
  ['Bearer canary canary', 'white space in or behind the token'],
  ['Bearer canary ', 'white space in or behind the token'],
  ['Bearer "canary"', 'in quotes'],
  ['Bearer canary;', 'a character in the token'],
  ['"canary"', 'does not begin with the name of a scheme'],
  [42, 'is not a string'],
])('of the header %j it says: %s', (authorization, sentence) => {
  expect(detailOf(authorization)).toContain(sentence)
  expect(detailOf(authorization)).not.toContain('canary')
})

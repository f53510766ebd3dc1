import { createOAuthClient, OAuthError } from '@portcullis/client/oauth'
import { manualClock } from '@portcullis/testing'
import fc from 'fast-check'

import { jsonObject, jsonText, mostly, octetsOf, parseJson } from '../inputs.ts'
import { type FuzzTarget, hold } from '../target.ts'

const token = fc.oneof(
  fc.string(),
  fc.base64String(),
  fc.constantFrom('a.b.c', 'eyJhbGciOiJSUzUxMiJ9.eyJleHAiOjE3NjcyMjU5MDB9.c2ln', 'a\r\nb', 'ä'),
)
const type = fc.constantFrom('Bearer', 'bearer', 'BearerToken', null, '', 'DPoP', 'N_A', 'mac')
const lifetime = fc.oneof(fc.double(), fc.string(), fc.constantFrom(null, '', '3600.0', '1e3'))
const issued = fc.constantFrom(
  'urn:ietf:params:oauth:token-type:access_token',
  'urn:ietf:params:oauth:token-type:id_token',
)

/** The answer of a token endpoint (RFC 6749 section 5), granted and refused. */
export const grantResponse: FuzzTarget = {
  inputs: jsonText(
    jsonObject({
      access_token: token,
      token_type: type,
      expires_in: mostly(fc.integer(), lifetime),
      issued_token_type: issued,
      id_token: token,
      error: mostly(
        fc.constant(null),
        fc.constantFrom('invalid_grant', 'invalid_target', 'use_dpop_nonce', '__proto__'),
      ),
    }),
  ),
  async run(input) {
    for (const status of [200, 400]) {
      const outcome = await outcomeOf(input, status)
      if (outcome instanceof OAuthError) {
        hold([401, 403, 502].includes(outcome.status), 'a refusal has a status of its kind')
        hold(/^[\w ,;:()?./-]*$/.test(outcome.message), 'no text of the answer is in the message')
      } else expectToken(outcome, input, status)
    }
  },
}

async function outcomeOf(input: string, status: number): Promise<string | OAuthError> {
  const clock = manualClock()
  const client = createOAuthClient({
    tokenEndpoint: 'https://as.example/token',
    clientId: 'shop',
    clientSecret: 'secret',
    origins: [],
    clock,
    fetch: async () => new Response(octetsOf(input), { status }),
  })
  const subject = { token: 'subject', claims: { exp: clock.now() + 60 } }
  try {
    return await client.onBehalfOf(subject).get()
  } catch (error) {
    if (error instanceof OAuthError) return error
    throw error
  }
}

function expectToken(given: string, input: string, status: number): void {
  hold(status === 200, 'a refusal has no token')
  hold(/^[!-~]+$/.test(given), 'a header can have the token')
  const text = octetsOf(input)
    .toString()
    .replace(/^\uFEFF/, '')
  const answer = Object(parseJson(text)) as object
  const member = (name: string): unknown =>
    Object.hasOwn(answer, name) ? Reflect.get(answer, name) : undefined
  hold(member('access_token') === given, 'the token is that of the answer')
  const stated = JSON.stringify(member('token_type') ?? 'Bearer')
  hold(/^"bearer(?:token)?"$/i.test(stated), 'the token needs no proof')
  const error = member('error')
  hold(typeof error !== 'string' || error === '', 'a refusal has no token')
}

import { localKeys, type VerifierOptions } from '@portcullis/core'
import { introspected } from '@portcullis/introspection'
import { isJsonObject, type JsonObject } from '@portcullis/kit/json'
import { manualClock } from '@portcullis/testing'
import fc from 'fast-check'

import { AuthError } from '../../../../packages/core/src/refusal/errors.ts'
import { jsonText, nearlyAll, octetsOf, parseJson } from '../inputs.ts'
import { privateKey, publicJwkOf, signed } from '../signed.ts'
import { type FuzzTarget, hold } from '../target.ts'

const ISSUER = 'https://issuer.example'
const ENDPOINT = `${ISSUER}/introspect`
const SIGNED = 'token-introspection+jwt'

const keys = localKeys(publicJwkOf(privateKey))

/**
 * What an issuer says of an opaque token, plain (RFC 7662) and inside of a signed answer (RFC 9701): whoever controls one may write
 * anything.
 */
export const introspectionAnswer: FuzzTarget = {
  inputs: jsonText(
    nearlyAll({
      active: fc.constantFrom(true, true, true, false, 'true', 1),
      iss: fc.constantFrom(ISSUER, ISSUER, `${ISSUER}/`),
      aud: fc.constantFrom('api', 'api', ['api', 'other'], 'other', '', [], [''], undefined, null),
      exp: fc.constantFrom(1_767_229_200, 4e9, '4000000000', 0),
      cnf: fc.constantFrom(undefined, undefined, { jkt: 'key' }, {}),
      token_type: fc.constantFrom('Bearer', 'bearer', 'DPoP', undefined, null),
      token_use: fc.constantFrom(undefined, 'access_token', 'refresh_token'),
      typ: fc.constantFrom(undefined, 'Bearer', 'JWT', 'Refresh'),
    }),
  ),
  async run(input) {
    const octets = octetsOf(input)
    const answer = { body: octets, type: 'application/json' }
    const plain = await acceptedClaims(answer)
    if (plain !== undefined) checkAccepted(plain, parseJson(octets.toString()))
    const addressed = await acceptedClaims({ ...answer, audience: ['api', null] })
    hold(plain === undefined || addressed !== undefined, 'with null, what is accepted still is')
    if (addressed !== undefined && plain === undefined) {
      // What is null is absent in an answer.
      const { aud } = parseJson(octets.toString()) as { readonly aud?: unknown }
      hold([aud ?? []].flat().length === 0, 'and nothing else, but for an answer that names nobody')
    }

    const payload = `{"iss":"${ISSUER}","aud":"client","iat":1767225600,"token_introspection":${octets.toString('latin1')}}`
    const body = signed(`{"alg":"Ed25519","typ":"${SIGNED}"}`, payload)
    const inside = await acceptedClaims({ body, type: `application/${SIGNED}`, keys })
    if (inside === undefined) return
    const document = parseJson(octetsOf(payload).toString())
    hold(isJsonObject(document), 'a signed answer that is accepted is a JSON object')
    checkAccepted(inside, document['token_introspection'])
  },
}

/** What is accepted of a token about which this is said. */
async function acceptedClaims(answer: {
  readonly body: Buffer | string
  readonly type: string
  readonly keys?: VerifierOptions['keys']
  readonly audience?: VerifierOptions['audience']
}): Promise<JsonObject | undefined> {
  const verifier = introspected({
    issuer: ISSUER,
    audience: answer.audience ?? 'api',
    endpoint: ENDPOINT,
    clientId: 'client',
    clientSecret: 'secret',
    keys: answer.keys,
    clock: manualClock(),
    fetch: async () => new Response(answer.body, { headers: { 'content-type': answer.type } }),
  })
  try {
    return (await verifier.verify('token')).claims
  } catch (error) {
    if (!(error instanceof AuthError)) throw error
    hold(
      error.code === 'invalid_token' || error.code === 'introspection_unavailable',
      'it is refused, or there is no answer',
    )
    return undefined
  }
}

/** @param said What another reader reads in the same answer. */
function checkAccepted(accepted: JsonObject, said: unknown): void {
  hold(isJsonObject(said), 'an accepted answer is a JSON object')
  hold(said['active'] === true, 'it says that the token is active')
  hold(said['iss'] === ISSUER, 'it is of this issuer')
  hold([said['aud']].flat().includes('api'), 'it is for this API')
  hold((said['cnf'] ?? undefined) === undefined, 'its token is bound to nothing')
  const kinds = [said['token_type'], said['token_use'], said['typ']].map((each) =>
    String(each).toLowerCase(),
  )
  hold(
    kinds.some((each) => ['bearer', 'access_token', 'access', 'at+jwt'].includes(each)),
    'it is of an access token',
  )
  hold(!kinds.some((each) => each.includes('refresh')), 'and of no other token')
  hold(JSON.stringify(accepted) === JSON.stringify(said, present), 'another reader reads the same')
}

/** What is null is absent. In a list, JSON writes `null` for `undefined` again. */
function present(_name: string, value: unknown): unknown {
  return value ?? undefined
}

import { introspected } from '@portcullis/introspection'
import { manualClock } from '@portcullis/testing'
import fc from 'fast-check'

import { isJsonObject } from '../../../../packages/core/src/ground/json.ts'
import { AuthError } from '../../../../packages/core/src/refusal/errors.ts'
import { jsonText, nearlyAll, octetsOf, parseJson } from '../inputs.ts'
import { type FuzzTarget, hold } from '../target.ts'

const ISSUER = 'https://issuer.example'
const ENDPOINT = `${ISSUER}/introspect`

/** What an issuer says of an opaque token (RFC 7662): whoever controls one may write anything. */
export const introspectionAnswer: FuzzTarget = {
  inputs: jsonText(
    nearlyAll({
      active: fc.constantFrom(true, true, true, false, 'true', 1),
      iss: fc.constantFrom(ISSUER, ISSUER, `${ISSUER}/`),
      aud: fc.constantFrom('api', ['api', 'other'], 'other'),
      exp: fc.constantFrom(1_767_229_200, 4e9, '4000000000', 0),
      cnf: fc.constantFrom(undefined, undefined, { jkt: 'key' }, {}),
      token_type: fc.constantFrom('Bearer', 'bearer', 'DPoP', undefined),
    }),
  ),
  async run(input) {
    const octets = octetsOf(input)
    const verifier = introspected({
      issuer: ISSUER,
      audience: 'api',
      endpoint: ENDPOINT,
      clientId: 'client',
      clientSecret: 'secret',
      clock: manualClock(),
      fetch: async () => new Response(octets, { headers: { 'content-type': 'application/json' } }),
    })
    const accepted = await verifier.verify('token').then(
      ({ claims }) => claims,
      (error: unknown) => {
        if (!(error instanceof AuthError)) throw error
        hold(
          error.code === 'invalid_token' || error.code === 'introspection_unavailable',
          'it is refused, or there is no answer',
        )
        return undefined
      },
    )
    if (accepted === undefined) return
    const document = parseJson(octets.toString())
    hold(isJsonObject(document), 'an accepted answer is a JSON object')
    hold(document['active'] === true, 'it says that the token is active')
    hold(document['iss'] === ISSUER, 'it is of this issuer')
    hold([document['aud']].flat().includes('api'), 'it is for this API')
    hold(!Object.hasOwn(document, 'cnf'), 'its token is bound to nothing')
    hold(JSON.stringify(accepted) === JSON.stringify(document), 'another reader reads the same')
  },
}

import type { Possession } from '@portcullis/core'
import { calculateJwkThumbprint, EmbeddedJWK, jwtVerify } from 'jose'

import type { Clock } from '../clock.ts'
import { targetOf } from '../dpop/proof.ts'
import { urlAsked } from './asked-url.ts'
import { isHarmlessJws } from './harmless-json.ts'

// The DPoP proof of a login. It is checked by jose, not by core.

/** How far the `iat` of a proof may be from now. Seconds. */
const WINDOW = 60

/** What the token is bound to, or why the login is refused; `undefined` if there is no proof. RFC 9449 sections 5 and 8 */
export async function readLoginProof(
  request: Request,
  clock: Clock,
  nonce: string | undefined,
): Promise<Possession | Response | undefined> {
  const proof = request.headers.get('dpop')
  if (proof === null) return undefined
  // Before jose parses it.
  if (!isHarmlessJws(proof)) return refuse('invalid_dpop_proof')
  try {
    const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
      typ: 'dpop+jwt',
      requiredClaims: ['jti', 'iat'],
      currentDate: new Date(clock.now() * 1000),
    })
    const { htm, htu, iat = NaN } = payload
    const isFresh = Math.abs(clock.now() - iat) <= WINDOW
    if (htm !== request.method || htu !== targetOf(urlAsked(request)) || !isFresh) {
      return refuse('invalid_dpop_proof')
    }
    if (nonce !== undefined && payload['nonce'] !== nonce) return refuse('use_dpop_nonce', nonce)
    const { jwk = {} } = protectedHeader
    return { jkt: await calculateJwkThumbprint(jwk) }
  } catch {
    return refuse('invalid_dpop_proof')
  }
}

function refuse(error: string, nonce?: string): Response {
  const headers: Record<string, string> = nonce === undefined ? {} : { 'dpop-nonce': nonce }
  return Response.json({ error }, { status: 400, headers })
}

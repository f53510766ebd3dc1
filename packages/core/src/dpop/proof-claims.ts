import { sha256 } from '@portcullis/kit/digest'
import { type JsonObject, member, parseJsonObject } from '@portcullis/kit/json'

import { unreadablePayload } from '../claims/details.ts'
import { AuthError } from '../refusal/errors.ts'
import {
  longProofId,
  malformedProof,
  otherMethod,
  otherToken,
  otherUrl,
  unreadableProofClaim,
  wrongProofTime,
} from './details.ts'
import type { DpopProof, PresentedProof } from './proof-check.ts'
import type { UrlCheck } from './target-url.ts'

// Compares the signed claims of a DPoP proof with the request that it came with.

/** What the claims of every proof must satisfy. Times are seconds. */
export interface ProofRules {
  readonly maxAge: number
  readonly clockTolerance: number
  /** How far `iat` and `nbf` may be ahead. */
  readonly toleranceAhead: number
  readonly isUrlOf: UrlCheck
  /** As configured, for what a refusal tells developers. */
  readonly origins: readonly string[]
}

/** What is left of a proof whose claims hold. The nonce is not checked. */
export type ProvenRequest = Pick<DpopProof, 'jti' | 'expires'> & { readonly nonce: unknown }

/** Characters. Clients write 22 to 43. */
const LONGEST_ID = 256

/**
 * Compares the payload of a proof whose signature was checked with the request. Does NOT check the nonce, nor whether it was used before.
 *
 * @param now Seconds since 1970-01-01T00:00:00Z.
 * @throws AuthError `malformed_proof`, `proof_method`, `proof_url`, `proof_time` or `proof_token`, in this order.
 * @see RFC 9449 section 4.3, checks 3, 8, 9, 11 and 12
 */
export function checkProofClaims(
  payload: Buffer,
  { method, target, token }: Omit<PresentedProof, 'proof'>,
  rules: ProofRules,
  now: number,
): ProvenRequest {
  const claims = parseJsonObject(payload)
  if (claims === undefined) {
    const detail = malformedProof(unreadablePayload)
    throw new AuthError('invalid_dpop_proof', 'malformed_proof', detail)
  }
  const jti = checkId(claims)
  const [htm, htu] = [member(claims, 'htm'), member(claims, 'htu')]
  // Methods are case-sensitive: RFC 9110 section 9.1.
  if (typeof htm !== 'string' || htm !== method) {
    throw new AuthError('invalid_dpop_proof', 'proof_method', otherMethod(htm, method))
  }
  if (!rules.isUrlOf(htu, target)) {
    throw new AuthError('invalid_dpop_proof', 'proof_url', otherUrl(htu, rules.origins))
  }
  const expires = checkTimes(claims, rules, now)
  const ath = member(claims, 'ath')
  if (typeof token !== 'string' || ath !== sha256(token)) {
    throw new AuthError('invalid_dpop_proof', 'proof_token', otherToken(ath))
  }
  return { jti: sha256(jti), expires, nonce: member(claims, 'nonce') }
}

function checkId(claims: JsonObject): string {
  const jti = member(claims, 'jti')
  if (typeof jti !== 'string' || jti === '') {
    const detail = unreadableProofClaim('jti', jti, 'a string that is not empty')
    throw new AuthError('invalid_dpop_proof', 'malformed_proof', detail)
  }
  if (jti.length > LONGEST_ID) {
    const detail = longProofId(jti.length, LONGEST_ID)
    throw new AuthError('invalid_dpop_proof', 'malformed_proof', detail)
  }
  return jti
}

/** `iat` must be there; `exp` and `nbf` count where they are, as in every JWT. @returns The last second at which `iat` is acceptable. */
function checkTimes(
  claims: JsonObject,
  { maxAge, clockTolerance, toleranceAhead }: ProofRules,
  now: number,
): number {
  const check = (name: 'iat' | 'exp' | 'nbf', holds: (time: number) => boolean) => {
    const value = member(claims, name)
    // True of sound times only: if the clock shows no number, every proof is refused.
    if (typeof value === 'number' && holds(value)) return value
    const detail = wrongProofTime({ name, value, now, maxAge, clockTolerance, toleranceAhead })
    throw new AuthError('invalid_dpop_proof', 'proof_time', detail)
  }
  const iat = check('iat', (time) => {
    return now <= time + maxAge + clockTolerance && time <= now + toleranceAhead
  })
  if (Object.hasOwn(claims, 'exp')) check('exp', (time) => now < time + clockTolerance)
  if (Object.hasOwn(claims, 'nbf')) check('nbf', (time) => time <= now + toleranceAhead)
  return iat + maxAge + clockTolerance
}

import { parseObject } from '@portcullis/kit/json'
import { elapsed } from '@portcullis/kit/time'

import { TokenClientError } from '../answer/errors.ts'
import { statedType } from '../answer/http-answer.ts'
import { lifetimeOf } from '../answer/lifetime.ts'
import { boundKeyOf, membersOf, validityOf } from '../answer/token-response.ts'
import { UNKNOWN_LIFETIME } from '../login/held-token.ts'
import type { GrantedToken, ServiceAnswer } from '../request/token-request.ts'

// Reads the token in an answer of the token endpoint. The library would refuse what several servers write and nothing depends on.

/** @param end When the token ends at the latest, NumericDate. @throws TokenClientError; whatever reading the body fails with. */
export async function readGrant(answer: ServiceAnswer, end: number): Promise<GrantedToken> {
  const { response, proof, receivedAt } = answer
  // Nothing else of it: an ID token would be verified, and a refresh token is of no use.
  const read = readMembers(parseObject(await answer.body()), response, proof !== undefined)
  if (typeof read === 'string') {
    const message = `the answer of the token service ${read}`
    throw new TokenClientError('unexpected_response', message, { responseStatus: response.status })
  }
  const { token, isProven } = read
  const lifetime = lifetimeIn(answer, read)
  const left = end - receivedAt.wall
  return {
    token,
    lifetime: left === Infinity ? lifetime : Math.min(lifetime ?? UNKNOWN_LIFETIME, left),
    // Of an opaque token, only the answer says that it is bound. RFC 9449 section 5
    isBoundTo: (jkt) => isProven && [undefined, jkt].some((each) => each === boundKeyOf(token)),
    isRenewable: (lifetime ?? UNKNOWN_LIFETIME) < left,
  }
}

interface Granted {
  readonly token: string
  readonly isProven: boolean
  /** Seconds. */
  readonly expiresIn: number | undefined
}

/** What can stand in a header behind the scheme: VSCHAR of RFC 6749 appendix A.12, without the space. */
const TOKEN = /^[\x21-\x7e]+$/

/** How servers write RFC 6750, in any case. */
const BEARER: ReadonlySet<unknown> = new Set(['bearer', 'bearertoken'])

/** What an exchange may have issued to be sent as an access token. RFC 8693 section 3 */
const ACCESS_TOKENS: ReadonlySet<unknown> = new Set([
  'urn:ietf:params:oauth:token-type:access_token',
  'urn:ietf:params:oauth:token-type:jwt',
])

/** What an answer grants, or why nothing. `hasProof`: the token must be bound to its key. RFC 6749 section 5.1; RFC 8693 section 2.2.1 */
function readMembers(
  value: object | undefined,
  { status, headers }: Response,
  hasProof: boolean,
): Granted | string {
  if (status !== 200) return `has the status ${status}: expected 200`
  if (value === undefined) {
    const found = statedType(headers.get('content-type'))
    return `is no JSON object with each member once (${found}): expected one with access_token and token_type`
  }
  const own = (name: string) => membersOf(value, [name])[0]
  const token = own('access_token')
  if (token === undefined) return 'has no access_token'
  if (typeof token !== 'string' || !TOKEN.test(token)) {
    return 'has an access_token that no header can have: expected a text of visible ASCII characters'
  }
  const stated = own('token_type')
  const type = typeof stated === 'string' ? stated.toLowerCase() : stated
  if (type === undefined && hasProof) return 'has no token_type: expected DPoP, since dpop is set'
  if (type === 'dpop' && !hasProof) {
    return 'has the token_type DPoP: expected Bearer, since dpop is not set'
  }
  if (type !== undefined && type !== 'dpop' && !BEARER.has(type)) {
    return `has another token_type: expected ${hasProof ? 'DPoP' : 'Bearer'}`
  }
  const issuedType = own('issued_token_type')
  if (issuedType !== undefined && !ACCESS_TOKENS.has(issuedType)) {
    return `has an issued_token_type that is no access token: expected one of ${[...ACCESS_TOKENS].join(', ')}`
  }
  const expiresIn = secondsIn(own('expires_in'))
  if (expiresIn !== undefined && !(expiresIn < Infinity)) {
    return 'has an expires_in that is no number of seconds from 0'
  }
  return { token, isProven: type === 'dpop', expiresIn }
}

/** Some servers write the number as a text, or an empty text for none. `NaN` for anything else. */
function secondsIn(value: unknown): number | undefined {
  if (value === undefined || value === '') return undefined
  if (typeof value === 'number') return value >= 0 ? value : NaN
  return typeof value === 'string' && /^\d+(?:\.\d+)?$/.test(value) ? Number(value) : NaN
}

/**
 * Seconds from the answer on, the earlier of what the answer and a JWT itself say: a gateway may write a constant, a server milliseconds.
 * `expires_in` counts from when the server wrote it: the machine may have been suspended since. A JWT that has expired by our clock
 * alone lasts as long as from `iat` to `exp`.
 */
function lifetimeIn(
  { sentAt, receivedAt, clockSkew }: ServiceAnswer,
  { token, expiresIn }: Granted,
): number | undefined {
  const ofToken = lifetimeOf(token, receivedAt.wall, clockSkew)
  if (expiresIn === undefined) return ofToken
  const left = expiresIn - elapsed(sentAt, receivedAt)
  if (ofToken === undefined) return left
  if (ofToken > 0) return Math.min(left, ofToken)
  const validity = validityOf(token)
  return Math.min(left, validity === Infinity ? UNKNOWN_LIFETIME : validity)
}

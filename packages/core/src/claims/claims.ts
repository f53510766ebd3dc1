import {
  type JsonObject,
  member,
  parseJsonObject,
  textMember,
  withoutNulls,
} from '@portcullis/kit/json'
import { isInSeconds } from '@portcullis/kit/time'

import { AuthError } from '../refusal/errors.ts'
import type { Claims } from './auth.ts'
import {
  missingClaims,
  missingExpiry,
  missingIssueTime,
  noTime,
  notNumber,
  notSeconds,
  otherAudience,
  otherIssuer,
  unreadablePayload,
  type WrongTime,
  wrongTime,
} from './details.ts'
import { checkKind } from './kind.ts'
import { checkValues, type RequiredClaim } from './required-claims.ts'
import { checkTenant, isIssuerOfTenant, isTenantRule, type TenantRule } from './tenants.ts'

// Step 5 of the verifier: reads the payload of a proven token and checks the claims that every token must have right.

/** Times are seconds. Plain data, since claims of unproven tokens are judged by it as well: no function of the user's. */
export interface ClaimRules {
  /** Not so for what an issuer says in another token, such as an event: there `null` is absent, and `events` are no fault. */
  readonly isAccessToken: boolean
  /** The accepted values, those of the tenants of one provider, or `null` for any. */
  readonly issuer: readonly string[] | TenantRule | null
  /** With `null` in the list, also a token that names no audience at all. */
  readonly audience: readonly (string | null)[] | null
  readonly clockTolerance: number
  readonly requireExpiry: boolean
  readonly maxTokenAge: number | undefined
  readonly requiredClaims: readonly RequiredClaim[]
}

/** An `iat` may always be this far ahead, in seconds: clocks differ, and a later `iat` does not make a token valid for longer. */
const IAT_TOLERANCE = 60

/**
 * Reads the payload of a token and checks its claims: of an unproven one, for a yes or no and for explanations alone.
 *
 * @param now Seconds since 1970-01-01T00:00:00Z. @param isKindStated See {@link statesKind}.
 * @throws AuthError `malformed`, `type`, `issuer`, `audience`, `missing_claim`, `claim` for a time that is none, `expired`,
 *   `not_yet_valid`, `issued_in_future`, `too_old`, or `claim` for another value, in this order.
 * @see RFC 7519 sections 4.1 and 7.2; RFC 8725 sections 3.8 and 3.9
 */
export function checkClaims(
  payload: Buffer,
  rules: ClaimRules,
  now: number,
  isKindStated = false,
): Claims {
  const claims = readClaims(payload, rules)
  checkClaimSet(claims, rules, now, isKindStated)
  return claims
}

/** Only of a payload that is proven: nothing of the claims is checked. @throws AuthError `malformed` */
export function readClaims(payload: Buffer, { isAccessToken }: ClaimRules): Claims {
  const claims = parseJsonObject(payload)
  if (claims === undefined) throw new AuthError('invalid_token', 'malformed', unreadablePayload)
  return isAccessToken ? claims : withoutNulls(claims)
}

/** Step 5 for claims that were proven, and read as strictly, elsewhere. @throws AuthError as {@link checkClaims}, but for `malformed`. */
export function checkClaimSet(
  claims: JsonObject,
  rules: ClaimRules,
  now: number,
  isKindStated = false,
): void {
  if (rules.isAccessToken) checkKind(claims, isKindStated)
  // First whose token it is and for whom: what else is wrong with a token of others says nothing about the tokens of this issuer.
  checkIssuer(claims, rules.issuer)
  checkAudience(claims, rules.audience)
  checkPresence(claims, rules)
  checkTimes(claims, rules, now)
  checkValues(claims, rules)
}

/** Whether a key is all that a token lacks: so that it may ask for newer ones, and for nothing else. No claim leaves this function. */
export function couldBeAccepted(
  payload: Buffer,
  rules: ClaimRules,
  now: number,
  isKindStated = false,
): boolean {
  try {
    checkClaims(payload, rules, now, isKindStated)
    return true
  } catch (error) {
    if (error instanceof AuthError) return false
    throw error
  }
}

/** Characters. */
const LONGEST_ISSUER = 1024

/** The `iss` of an unproven token, if it could be a configured one: for `byIssuer` alone, to select, never to show, keep or fetch from. */
export function unprovenIssuer(payload: Buffer): string | undefined {
  const iss = textMember(parseJsonObject(payload) ?? {}, 'iss')
  return isIssuerName(iss) ? iss : undefined
}

export function isIssuerName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= LONGEST_ISSUER
}

/** Issued after a time (seconds), by more than clocks may differ. Only for a token that a key proves. No claim leaves this function. */
export function wasIssuedAfter(
  payload: Buffer,
  { clockTolerance }: ClaimRules,
  time: number,
): boolean {
  const iat = member(parseJsonObject(payload) ?? {}, 'iat')
  return typeof iat === 'number' && iat > time + clockTolerance
}

export function checkPresence(claims: JsonObject, rules: ClaimRules): void {
  const { requireExpiry, maxTokenAge, requiredClaims } = rules
  const isPresent = (name: string) => Object.hasOwn(claims, name)
  if (requireExpiry && !isPresent('exp')) {
    throw new AuthError('invalid_token', 'missing_claim', missingExpiry)
  }
  if (maxTokenAge !== undefined && !isPresent('iat')) {
    throw new AuthError('invalid_token', 'missing_claim', missingIssueTime)
  }
  if (requiredClaims.every(({ name }) => isPresent(name))) return
  const missing = requiredClaims.filter(({ name }) => !isPresent(name))
  throw new AuthError('invalid_token', 'missing_claim', missingClaims(missing))
}

/** What time alone can change. @throws AuthError `claim`, `expired`, `not_yet_valid`, `issued_in_future` or `too_old` */
export function checkTimes(claims: JsonObject, rules: ClaimRules, now: number): void {
  const { clockTolerance, maxTokenAge } = rules
  // If the clock or a rule is not a number, the token must be refused: each condition below is true of sound tokens only.
  if (!Number.isFinite(now)) throw new AuthError('invalid_token', 'expired', noTime(now))
  const exp = numericDate(claims, 'exp')
  const nbf = numericDate(claims, 'nbf')
  const iat = numericDate(claims, 'iat')
  // RFC 7519 section 4.1.4: at the time `exp` itself the token has expired.
  if (exp !== undefined && !(now < exp + clockTolerance)) {
    throw untimely('expired', { name: 'exp', at: exp, now, iat }, clockTolerance)
  }
  if (nbf !== undefined && !(now + clockTolerance >= nbf)) {
    throw untimely('not_yet_valid', { name: 'nbf', at: nbf, now, iat }, clockTolerance)
  }
  if (iat === undefined) return
  const tolerance = Math.max(clockTolerance, IAT_TOLERANCE)
  if (!(iat <= now + tolerance)) {
    const time = { name: 'iat', at: iat, now, iat } as const
    throw untimely('issued_in_future', time, tolerance, 'the tolerance of clocks')
  }
  if (maxTokenAge !== undefined && !(now - iat <= maxTokenAge + clockTolerance)) {
    throw untimely('too_old', { name: 'iat', at: iat, now, iat }, maxTokenAge, 'maxTokenAge')
  }
}

type Untimely = 'expired' | 'not_yet_valid' | 'issued_in_future' | 'too_old'

/** @param limit Of the rule of that name, which the time goes beyond. */
function untimely(
  reason: Untimely,
  time: Omit<WrongTime, 'limit'>,
  limit: number,
  rule = 'clockTolerance',
): AuthError {
  return new AuthError('invalid_token', reason, wrongTime({ ...time, limit: [rule, limit] }))
}

export function isTimely(claims: JsonObject, rules: ClaimRules, now: number): boolean {
  try {
    checkTimes(claims, rules, now)
    return true
  } catch (error) {
    if (error instanceof AuthError) return false
    throw error
  }
}

/** Seconds, RFC 7519 section 2: in other units the token would never expire. `parseJsonObject` has refused those that are not finite. */
function numericDate(claims: JsonObject, name: 'exp' | 'nbf' | 'iat'): number | undefined {
  if (!Object.hasOwn(claims, name)) return undefined
  const value = claims[name]
  if (typeof value !== 'number')
    throw new AuthError('invalid_token', 'claim', notNumber(name, value))
  if (!isInSeconds(value)) throw new AuthError('invalid_token', 'claim', notSeconds(name, value))
  return value
}

/** Equal to one of the configured texts. An array that contains one, or a longer text that begins with one, is refused. */
export function checkIssuer(claims: JsonObject, issuer: ClaimRules['issuer']): void {
  if (issuer === null) return
  if (isTenantRule(issuer)) {
    checkTenant(claims, issuer)
    return
  }
  const iss = member(claims, 'iss')
  if (!issuer.some((each) => each === iss)) {
    throw new AuthError('invalid_token', 'issuer', otherIssuer(claims, issuer))
  }
}

/** Whether tokens with this `iss` are of an issuer that is stated. */
export function statesIssuer({ issuer }: ClaimRules, iss: string): boolean {
  if (issuer === null) return false
  return isTenantRule(issuer) ? isIssuerOfTenant(iss, issuer) : issuer.includes(iss)
}

/** One of the texts is the configured one. An empty list names nobody, as a claim that is missing does; any other value names somebody. */
export function checkAudience(claims: JsonObject, audience: ClaimRules['audience']): void {
  if (audience === null) return
  const aud = member(claims, 'aud')
  const stated: readonly unknown[] = Array.isArray(aud) ? aud : [aud]
  const isMissing = aud === undefined || stated.length === 0
  if (isMissing && audience.includes(null)) return
  // A list is of texts alone, so that its `null` is none of ours.
  const areTexts = stated.every((each): each is string => typeof each === 'string')
  if (!areTexts || !stated.some((each) => audience.includes(each))) {
    throw new AuthError('invalid_token', 'audience', otherAudience(claims, audience))
  }
}

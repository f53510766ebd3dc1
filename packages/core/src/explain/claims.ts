import { type JsonObject, member } from '@portcullis/kit/json'

import type { Possession } from '../claims/auth.ts'
import {
  checkAudience,
  checkIssuer,
  checkPresence,
  checkTimes,
  type ClaimRules,
} from '../claims/claims.ts'
import { unreadablePayload } from '../claims/details.ts'
import { checkValues } from '../claims/required-claims.ts'
import { type Binding, checkBinding, possessionOf } from '../possession/binding.ts'
import { AuthError } from '../refusal/errors.ts'
import type { VerifierOptions } from '../verifier/verifier-options.ts'
import { audienceText, confirmedText, distanceOf, issuerText, withDate } from './details.ts'
import { attempt, type Attempt, failed, type Finding, passed, skipped } from './finding.ts'

// Findings about claims: one for each rule, where a verifier stops at the first that a token breaks; and about what a token is bound to.

/** Each finding by the verifier's own step, given the one claim and the one rule that it is about. The verdict is `checkClaims`'s alone. */
export function claimFindings(
  claims: JsonObject | undefined,
  rules: ClaimRules,
  now: number,
): readonly Finding[] {
  if (claims === undefined) {
    return [failed('payload', new AuthError('invalid_token', 'malformed', unreadablePayload))]
  }
  const required = requiredFinding(claims, rules)
  const exp = expFinding(claims, rules, now)
  const nbf = nbfFinding(claims, rules, now)
  const iat = iatFinding(claims, rules, now)
  // A verifier looks for what is missing before it reads times, and reads all of them before it compares one.
  const first = [
    ...[exp, iat, required].filter(({ reason }) => reason === 'missing_claim'),
    ...[exp, nbf, iat].filter(({ reason }) => reason === 'claim'),
  ]
  return [
    statedFinding('issuer', claims, rules.issuer, checkIssuer, issuerText(claims)),
    statedFinding('audience', claims, rules.audience, checkAudience, audienceText(claims)),
    ...first,
    ...[required, exp, nbf, iat].filter((each) => !first.includes(each)),
    valuesFinding(claims, rules),
  ].filter((each) => !isIdle(each))
}

/** Complete, so that a finding about one rule has no refusal of another one. */
const NOTHING_REQUIRED = {
  isAccessToken: true,
  requireExpiry: false,
  maxTokenAge: undefined,
  requiredClaims: [],
} satisfies Omit<ClaimRules, 'issuer' | 'audience' | 'clockTolerance'>

/** Nothing is said of options that were not stated. */
function isIdle({ check, outcome }: Finding): boolean {
  return outcome === 'skipped' && (check === 'required' || check === 'values')
}

function requiredFinding(claims: JsonObject, rules: ClaimRules): Finding {
  const { requiredClaims } = rules
  if (requiredClaims.length === 0) return skipped('required', 'none')
  const { refusal } = attempt(() => {
    checkPresence(claims, { ...rules, ...NOTHING_REQUIRED, requiredClaims })
  })
  return refusal === undefined ? passed('required', 'all are there') : failed('required', refusal)
}

/** Of those that are there. */
function valuesFinding(claims: JsonObject, rules: ClaimRules): Finding {
  const requiredClaims = rules.requiredClaims.filter(
    ({ name, values }) => values !== 'any' && Object.hasOwn(claims, name),
  )
  if (requiredClaims.length === 0) return skipped('values', 'none')
  const { refusal } = attempt(() => {
    checkValues(claims, { requiredClaims })
  })
  return refusal === undefined
    ? passed('values', 'as required')
    : failed('values', refusal, 'not what is required')
}

function expFinding(claims: JsonObject, rules: ClaimRules, now: number): Finding {
  const { requireExpiry, clockTolerance } = rules
  const { refusal: missing } = attempt(() => {
    checkPresence(claims, { ...rules, ...NOTHING_REQUIRED, requireExpiry })
  })
  if (missing !== undefined) return failed('exp', missing)
  if (!Object.hasOwn(claims, 'exp')) return skipped('exp', 'there is none: it never expires')
  return timeFinding('exp', claims, { ...rules, maxTokenAge: undefined }, now, clockTolerance)
}

function nbfFinding(claims: JsonObject, rules: ClaimRules, now: number): Finding {
  if (!Object.hasOwn(claims, 'nbf')) return skipped('nbf', 'there is none')
  return timeFinding('nbf', claims, rules, now, rules.clockTolerance)
}

function iatFinding(claims: JsonObject, rules: ClaimRules, now: number): Finding {
  const { maxTokenAge } = rules
  const { refusal: missing } = attempt(() => {
    checkPresence(claims, { ...rules, ...NOTHING_REQUIRED, maxTokenAge })
  })
  if (missing !== undefined) return failed('iat', missing)
  if (!Object.hasOwn(claims, 'iat')) return skipped('iat', 'there is none')
  return timeFinding('iat', claims, rules, now, undefined)
}

function timeFinding(
  name: 'exp' | 'nbf' | 'iat',
  claims: JsonObject,
  rules: ClaimRules,
  now: number,
  tolerance: number | undefined,
): Finding {
  const at = member(claims, name)
  const { refusal } = attempt(() => {
    checkTimes({ [name]: at }, rules, now)
  })
  if (typeof at !== 'number') return refusal ? failed(name, refusal) : skipped(name, 'no number')
  if (refusal?.reason === 'claim') {
    return failed(name, refusal, 'not in seconds', `${refusal.detail}: ${at}`)
  }
  const summary = distanceOf(at, now, refusal === undefined ? undefined : tolerance)
  const detail = withDate(at, summary)
  return refusal === undefined
    ? passed(name, summary, detail)
    : failed(name, refusal, summary, detail)
}

function statedFinding<Expected>(
  check: 'issuer' | 'audience',
  claims: JsonObject,
  expected: Expected | null,
  step: (claims: JsonObject, expected: Expected) => void,
  found: string,
): Finding {
  if (expected === null) return skipped(check, 'not checked', `not checked; ${found}`)
  const { refusal } = attempt(() => {
    step(claims, expected)
  })
  return refusal === undefined
    ? passed(check, 'as expected', found)
    : failed(check, refusal, 'not what is expected')
}

/** What comes of the comparison of `cnf` with what a sender has proven, by the step of the verifier. */
export function attemptBinding(
  claims: JsonObject | undefined,
  binding: Binding | undefined,
  possession: Possession | undefined,
  { confirmation = 'require' }: VerifierOptions,
): Attempt<void> {
  return attempt(() => {
    if (claims !== undefined) checkBinding(binding, possessionOf(possession), confirmation)
  })
}

/** None for a token that is bound to nothing, unless a proof came with it. */
export function bindingFindings(
  binding: Binding | undefined,
  { confirmation = 'require' }: VerifierOptions,
  { refusal }: Attempt<void>,
): readonly Finding[] {
  if (refusal !== undefined) return [failed('binding', refusal)]
  if (binding === undefined) return []
  const detail = confirmedText(binding)
  return confirmation === 'ignore'
    ? [skipped('binding', 'not checked: confirmation is ignore', `not checked; ${detail}`)]
    : [passed('binding', 'its sender has proven to possess what it is bound to', detail)]
}

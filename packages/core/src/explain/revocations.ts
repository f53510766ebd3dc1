import type { JsonObject } from '@portcullis/kit/json'
import { systemClock } from '@portcullis/kit/time'

import { checkTimes, type ClaimRules } from '../claims/claims.ts'
import type { AuthError } from '../refusal/errors.ts'
import { createRevocationCheck } from '../revocation/revocation-check.ts'
import type { VerifierOptions } from '../verifier/verifier-options.ts'
import {
  attempt,
  type Attempt,
  attemptLater,
  failed,
  type Finding,
  passed,
  skipped,
} from './finding.ts'

// Findings about revocations.

/** The claims, if they have the form of claims. They may be refused all the same. */
export function claimsInForm(
  claims: JsonObject | undefined,
  rules: ClaimRules,
  now: number,
): JsonObject | undefined {
  if (claims === undefined) return undefined
  const { refusal } = attempt(() => {
    checkTimes(claims, rules, now)
  })
  return refusal?.reason === 'claim' ? undefined : claims
}

export interface AskedAbout {
  /** `undefined` where no key proves them or their form is wrong: a source is told of nothing else. */
  readonly claims: JsonObject | undefined
  readonly token: string
  readonly now: number
  readonly signal: AbortSignal | undefined
}

/** Asks the revocations as the verifier does, also about a token that is refused for another reason. @throws The signal's reason. */
export async function attemptRevocations(
  { revocations, clock = systemClock }: VerifierOptions,
  { claims, token, now, signal }: AskedAbout,
): Promise<Attempt<void>> {
  if (!revocations || claims === undefined) return UNASKED
  const source = createRevocationCheck(revocations, clock)
  return await attemptLater(async () => {
    await source.check({ claims, token }, now, signal)
  })
}

const UNASKED: Attempt<void> = { value: undefined, refusal: undefined }

/** None for a verifier without revocations. */
export function revocationFindings(
  { revocations }: VerifierOptions,
  claims: JsonObject | undefined,
  refusal: AuthError | undefined,
): readonly Finding[] {
  if (!revocations) return []
  if (claims === undefined) {
    return [skipped('revocations', 'not checked: there are no proven claims to ask about')]
  }
  return [
    refusal === undefined ? passed('revocations', 'not revoked') : failed('revocations', refusal),
  ]
}

import { type Clock, type Instant, instant, systemClock } from '@portcullis/kit/time'

import type { ClaimRules } from '../claims/claims.ts'
import type { AcceptedTypes } from '../claims/details.ts'
import { requiredClaimsOf } from '../claims/required-claims.ts'
import type { Schema } from '../claims/schema.ts'
import { isIssuerTemplate, tenantRuleOf } from '../claims/tenants.ts'
import { createRevocationCheck, type RevocationCheck } from '../revocation/revocation-check.ts'
import type { ProvenRules, VerifierOptions } from './verifier-options.ts'

// Makes of the checked options what the steps of a verifier read.

/** The options of a verifier that have a meaning whatever proves its tokens, in the form that its steps read. */
export interface VerifierParts {
  readonly rules: ClaimRules
  /** Octets. */
  readonly maxTokenSize: number
  readonly confirmation: 'require' | 'ignore'
  readonly schema: Schema<unknown> | undefined
  readonly revocations: RevocationCheck | undefined
  /** Also as `null`. */
  readonly statesRevocations: boolean
  readonly moment: () => Instant
  /** What times of tokens are compared with. Seconds since 1970-01-01T00:00:00Z. */
  readonly now: () => number
  /** The same at a moment that was just told: to read a clock costs as much as to find a token. */
  readonly timeAt: (moment: Instant) => number
  readonly clock: Clock
}

/** @param stated Own members, checked. @param proverMoment Of what proves tokens: times are judged by it if no clock is stated. */
export function partsOf(
  stated: Omit<ProvenRules, 'issuer'> & Pick<VerifierOptions, 'issuer'>,
  isAccessToken: boolean,
  proverMoment?: () => Instant,
): VerifierParts {
  const clock = stated.clock ?? systemClock
  const moment = proverMoment ?? (() => instant(clock))
  const now = stated.clock === undefined ? () => moment().wall : () => clock.now()
  return {
    rules: { ...rulesOf(stated), isAccessToken },
    maxTokenSize: stated.maxTokenSize ?? 16_384,
    confirmation: stated.confirmation ?? 'require',
    schema: stated.schema,
    revocations: stated.revocations ? createRevocationCheck(stated.revocations, clock) : undefined,
    statesRevocations: stated.revocations !== undefined,
    moment,
    now,
    timeAt: stated.clock === undefined ? ({ wall }) => wall : now,
    clock,
  }
}

export function rulesOf({
  issuer,
  audience,
  clockTolerance = 5,
  requireExpiry = true,
  maxTokenAge,
  requiredClaims = [],
}: Omit<VerifierOptions, 'keys'>): ClaimRules {
  return {
    isAccessToken: true,
    issuer: isIssuerTemplate(issuer) ? tenantRuleOf(issuer) : listed(issuer),
    audience: listed(audience),
    clockTolerance,
    requireExpiry,
    maxTokenAge,
    requiredClaims: requiredClaimsOf(requiredClaims),
  }
}

/** The accepted values of `typ`, or `undefined` for everything but another kind of token. */
export function typesOf({ type }: VerifierOptions): AcceptedTypes | undefined {
  return type === undefined ? undefined : [type].flat()
}

function listed<Value>(
  value: string | readonly Value[] | null,
): readonly (string | Value)[] | null {
  if (value === null) return null
  return typeof value === 'string' ? [value] : [...value]
}

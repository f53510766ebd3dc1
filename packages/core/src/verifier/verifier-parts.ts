import { ownMembers } from '@portcullis/kit/options'
import { type Clock, type Instant, systemClock } from '@portcullis/kit/time'

import { acceptedAlgorithms, algorithmNamesOf } from '../algorithms/accepted-algorithms.ts'
import type { AcceptedAlgorithms } from '../algorithms/algorithms.ts'
import type { ClaimRules } from '../claims/claims.ts'
import type { Schema } from '../claims/schema.ts'
import { type KeySourceMethods, methodsOf } from '../keys/key-source.ts'
import { createRevocationCheck, type RevocationCheck } from '../revocation/revocation-check.ts'
import { createProver, type Prover } from './prover.ts'
import { createVerifiedTokens, type VerifiedTokens } from './verified-tokens.ts'
import { rulesOf, type SchemaOptions, typesOf, type VerifierOptions } from './verifier-options.ts'

// Makes of the checked options what the steps of a verifier read, and what they remember.

/** What one verifier works with: its options in the form that its steps read, and what it remembers. */
export interface VerifierParts {
  readonly keys: KeySourceMethods
  readonly accepted: AcceptedAlgorithms
  /** Octets. */
  readonly maxTokenSize: number
  readonly rules: ClaimRules
  readonly types: readonly string[] | undefined
  readonly confirmation: 'require' | 'ignore'
  readonly schema: Schema<unknown> | undefined
  readonly revocations: RevocationCheck | undefined
  /** Steps 2 to 4. */
  readonly prove: Prover
  readonly verifiedTokens: VerifiedTokens | undefined
  /** What times of tokens are compared with. Seconds since 1970-01-01T00:00:00Z. */
  readonly now: () => number
  /** The same at a moment that the keys have just told: to read a clock costs as much as to find a token. */
  readonly timeAt: (moment: Instant) => number
  /** What waits are measured with. */
  readonly clock: Clock
}

/**
 * @param options Options that `checkVerifierOptions` has checked.
 * @param isAccessToken See {@link ClaimRules}.
 */
export function partsOf(
  options: VerifierOptions & Partial<SchemaOptions<unknown>>,
  isAccessToken: boolean,
): VerifierParts {
  const stated = ownMembers(options)
  const {
    maxTokenSize = 16_384,
    remember = { max: 1000 },
    confirmation = 'require',
    schema,
  } = stated
  const clock = stated.clock ?? systemClock
  const keys = methodsOf(stated.keys)
  const now = stated.clock === undefined ? () => keys.now().wall : () => clock.now()
  const rules = { ...rulesOf(stated), isAccessToken }
  const types = typesOf(stated)
  const accepted = acceptedAlgorithms(stated.algorithms)
  const algorithmNames = algorithmNamesOf(stated.algorithmNames)
  return {
    keys,
    accepted,
    maxTokenSize,
    rules,
    types,
    confirmation,
    schema,
    revocations: stated.revocations && createRevocationCheck(stated.revocations, clock),
    prove: createProver({ keys, accepted, algorithmNames, maxTokenSize, rules, types, now, clock }),
    verifiedTokens: remember === false ? undefined : createVerifiedTokens(remember.max),
    now,
    timeAt: stated.clock === undefined ? ({ wall }) => wall : now,
    clock,
  }
}

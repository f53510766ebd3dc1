import type { JsonObject } from '@portcullis/kit/json'

import type { Possession } from '../claims/possession.ts'
import { type Binding, checkBinding, possessionOf } from '../possession/binding.ts'
import type { VerifierOptions } from '../verifier/verifier-options.ts'
import { confirmedText } from './details.ts'
import { attempt, type Attempt, failed, type Finding, passed, skipped } from './finding.ts'

// Findings about what a token is bound to.

/** What comes of the comparison of `cnf` with what a sender has proven, by the step of the verifier. */
export function attemptBinding(
  claims: JsonObject | undefined,
  binding: Binding | undefined,
  possession: Possession | undefined,
  { confirmation = 'require' }: VerifierOptions,
): Attempt<void> {
  return attempt(() => {
    if (claims === undefined) return
    const auth = { claims, header: { alg: '' }, token: '' }
    checkBinding(auth, binding, possessionOf(possession), confirmation)
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

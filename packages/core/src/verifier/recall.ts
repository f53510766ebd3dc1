import { isTimely } from '../claims/claims.ts'
import { verdicts } from '../report/diagnostics.ts'
import type { Internals } from './internals.ts'
import { isStillTrusted } from './verified-tokens.ts'
import type { VerifierParts } from './verifier-parts.ts'

// What a guard asks first: whether the verifier has accepted this token before and still does. Then no promise is needed.

/** Makes what a guard asks first: whether a token that was accepted before is accepted now. */
export function createRecall({
  keys,
  accepted,
  rules,
  timeAt,
  schema,
  revocations,
  verifiedTokens,
}: VerifierParts): Internals['recall'] {
  return (token) => {
    // A guard that subscribers observe, or whose schema may take its time, has `verify` asked about each token.
    if (schema !== undefined || verdicts.isObserved()) return undefined
    const known = verifiedTokens?.find(token)
    // What a token is bound to is compared with what its sender has proven, which nobody knows here. Where it need not be proven,
    // the `Auth` says all the same that it was.
    if (known === undefined || known.binding !== undefined) return undefined
    const arrived = keys.now()
    const ring = keys.current(arrived)
    if (ring === undefined || !isStillTrusted(known, ring, accepted)) return undefined
    const { claims } = known.auth
    const time = timeAt(arrived)
    const isAccepted =
      isTimely(claims, rules, time) && revocations?.isValidNow(claims, time) !== false
    return isAccepted ? known.auth : undefined
  }
}

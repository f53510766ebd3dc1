import { isTimely } from '../claims/claims.ts'
import type { Internals } from './internals.ts'
import { publishRemembered } from './observed-verdict.ts'
import { isStillTrusted } from './verified-tokens.ts'
import type { VerifierParts } from './verifier-parts.ts'

// What a guard asks first: whether the verifier has accepted this token before and still does. Then no promise is needed.

/**
 * Makes what a guard asks first: whether a token that was accepted before is accepted now. Such a verdict is published here,
 * because `verify` is not asked.
 */
export function createRecall(
  { keys, accepted, rules, timeAt, schema, revocations, verifiedTokens }: VerifierParts,
  verifier: () => object,
): Internals['recall'] {
  return (token, waitUntil) => {
    // A schema may take its time.
    if (schema !== undefined) return undefined
    const known = verifiedTokens?.find(token)
    // What a token is bound to is compared with what its sender has proven, which nobody knows here. Where it need not be proven,
    // the `Auth` says all the same that it was.
    if (known === undefined || known.binding !== undefined) return undefined
    const arrived = keys.now()
    const ring = keys.current(arrived, waitUntil)
    if (ring === undefined || !isStillTrusted(known, ring, accepted)) return undefined
    const { claims } = known.auth
    const time = timeAt(arrived)
    const isAccepted =
      isTimely(claims, rules, time) && revocations?.isValidNow(known.auth, time) !== false
    if (!isAccepted) return undefined
    publishRemembered(verifier, () => keys.now().monotonic - arrived.monotonic)
    return known.auth
  }
}

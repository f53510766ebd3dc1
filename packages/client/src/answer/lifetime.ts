import { expiryOf, validityOf } from './token-response.ts'

// How long a new token can be used, where the clock of the service differs from ours.

/**
 * The largest difference between the clocks that corrects a lifetime: five minutes, in seconds. A larger one is more likely
 * a proxy that writes a wrong `Date`, which must decide nothing.
 */
export const MAX_CLOCK_CORRECTION = 300

/** What of a difference between the clocks is corrected. Seconds. */
export function believed(skew: number): number {
  return Math.abs(skew) > MAX_CLOCK_CORRECTION ? 0 : skew
}

/**
 * How long a token that has just come can be used.
 *
 * The service's clock decides, as far as its `Date` is believed: not beyond `MAX_CLOCK_CORRECTION`, and not if the token
 * would have expired by that `Date` alone, because services do not give such tokens.
 *
 * @param now By our wall clock, when the token came.
 * @param clockSkew Seconds that the service's clock is ahead of ours.
 * @returns Seconds, never more than from `iat` to `exp`; `undefined` if the token has no `exp`.
 */
export function lifetimeOf(token: string, now: number, clockSkew: number): number | undefined {
  const expiry = expiryOf(token)
  if (expiry === undefined) return undefined
  const uncorrected = expiry - now
  const corrected = uncorrected - believed(clockSkew)
  const isExpiredByDateAlone = corrected <= 0 && uncorrected > 0
  return Math.min(isExpiredByDateAlone ? uncorrected : corrected, validityOf(token))
}

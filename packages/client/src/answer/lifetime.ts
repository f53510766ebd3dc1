import { expiryOf, validityOf } from './token-response.ts'

// How long a new token can be used, where the clock of the service differs from ours.

/** Seconds. A larger difference is more likely a proxy that writes a wrong `Date`, which must decide nothing. */
export const MAX_CLOCK_CORRECTION = 300

/** What of a difference between the clocks corrects a lifetime. Seconds. */
export function believed(skew: number): number {
  return Math.abs(skew) > MAX_CLOCK_CORRECTION ? 0 : skew
}

/**
 * Seconds, at most from `iat` to `exp`; `undefined` without `exp`. The service's clock decides, as far as its `Date` is believed, and
 * unless the token would have expired by that `Date` alone: services do not give such tokens.
 * @param clockSkew Seconds that the service's clock is ahead of ours.
 */
export function lifetimeOf(token: string, now: number, clockSkew: number): number | undefined {
  const expiry = expiryOf(token)
  if (expiry === undefined) return undefined
  const uncorrected = expiry - now
  const corrected = uncorrected - believed(clockSkew)
  const isExpiredByDateAlone = corrected <= 0 && uncorrected > 0
  return Math.min(isExpiredByDateAlone ? uncorrected : corrected, validityOf(token))
}

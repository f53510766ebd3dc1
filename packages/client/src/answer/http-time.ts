import { deltaSeconds, httpDate } from '@portcullis/kit/http'
import type { Instant } from '@portcullis/kit/time'

// How far the clock of a service is ahead of ours, as an answer says.

export type HeaderLookup = Pick<Headers, 'get'>

/** More than rounding and the adjustments of a clock that is kept in time: the machine was suspended, or its clock was set. */
const NOTABLE_JUMP = 1

/**
 * Seconds that the clock which wrote `Date` is ahead of ours; 0 if rounding and the way explain it, or the answer does not tell.
 * The way is measured monotonically. If the wall clock went further, the machine may have been suspended after `Date` was written.
 * @see RFC 9110 section 6.6.1
 */
export function clockSkewOf(headers: HeaderLookup, sentAt: Instant, receivedAt: Instant): number {
  const roundTrip = receivedAt.monotonic - sentAt.monotonic
  if (receivedAt.wall - sentAt.wall - roundTrip > NOTABLE_JUMP) return 0
  // A cache repeats the `Date` of the stored answer.
  if (isFromCache(headers)) return 0
  const skew = httpDate(headers.get('date')) + 0.5 - (receivedAt.wall - roundTrip / 2)
  return Math.abs(skew) > 1 + roundTrip / 2 ? skew : 0
}

/** An `Age` of 0 does not count: some proxies add it to every answer that they pass on. */
function isFromCache(headers: HeaderLookup): boolean {
  const age = headers.get('age')
  return age !== null && deltaSeconds(age.trim()) !== 0
}

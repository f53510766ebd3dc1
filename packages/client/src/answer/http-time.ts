import { deltaSeconds, httpDate } from '@portcullis/kit/http'
import type { Instant } from '@portcullis/kit/time'

// How far the clock of a service is ahead of ours, as an answer says.

/** The headers of an answer. */
export type HeaderLookup = Pick<Headers, 'get'>

/** More than rounding and the adjustments of a clock that is kept in time: the machine was suspended, or its clock was set. */
const NOTABLE_JUMP = 1

/**
 * How far the clock that wrote `Date` is ahead of ours, in seconds. 0 if the answer does not tell, or if the difference is
 * so small that the rounding of `Date` to whole seconds and the time on the way explain it.
 *
 * The time on the way is monotonic, since the wall clock may be set back meanwhile. If the wall clock went further, the answer
 * does not tell: the machine may have been suspended after `Date` was written, which looks like a clock that is behind.
 *
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

import type { Instant } from '@portcullis/kit/time'

// Reads the headers of an answer about time, strictly: `Date`, `Age` and `Retry-After`.

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
  const skew = parseHttpDate(headers.get('date')) + 0.5 - (receivedAt.wall - roundTrip / 2)
  return Math.abs(skew) > 1 + roundTrip / 2 ? skew : 0
}

/** An `Age` of 0 does not count: some proxies add it to every answer that they pass on. */
function isFromCache(headers: HeaderLookup): boolean {
  const age = headers.get('age')
  return age !== null && parseSeconds(age) !== 0
}

/**
 * What `Retry-After` asks for. A date is compared with the `Date` of the same answer, because one clock wrote both.
 *
 * Anything but one number of seconds or one IMF-fixdate counts as absent, and so does a date that has passed. There is no
 * upper limit here: `renewal.ts` sets it.
 *
 * @param now By our wall clock: used if there is no `Date`.
 * @returns Seconds, 0 or more.
 * @see RFC 9110 section 10.2.3
 */
export function retryAfterOf(headers: HeaderLookup, now: number): number | undefined {
  const text = headers.get('retry-after')
  const seconds = parseSeconds(text)
  if (!Number.isNaN(seconds)) return seconds
  const writtenAt = parseHttpDate(headers.get('date'))
  const left = parseHttpDate(text) - (Number.isNaN(writtenAt) ? now : writtenAt)
  return left >= 0 ? left : undefined
}

/**
 * Digits alone, so neither a sign, a fraction nor a list.
 *
 * @returns `NaN` for anything else.
 * @see RFC 9111 section 1.2.2
 */
function parseSeconds(text: string | null): number {
  const trimmed = text?.trim() ?? ''
  return /^\d+$/.test(trimmed) ? Number(trimmed) : NaN
}

/**
 * An IMF-fixdate alone: `Date.parse` guesses at anything, and takes what has no zone for local time.
 *
 * @returns Seconds since 1970-01-01T00:00:00Z; `NaN` for anything else.
 * @see RFC 9110 section 5.6.7
 */
function parseHttpDate(text: string | null): number {
  const trimmed = text?.trim() ?? ''
  const date = new Date(trimmed)
  return date.toUTCString() === trimmed ? date.getTime() / 1000 : NaN
}

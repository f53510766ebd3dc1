/** Where time comes from, so that tests can move it. */
export interface Clock {
  /** Wall time: seconds since 1970-01-01T00:00:00Z, fractions allowed. */
  now(): number
  /** Seconds since some fixed moment, never set back. */
  monotonic(): number
  /** Calls `fn` once, `seconds` from now; the answer cancels it. Used only while a login is under way. */
  after(seconds: number, fn: () => void): () => void
}

export const systemClock: Clock = {
  now: () => Date.now() / 1000,
  monotonic: () => performance.now() / 1000,
  after(seconds, fn) {
    const timer = setTimeout(fn, seconds * 1000)
    return () => {
      clearTimeout(timer)
    }
  },
}

/** One moment on both clocks. */
export interface Instant {
  readonly wall: number
  readonly monotonic: number
}

export function instant(clock: Clock): Instant {
  return { wall: clock.now(), monotonic: clock.monotonic() }
}

/**
 * How far the clock that wrote `Date` is ahead of ours, in seconds. It has whole seconds, and the moment it was written lies somewhere
 * within the round trip: less than that is no skew.
 *
 * @param roundTrip By the monotonic clock, since the other may be set meanwhile.
 * @see RFC 9110 section 6.6.1
 */
export function skewOf(date: string | null, receivedAt: number, roundTrip: number): number {
  const skew = parseHttpDate(date) + 0.5 - (receivedAt - roundTrip / 2)
  return Math.abs(skew) > 1 + roundTrip / 2 ? skew : 0
}

/**
 * What `Retry-After` asks for: seconds, or a date by the clock that wrote `Date`.
 *
 * @param now Stands in for a `Date` that is missing.
 * @see RFC 9110 section 10.2.3
 */
export function secondsUntil(
  retryAfter: string | null,
  date: string | null,
  now: number,
): number | undefined {
  if (/^\d{1,9}$/.test(retryAfter ?? '')) return Number(retryAfter)
  const writtenAt = parseHttpDate(date)
  const seconds = parseHttpDate(retryAfter) - (Number.isNaN(writtenAt) ? now : writtenAt)
  return seconds >= 0 ? seconds : undefined
}

/**
 * An IMF-fixdate alone: `Date.parse` guesses at anything, and takes what has no zone for local time.
 *
 * @returns Seconds since 1970-01-01T00:00:00Z, or `NaN`.
 * @see RFC 9110 section 5.6.7
 */
function parseHttpDate(text: string | null): number {
  const date = new Date(text ?? '')
  return date.toUTCString() === text ? date.getTime() / 1000 : NaN
}

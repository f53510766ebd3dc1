// The clock of a client. It is declared here, and not imported from core, because the client imports nothing of ours.

/** The source of time, replaceable for tests. */
export interface Clock {
  /** Wall time: seconds since 1970-01-01T00:00:00Z, fractions allowed. */
  now(): number
  /** Seconds since any fixed moment. It never goes back. */
  monotonic(): number
  /** Calls `fn` once, `seconds` from now; returns a function that cancels it. Used only while a login is under way. */
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

/** One moment, by both clocks. */
export interface Instant {
  readonly wall: number
  readonly monotonic: number
}

export function instant(clock: Clock): Instant {
  return { wall: clock.now(), monotonic: clock.monotonic() }
}

/** Seconds between two moments: the larger of what the two clocks say, since either may stand still or be set back. */
export function elapsed(since: Instant, now: Instant): number {
  return Math.max(now.wall - since.wall, now.monotonic - since.monotonic)
}

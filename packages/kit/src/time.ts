// The clock that everything takes its time from, and what is measured with it.

/** Where time comes from, so that tests can move it. */
export interface Clock {
  /** Wall time: seconds since 1970-01-01T00:00:00Z, fractions allowed. */
  now(): number
  /** Seconds since some fixed moment, never set back. */
  monotonic(): number
  /**
   * Calls `fn` once, `seconds` from now; the answer cancels it. It may keep the process alive: it is used only while somebody
   * waits or an attempt is under way, and cancelled afterwards.
   */
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

/** The same, whose timers keep no process alive: whoever waits holds it by something else. */
export const backgroundClock: Clock = {
  ...systemClock,
  after(seconds, fn) {
    // Outside Node a timer may be a number.
    const timer: { unref?(): unknown } = setTimeout(fn, seconds * 1000)
    timer.unref?.()
    return () => {
      clearTimeout(timer as NodeJS.Timeout)
    }
  },
}

/** As seconds it is in the year 33658, as milliseconds in 2001. */
const EARLIEST_OTHER_UNIT = 1e12

/** Whether a date can be in seconds. Whatever is larger counts milliseconds, or something finer. */
export function isInSeconds(date: number): boolean {
  return date < EARLIEST_OTHER_UNIT
}

/** One moment on both clocks. */
export interface Instant {
  readonly wall: number
  readonly monotonic: number
}

export function instant(clock: Clock): Instant {
  return { wall: clock.now(), monotonic: clock.monotonic() }
}

/** Seconds, the larger of what both clocks say: a suspended machine stops the one, and an administrator sets back the other. */
export function elapsed(since: Instant, until: Instant): number {
  return Math.max(until.wall - since.wall, until.monotonic - since.monotonic)
}

import { type Clock, remoteKeys } from '@portcullis/core'

// A clock that runs faster than time, the same in all processes that know when it was started.

/** Seconds of the clock in a second. */
export const SPEED = 40

/** @param start When it was started: seconds since 1970-01-01T00:00:00Z. */
export function fastClock(start: number): Clock {
  const now = () => start + (Date.now() / 1000 - start) * SPEED
  return {
    now,
    monotonic: now,
    after(seconds, fn) {
      const timer = setTimeout(fn, (seconds * 1000) / SPEED)
      return () => {
        clearTimeout(timer)
      }
    },
  }
}

/** Keys that last for five minutes of that clock without their endpoint. */
export function fastKeys(url: string, clock: Clock): ReturnType<typeof remoteKeys> {
  return remoteKeys(url, {
    maxAge: 120,
    staleWhileRevalidate: 60,
    staleIfError: 180,
    // A second: the machine may be busy.
    timeout: SPEED,
    clock,
  })
}

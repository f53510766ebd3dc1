import type { Clock, Instant } from '@portcullis/kit/time'

// Moments, and deadlines that allow for a busy process. The clock of this package keeps no process alive: whoever waits for something
// holds it by `whileWaiting`.

/** How far the wall clock is ahead of the monotonic one. Less than before: it was set back. */
export function leadOf({ wall, monotonic }: Instant): number {
  return wall - monotonic
}

export function laterOf(one: Instant | undefined, other: Instant): Instant {
  return one === undefined || other.monotonic > one.monotonic ? other : one
}

/** The earlier one of two clocks: by one that was set forward, what is needed would seem to have lapsed. @returns Seconds. */
export function certainTime(clock: Clock, { wall, monotonic }: Instant): number {
  return Math.min(clock.now(), wall + clock.monotonic() - monotonic)
}

export function earlierOf(one: Instant, other: Instant | undefined): Instant {
  return other === undefined || one.monotonic < other.monotonic ? one : other
}

/** In so many parts a deadline passes. A connection is made, and a question answered, in fewer turns of the event loop. */
const PARTS = 8

/** After some turns of the event loop: timers fire before sockets, so an unread answer would be taken for missing. @returns Cancels it. */
export function deadline(clock: Clock, seconds: number, fn: () => void): () => void {
  let left = PARTS
  let cancel = plan()

  function plan(): () => void {
    return clock.after(seconds / PARTS, () => {
      left -= 1
      if (left === 0) fn()
      else cancel = plan()
    })
  }

  return () => {
    cancel()
  }
}

const HOUR = 3_600_000

/** Sockets and timers of this package keep no process alive. Somebody who waits for their outcome does. */
export async function whileWaiting<Result>(work: Promise<Result>): Promise<Result> {
  const timer = setInterval(() => undefined, HOUR)
  try {
    return await work
  } finally {
    clearInterval(timer)
  }
}

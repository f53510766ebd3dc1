// The clocks of this package: the system's, and the one that tests move.

// Captured at import, so that a test runner's fake timers cannot stop `advance`.
const { setImmediate } = globalThis

/** The source of time. Times are seconds. */
export interface Clock {
  /** Since 1970-01-01T00:00:00Z. */
  now(): number
  /** Since any fixed moment. It never goes back. */
  monotonic(): number
  /** Calls `fn` once, that much later; returns a function that cancels it. */
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

/** The same, whose timers keep no process alive. */
export const backgroundClock: Clock = {
  ...systemClock,
  after(seconds, fn) {
    const timer = setTimeout(fn, seconds * 1000).unref()
    return () => {
      clearTimeout(timer)
    }
  },
}

/** A clock that moves only when a test moves it. Pass it wherever Portcullis takes a `clock`. */
export interface ManualClock extends Clock {
  /** Moves both times. Timers fire at their own time; between two, promises go on as far as they can without I/O or cryptography. */
  advance(seconds: number): Promise<void>
  /** Sets only the wall time, forward or back, as an administrator does, or as a suspended machine has it. */
  set(now: number): void
}

interface Timer {
  readonly due: number
  readonly fn: () => void
}

/**
 * Makes a clock that moves only when a test moves it.
 *
 * @param start Wall time at the beginning, in seconds since 1970-01-01T00:00:00Z; by default 2026-01-01T00:00:00Z, so that
 *   every run is the same.
 */
export function manualClock(start = 1_767_225_600): ManualClock {
  checkFinite('manualClock', start)
  let monotonic = 0
  let offset = start
  const timers = new Set<Timer>()

  function nextTimer(until: number): Timer | undefined {
    let next: Timer | undefined
    for (const timer of timers) {
      if (timer.due <= until && (next === undefined || timer.due < next.due)) next = timer
    }
    return next
  }

  return {
    now: () => offset + monotonic,
    monotonic: () => monotonic,
    after(seconds, fn) {
      checkFinite('after', seconds)
      const timer = { due: monotonic + seconds, fn }
      timers.add(timer)
      return () => {
        timers.delete(timer)
      }
    },
    async advance(seconds) {
      checkFinite('advance', seconds)
      if (seconds < 0) throw new TypeError('advance: time does not go back; see set')
      const until = monotonic + seconds
      await settle()
      for (let timer = nextTimer(until); timer !== undefined; timer = nextTimer(until)) {
        const { due, fn } = timer
        timers.delete(timer)
        monotonic = Math.max(monotonic, due)
        fn()
        await settle()
      }
      monotonic = Math.max(monotonic, until)
    },
    set(now) {
      checkFinite('set', now)
      offset = now - monotonic
    },
  }
}

function checkFinite(name: string, seconds: number): void {
  if (!Number.isFinite(seconds)) throw new TypeError(`${name}: the time must be a finite number`)
}

/** Lets all promises go on as far as they can. */
async function settle(): Promise<void> {
  await new Promise<void>((resolve) => {
    setImmediate(resolve)
  })
}

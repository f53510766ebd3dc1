import type { Clock } from './surroundings.ts'

// The clock that `main.ts` gives to the program.

/** The time of the machine, for whoever runs the program. */
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

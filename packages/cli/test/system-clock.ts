import type { Clock } from '../src/surroundings.ts'

/** For tests of what listens on a port: there time is the machine's. */
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

import { setTimeout as pause } from 'node:timers/promises'

/** Seconds: when a test that hears nothing gives up, also on a machine that is busy. */
const LIMIT = 100
/** Milliseconds. What takes long is asked for more seldom: to ask costs a connection, and others need the processor. */
const [SHORTEST, LONGEST] = [5, 100]

/** Waits until something is so. How long that takes is no matter: the machine may be busy. */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  limit: number = LIMIT,
): Promise<void> {
  const start = performance.now()
  let next = SHORTEST
  while (!(await isSo())) {
    if (performance.now() - start > limit * 1000) {
      throw new Error(`after ${limit} s still not: ${what}`)
    }
    await pause(next)
    next = Math.min(LONGEST, next * 1.5)
  }
}

import { setTimeout as pause } from 'node:timers/promises'

/** Seconds: when a test that hears nothing gives up, also on a machine that is busy. */
const LIMIT = 100

/** Waits until something is so. How long that takes is no matter: the machine may be busy. */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  limit: number = LIMIT,
): Promise<void> {
  const start = performance.now()
  while (!(await isSo())) {
    if (performance.now() - start > limit * 1000) {
      throw new Error(`after ${limit} s still not: ${what}`)
    }
    await pause(5)
  }
}

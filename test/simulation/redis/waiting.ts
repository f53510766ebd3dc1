import { setTimeout as pause } from 'node:timers/promises'

/** Waits until something is so, and answers how long that took: seconds. */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  limit = 30,
): Promise<number> {
  const start = performance.now()
  const elapsed = () => (performance.now() - start) / 1000
  for (;;) {
    if (await isSo()) return elapsed()
    if (elapsed() > limit) throw new Error(`after ${limit} s still not: ${what}`)
    await pause(5)
  }
}

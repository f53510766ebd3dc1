import type { Arbitrary } from 'fast-check'

/** A reader of what strangers write, and what must hold whatever they do. */
export interface FuzzTarget {
  /** Inputs that get past the first check: the seeds and what is near them come in addition. */
  readonly inputs: Arbitrary<string>
  /** Runs the reader. Throws what `hold` throws, or lets through what the reader must not throw. */
  run(input: string): void | Promise<void>
}

/** What is read once may take time for each character, and what is read again and again for each of them exceeds it. */
function mostMilliseconds(input: string): number {
  return 50 + input.length / 10_000
}

/**
 * @param isTimed Whether an input that takes long breaks a promise. On a machine that is busy each of them may.
 * @throws Error that says what does not hold for an input.
 */
export async function examine(target: FuzzTarget, input: string, isTimed: boolean): Promise<void> {
  const milliseconds = await timed(target, input)
  if (isTimed && milliseconds > mostMilliseconds(input)) await confirmSlowness(target, input)
  hold(Reflect.ownKeys(Object.prototype).length === inherited, 'Object.prototype is as it was')
}

const inherited = Reflect.ownKeys(Object.prototype).length

/** The best of some, and of both clocks: a machine that is busy is no finding. */
async function confirmSlowness(target: FuzzTarget, input: string): Promise<void> {
  let least = Infinity
  for (let tries = 5; tries > 0; tries--) {
    const before = process.cpuUsage()
    const elapsed = await timed(target, input)
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, elapsed, (user + system) / 1000)
  }
  const most = mostMilliseconds(input)
  hold(least <= most, `at most ${most} ms`)
}

async function timed(target: FuzzTarget, input: string): Promise<number> {
  const start = performance.now()
  const running = target.run(input)
  if (running !== undefined) await running
  return performance.now() - start
}

export function hold(condition: boolean, promise: string): asserts condition {
  if (!condition) throw new Error(`does not hold: ${promise}`)
}

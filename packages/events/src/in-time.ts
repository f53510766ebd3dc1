import type { Clock } from '@portcullis/core'
import { answerInTime } from '@portcullis/kit/waiting'

// The end of every wait for a function of the application's.

export interface Limits {
  readonly clock: Clock
  /** Seconds. */
  readonly timeout: number
}

/** What comes later is not heard, nor an unhandled rejection. @throws Error if there was no answer in time; what the call fails with. */
export async function inTime<Answer>(
  what: string,
  { clock, timeout }: Limits,
  call: () => Answer | PromiseLike<Answer>,
): Promise<Answer> {
  const answer = (async () => await call())()
  const late = () => new Error(`${what} did not answer in ${timeout} s`)
  return await answerInTime(answer, { clock, signal: undefined, late, patience: timeout })
}

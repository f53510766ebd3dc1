import type { Clock } from './time.ts'

// The limit in time for answers of others during a request: of revocations, and of the memory of used proofs.

/** How long a request waits for what may be far away, in seconds. A round trip takes a thousandth of it. */
export const PATIENCE = 1

/** What may end a wait before there is an answer. */
export interface Waiting {
  /** What waits are measured with. */
  readonly clock: Clock
  readonly signal: AbortSignal | undefined
  /** What is thrown if there is no answer in time. */
  readonly late: () => Error
}

/**
 * Waits for an answer that others give, for {@link PATIENCE} seconds at most.
 *
 * @param answer Its failure is thrown on, and never stays unhandled.
 * @throws What `late` makes; the signal's reason.
 */
export async function answerInTime<Answer>(
  answer: Promise<Answer>,
  { clock, signal, late }: Waiting,
): Promise<Answer> {
  const cleanups: (() => void)[] = []
  const leaving = new Promise<never>((_, reject) => {
    const leave = () => {
      reject(signal?.reason as Error) // whatever the caller gave, as `fetch` does
    }
    signal?.addEventListener('abort', leave)
    cleanups.push(
      () => signal?.removeEventListener('abort', leave),
      clock.after(PATIENCE, () => {
        reject(late())
      }),
    )
    if (signal?.aborted === true) leave()
  })
  try {
    return await Promise.race([answer, leaving])
  } finally {
    for (const cleanUp of cleanups) cleanUp()
  }
}

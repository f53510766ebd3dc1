import { ownMembers } from '../options.ts'
import type { Clock } from '../time.ts'

// The limit in time for answers of others: of revocations, and of the memory of used proofs.

/** How long a request waits for what may be far away, in seconds. A round trip takes a thousandth of it. */
export const PATIENCE = 1

/** What may end a wait before there is an answer. */
export interface AnswerLimits {
  /** What waits are measured with. */
  readonly clock: Clock
  readonly signal: AbortSignal | undefined
  /** What is thrown if there is no answer in time. */
  readonly late: () => Error
  /** Seconds. {@link PATIENCE} by default. */
  readonly patience?: number
}

/** @param answer Its failure is thrown on, and never stays unhandled. @throws What `late` makes; the signal's reason. */
export async function answerInTime<Answer>(
  answer: Promise<Answer>,
  limits: AnswerLimits,
): Promise<Answer> {
  const { clock, signal, late, patience = PATIENCE } = ownMembers(limits)
  let cancel: (() => void) | undefined
  const end = new Promise<never>((_, reject) => {
    cancel = clock.after(patience, () => {
      reject(late())
    })
  })
  try {
    return await unlessAborted(Promise.race([answer, end]), signal)
  } finally {
    cancel?.()
  }
}

/** Waits for what only the caller's own signal ends. @throws The signal's reason. */
export async function unlessAborted<Answer>(
  answer: Answer | Promise<Answer>,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  if (signal === undefined) return await answer
  let leave: (() => void) | undefined
  const leaving = new Promise<never>((_, reject) => {
    leave = () => {
      reject(signal.reason as Error) // whatever the caller gave, as `fetch` does
    }
    signal.addEventListener('abort', leave)
    if (signal.aborted) leave()
  })
  try {
    return await Promise.race([answer, leaving])
  } finally {
    if (leave !== undefined) signal.removeEventListener('abort', leave)
  }
}

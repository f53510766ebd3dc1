import { inTime, type Limits } from './in-time.ts'

// How many calls of a store are under way: one that hangs must not be given ever more of them.

/** @throws Error without a call, if too many are under way. */
export type CallStore = (call: () => unknown) => Promise<void>

const MAX_CALLS = 100

export interface CallsUnderWay {
  /** Those whose answer is waited for. */
  readonly waiting: number
  /** Those that had no answer in time, and have none yet. Once the store has answered another call, they are over. */
  readonly abandoned: number
  /** Seconds since the last call. */
  readonly sinceLast: number
}

/** Where calls that were given up fill the room, one in each `timeout` finds out whether the store answers: it may never answer those. */
export function mayCall(
  { waiting, abandoned, sinceLast }: CallsUnderWay,
  timeout: number,
): boolean {
  if (waiting + abandoned < MAX_CALLS) return true
  return waiting < MAX_CALLS && sinceLast >= timeout
}

export function createStoreCalls(limits: Limits): CallStore {
  const { clock, timeout } = limits
  const abandoned = new Set<object>()
  let waiting = 0
  let calledAt = -Infinity

  return async (call) => {
    const now = clock.monotonic()
    const underWay = { waiting, abandoned: abandoned.size, sinceLast: now - calledAt }
    if (!mayCall(underWay, timeout)) {
      throw new Error(`${MAX_CALLS} calls of revocations are under way`)
    }
    calledAt = now
    waiting += 1
    const calling = {}
    let isOver = false
    const settle = () => {
      isOver = true
      abandoned.delete(calling)
    }
    try {
      await inTime('revocations', limits, async () => {
        try {
          await call()
        } finally {
          settle()
        }
      })
      abandoned.clear()
    } finally {
      waiting -= 1
      if (!isOver && abandoned.size < MAX_CALLS) abandoned.add(calling)
    }
  }
}

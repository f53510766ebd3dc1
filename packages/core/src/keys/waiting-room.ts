import { AuthError } from '../errors.ts'
import type { Clock } from '../time.ts'
import type { Caller } from './key-source.ts'

const MAX_WAITING_OCTETS = 16 * 1024 * 1024

/** A caller's place in the room. Work on behalf of somebody who has left should stop. */
export interface Place {
  readonly hasLeft: boolean
}

/** Where callers wait for keys: bounded in time and in room, so that a flood of tokens cannot fill the memory. */
export interface WaitingRoom {
  isFull(caller: Caller): boolean
  /**
   * Waits for some work on one caller's behalf. A caller who leaves cancels nothing for the others.
   *
   * @throws AuthError `keys_unavailable` with `timeout` if it takes too long or the room is full; the signal's reason.
   */
  wait<Result>(caller: Caller, work: (place: Place) => Promise<Result>): Promise<Result>
}

/** @param timeout The longest that anybody waits. Seconds. */
export function createWaitingRoom(clock: Clock, timeout: number): WaitingRoom {
  let octets = 0

  function isFull({ tokenSize }: Caller): boolean {
    return octets + tokenSize > MAX_WAITING_OCTETS
  }

  async function wait<Result>(
    caller: Caller,
    work: (place: Place) => Promise<Result>,
  ): Promise<Result> {
    const { tokenSize, signal } = caller
    signal?.throwIfAborted()
    if (isFull(caller)) throw timedOut()
    const place = { hasLeft: false }
    const exit = leaving(clock, timeout, signal)
    octets += tokenSize
    try {
      return await Promise.race([work(place), exit.left])
    } finally {
      place.hasLeft = true
      octets -= tokenSize
      exit.cancel()
    }
  }

  return { isFull, wait }
}

/** What makes a caller leave before the work is done. */
function leaving(
  clock: Clock,
  timeout: number,
  signal: AbortSignal | undefined,
): { left: Promise<never>; cancel: () => void } {
  const cancelled = new AbortController()
  const left = new Promise<never>((_, reject) => {
    const cancelTimer = clock.after(timeout, () => {
      reject(timedOut())
    })
    cancelled.signal.addEventListener('abort', cancelTimer)
    const abort = () => {
      reject(signal?.reason as Error) // whatever the caller gave, as `fetch` does
    }
    signal?.addEventListener('abort', abort, { signal: cancelled.signal })
  })
  return {
    left,
    cancel: () => {
      cancelled.abort()
    },
  }
}

function timedOut(): AuthError {
  return new AuthError('keys_unavailable', 'timeout', { retryAfter: 1 })
}

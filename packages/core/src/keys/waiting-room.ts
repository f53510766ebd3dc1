import { AuthError } from '../errors.ts'
import type { Clock } from '../time.ts'
import type { Caller } from './key-source.ts'

const MAX_WAITING_OCTETS = 24 * 1024 * 1024

/** What a place costs beside its token: promises, listeners and a timer, as measured. */
const PLACE_OCTETS = 6 * 1024

/** A caller's place in the room. Work on behalf of somebody who has left should stop. */
export interface Place {
  readonly hasLeft: boolean
  /** Cancels something when the caller leaves. */
  whenLeft(cancel: () => void): void
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
    return octets + tokenSize + PLACE_OCTETS > MAX_WAITING_OCTETS
  }

  async function wait<Result>(
    caller: Caller,
    work: (place: Place) => Promise<Result>,
  ): Promise<Result> {
    const { arrived, tokenSize, signal } = caller
    signal?.throwIfAborted()
    if (isFull(caller)) throw timedOut()
    const exit = new AbortController()
    const place: Place = {
      get hasLeft() {
        return exit.signal.aborted
      },
      whenLeft(cancel) {
        exit.signal.addEventListener('abort', cancel)
      },
    }
    // One who comes back to wait for more has that much less time.
    const patience = Math.max(0, timeout - (clock.monotonic() - arrived.monotonic))
    const gone = leaving(clock, patience, signal, place)
    octets += tokenSize + PLACE_OCTETS
    try {
      return await Promise.race([work(place), gone])
    } finally {
      octets -= tokenSize + PLACE_OCTETS
      exit.abort()
    }
  }

  return { isFull, wait }
}

/** Rejects with what makes a caller leave before the work is done. */
async function leaving(
  clock: Clock,
  patience: number,
  signal: AbortSignal | undefined,
  place: Place,
): Promise<never> {
  return await new Promise<never>((_, reject) => {
    const abort = () => {
      reject(signal?.reason as Error) // whatever the caller gave, as `fetch` does
    }
    signal?.addEventListener('abort', abort)
    place.whenLeft(() => signal?.removeEventListener('abort', abort))
    place.whenLeft(
      clock.after(patience, () => {
        reject(timedOut())
      }),
    )
  })
}

function timedOut(): AuthError {
  return new AuthError('keys_unavailable', 'timeout', { retryAfter: 1 })
}

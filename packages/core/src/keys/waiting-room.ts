import { roomIsFull, waitedTooLong } from '../details/keys.ts'
import { AuthError } from '../errors.ts'
import type { Clock, Instant } from '../time.ts'
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

/** Somebody who waits. */
interface Waiting extends Omit<Caller, 'arrived'> {
  /** What the time is counted from; from now if it is `undefined`. */
  readonly arrived: Instant | undefined
}

/** Where callers wait for keys: bounded in time and in room, so that a flood of tokens cannot fill the memory. */
export interface WaitingRoom {
  /**
   * Waits for some work on one caller's behalf. A caller who leaves cancels nothing for the others.
   *
   * @throws AuthError `keys_unavailable` with `timeout` if it takes too long or the room is full; the signal's reason.
   */
  wait<Result>(caller: Waiting, work: (place: Place) => Promise<Result>): Promise<Result>
}

/** @param timeout The longest that anybody waits. Seconds. */
export function createWaitingRoom(clock: Clock, timeout: number): WaitingRoom {
  let octets = 0

  function isFull({ tokenSize }: Waiting): boolean {
    return octets + tokenSize + PLACE_OCTETS > MAX_WAITING_OCTETS
  }

  async function wait<Result>(
    caller: Waiting,
    work: (place: Place) => Promise<Result>,
  ): Promise<Result> {
    const { arrived, tokenSize, signal } = caller
    signal?.throwIfAborted()
    if (isFull(caller)) throw new AuthError('keys_unavailable', 'timeout', roomIsFull)
    const exit = new AbortController()
    const place: Place = {
      get hasLeft() {
        return exit.signal.aborted
      },
      whenLeft(cancel) {
        exit.signal.addEventListener('abort', cancel)
      },
    }
    octets += tokenSize + PLACE_OCTETS
    // Before the caller's own deadline is set: that of an attempt which starts here has to come first.
    const result = work(place)
    // A caller who comes back to wait for more has that much less time.
    const waited = arrived === undefined ? 0 : clock.monotonic() - arrived.monotonic
    const patience = Math.max(0, timeout - waited)
    const gone = leaving(clock, patience, signal, place)
    try {
      return await Promise.race([result, gone])
    } finally {
      octets -= tokenSize + PLACE_OCTETS
      exit.abort()
    }
  }

  return { wait }
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
        reject(new AuthError('keys_unavailable', 'timeout', waitedTooLong(patience)))
      }),
    )
  })
}

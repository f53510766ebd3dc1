import { ownMembers } from './options.ts'
import type { Clock, Instant } from './time.ts'

// Waits that have an end: for an answer of others, and for work that several share, in a room that is bounded in time and in bytes.

/** How long a request waits for what may be far away, in seconds. A round trip takes a thousandth of it. */
export const PATIENCE = 1

export interface AnswerLimits {
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
  const gone = new Promise<never>((_, reject) => {
    leave = () => {
      reject(signal.reason as Error) // whatever the caller gave, as `fetch` does
    }
    signal.addEventListener('abort', leave)
    if (signal.aborted) leave()
  })
  try {
    return await Promise.race([answer, gone])
  } finally {
    if (leave !== undefined) signal.removeEventListener('abort', leave)
  }
}

const MAX_WAITING_OCTETS = 24 * 1024 * 1024

/** What a place costs beside its token: promises, listeners and a timer, as measured. */
const PLACE_OCTETS = 6 * 1024

/** Seconds beyond its deadline until something is given up: Cloudflare Workers stop timers and connections of a request that is over. */
export const LATENESS = 1

/** A caller's place in the room. Work on behalf of somebody who has left should stop. */
export interface Place {
  readonly hasLeft: boolean
  whenLeft(cancel: () => void): void
}

/** What may make somebody stop waiting, and how much their token counts against the room. */
export interface Waiting {
  /** What the time is counted from; from now if it is `undefined`. */
  readonly arrived: Instant | undefined
  readonly tokenSize: number
  readonly signal: AbortSignal | undefined
}

interface Taken {
  readonly octets: number
  /** Seconds of the monotonic clock. */
  readonly since: number
}

export interface WaitingRoom {
  /** A caller who leaves cancels nothing for the others. @throws What the room refuses with; the signal's reason. */
  wait<Result>(caller: Waiting, work: (place: Place) => Promise<Result>): Promise<Result>
}

/** What those are refused with who find the room full, and those who have waited for too long. */
export interface WaitingRefusals {
  readonly whenFull: () => Error
  /** @param patience Seconds. */
  readonly whenLate: (patience: number) => Error
}

export function createWaitingRoom(
  clock: Clock,
  timeout: number,
  refusals: WaitingRefusals,
): WaitingRoom {
  let octets = 0
  const taken = new Set<Taken>()

  function isFull(wanted: number): boolean {
    return octets + wanted > MAX_WAITING_OCTETS
  }

  function giveBack(place: Taken): void {
    if (taken.delete(place)) octets -= place.octets
  }

  /** Gives back the places of those whose timer has been lost. */
  function giveBackOverdue(): void {
    for (const place of taken) {
      if (clock.monotonic() - place.since <= timeout + LATENESS) return
      giveBack(place)
    }
  }

  async function wait<Result>(
    caller: Waiting,
    work: (place: Place) => Promise<Result>,
  ): Promise<Result> {
    const { arrived, tokenSize, signal } = caller
    signal?.throwIfAborted()
    const own: Taken = { octets: tokenSize + PLACE_OCTETS, since: clock.monotonic() }
    if (isFull(own.octets)) giveBackOverdue()
    if (isFull(own.octets)) throw refusals.whenFull()
    // No `AbortController`: an abort makes an error with a stack, which costs more than the rest of a short wait.
    let hasLeft = false
    const cancels: (() => void)[] = []
    const place: Place = {
      get hasLeft() {
        return hasLeft
      },
      whenLeft(cancel) {
        if (hasLeft) cancel()
        else cancels.push(cancel)
      },
    }
    taken.add(own)
    octets += own.octets
    // Before the caller's own deadline is set: that of an attempt which starts here has to come first.
    const result = work(place)
    // A caller who comes back to wait for more has that much less time.
    const waited = arrived === undefined ? 0 : clock.monotonic() - arrived.monotonic
    const patience = Math.max(0, timeout - waited)
    const limit = { seconds: patience, refusal: refusals.whenLate }
    const gone = leaving(clock, limit, signal, place)
    try {
      return await Promise.race([result, gone])
    } finally {
      giveBack(own)
      hasLeft = true
      for (const cancel of cancels) cancel()
    }
  }

  return { wait }
}

/** Rejects with what makes a caller leave before the work is done. */
async function leaving(
  clock: Clock,
  limit: { readonly seconds: number; readonly refusal: WaitingRefusals['whenLate'] },
  signal: AbortSignal | undefined,
  place: Place,
): Promise<never> {
  return await new Promise<never>((_, reject) => {
    const abort = () => {
      reject(signal?.reason as Error) // whatever the caller gave, as `fetch` does
    }
    signal?.addEventListener('abort', abort)
    // The work has begun before this, and may have called what aborts it.
    if (signal?.aborted === true) abort()
    place.whenLeft(() => signal?.removeEventListener('abort', abort))
    place.whenLeft(
      clock.after(limit.seconds, () => {
        reject(limit.refusal(limit.seconds))
      }),
    )
  })
}

/** Resolves after so many seconds. It never does for somebody who has left. */
export async function pause(
  seconds: number,
  clock: Clock,
  place: Place | undefined,
): Promise<void> {
  await new Promise<void>((resolve) => {
    const cancel = clock.after(seconds, resolve)
    place?.whenLeft(cancel)
  })
}

/** Resolves when an attempt has settled, or after so many seconds. */
export async function settledWithin(
  seconds: number,
  settling: Promise<void>,
  clock: Clock,
  place: Place | undefined,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const cancel = clock.after(seconds, resolve)
    place?.whenLeft(cancel)
    settling.then(() => {
      cancel()
      resolve()
    }, reject)
  })
}

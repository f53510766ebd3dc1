import { type Clock, type Instant, instant } from '@portcullis/kit/time'

import { TokenClientError } from '../answer/errors.ts'
import { onAbort } from './abort.ts'

// Work that several callers wait for, also on runtimes that end it with the request that began it.

/**
 * Whether the runtime ends the timers and connections of a request with it. Work that was under way then never settles: whoever
 * waits for it in another request gets an error of the platform, or waits for ever.
 */
const ENDS_WITH_REQUEST: boolean =
  Reflect.get(Object(globalThis.navigator), 'userAgent') === 'Cloudflare-Workers'

/** The shortest time from the start of a flight to the start of the one that replaces it. Seconds. */
const REPLACEMENT_PAUSE = 1

/** How much later than its deadline a flight may end before it is given up: its timer may have ended with its request. Seconds. */
const LATENESS = 1

export interface FlightStanding {
  /** How many wait for it. Those of requests that have ended are counted as well: nobody hears of it. */
  readonly waiting: number
  /** Whether somebody who waited for it has heard that it never settles. */
  readonly isLost: boolean
  /** Seconds until it is given up, whoever waits. */
  readonly left: number
}

/** What somebody does who must wait: `join` the flight under way, or `replace` it. One that nobody waits for may have ended. */
export function flightStep(
  { waiting, isLost, left }: FlightStanding,
  endsWithRequest: boolean,
): 'join' | 'replace' {
  if (!endsWithRequest) return 'join'
  return isLost || waiting === 0 || left <= 0 ? 'replace' : 'join'
}

export interface Flight<Outcome> {
  readonly startedAt: Instant
  /** Whether somebody who must wait replaces it. */
  isOrphaned(): boolean
  /** Whether it should have ended long ago. Its timer has been lost. */
  isOver(): boolean
  /** Until it may be replaced. Seconds; negative if that was earlier. */
  untilReplaced(): number
  /** Waits for its outcome; `undefined` if that never comes. @throws TokenClientError if the signal ends this wait. */
  wait(signal?: AbortSignal): Promise<Outcome | undefined>
}

/**
 * @param work Never rejects: an error can only be one of the platform. It begins at once.
 * @param longest The longest that it takes. Seconds.
 */
export function beginFlight<Outcome>(
  work: () => Promise<Outcome>,
  {
    clock,
    longest,
    endsWithRequest = ENDS_WITH_REQUEST,
  }: {
    readonly clock: Clock
    readonly longest: number
    readonly endsWithRequest?: boolean | undefined
  },
): Flight<Outcome> {
  const startedAt = instant(clock)
  const outcome = work()
  // One that nobody waits for may end with an error of the platform, of which nobody is to be told.
  if (endsWithRequest) outcome.catch(() => undefined)
  let waiting = 0
  let isLost = false
  const age = () => clock.monotonic() - startedAt.monotonic
  const left = () => longest + LATENESS - age()

  /** On an older one of such runtimes nobody hears that it has ended. */
  async function settled(): Promise<Outcome | undefined> {
    let cancel: (() => void) | undefined
    const over = new Promise<undefined>((resolve) => {
      if (endsWithRequest) cancel = clock.after(Math.max(0, left()), () => resolve(undefined))
    })
    try {
      return await Promise.race([outcome, over])
    } catch {
      isLost = true
      return undefined
    } finally {
      cancel?.()
    }
  }

  return {
    startedAt,
    isOrphaned: () => flightStep({ waiting, isLost, left: left() }, endsWithRequest) === 'replace',
    isOver: () => left() <= 0,
    untilReplaced: () => REPLACEMENT_PAUSE - age(),
    async wait(signal) {
      waiting++
      try {
        return await raceAbort(settled(), signal)
      } finally {
        waiting--
      }
    },
  }
}

/** Ends one caller's wait, and not what the others wait for. */
export async function raceAbort<Result>(
  promise: Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  if (signal === undefined) return await promise
  let stop: (() => void) | undefined
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = onAbort(signal, () => {
      reject(new TokenClientError('aborted', 'the wait was aborted'))
    })
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    stop?.()
  }
}

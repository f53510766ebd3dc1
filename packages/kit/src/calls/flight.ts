import { ownMembers } from '../options.ts'
import { type Clock, type Instant, instant } from '../time.ts'
import { LATENESS, pause, type Place } from '../waiting.ts'

// Work that several requests wait for, also on runtimes that end it with the request that began it.

/**
 * Lets work go on behind the response of a request, as `waitUntil` of Cloudflare Workers does. It is called while a request is
 * served, and not kept.
 */
export type WaitUntil = (work: Promise<unknown>) => unknown

/** Whether the runtime ends timers and connections with their request: others who wait for them get an error, or wait for ever. */
export const ENDS_WITH_REQUEST: boolean =
  Reflect.get(Object(globalThis.navigator), 'userAgent') === 'Cloudflare-Workers'

/** The shortest time from the start of a flight to the start of the one that replaces it. Seconds. */
const REPLACEMENT_PAUSE = 1

/** How long somebody waits there who finds no room for another flight, before they look again. Seconds. */
export const TURN_PAUSE = 0.05

/** What is known of a flight by those who could wait for it. */
export interface FlightStanding {
  /** How many wait for it. Those of requests that have ended are counted as well: nobody hears of it. */
  readonly waiting: number
  /** Whether the runtime was asked to let it go on. */
  readonly isHeld: boolean
  /** Whether somebody who waited for it has heard that it never settles. */
  readonly isLost: boolean
  readonly left: number
}

/** `replace` what nobody waits for and nothing holds, which may have ended with its request, and what should have ended long ago. */
export function flightStep(
  { waiting, isHeld, isLost, left }: FlightStanding,
  endsWithRequest: boolean,
): 'join' | 'replace' {
  if (!endsWithRequest) return 'join'
  return isLost || left <= 0 || (waiting === 0 && !isHeld) ? 'replace' : 'join'
}

export interface Flight<Outcome> {
  readonly startedAt: Instant
  isOrphaned(): boolean
  /** Seconds until it is given up, on every runtime: by then its own deadline has ended it, or its timer is lost. See `LATENESS`. */
  untilGivenUp(): number
  /** Waits for its outcome; `undefined` if that never comes. @param place Of whoever waits, who may leave earlier. */
  wait(place?: Pick<Place, 'whenLeft'>): Promise<Outcome | undefined>
}

export interface FlightOptions {
  readonly clock: Clock
  readonly timeout: number
  /** Of the request that begins it. */
  readonly waitUntil: WaitUntil | undefined
  readonly endsWithRequest?: boolean | undefined
}

/** @param work Never rejects: an error can only be one of the platform. It begins at once. */
export function beginFlight<Outcome>(
  work: () => Promise<Outcome>,
  options: FlightOptions,
): Flight<Outcome> {
  const { clock, timeout, waitUntil, endsWithRequest = ENDS_WITH_REQUEST } = ownMembers(options)
  const startedAt = instant(clock)
  const outcome = work()
  // One that nobody waits for may end with an error of the platform, of which nobody is to be told.
  if (endsWithRequest) outcome.catch(nothing)
  const isHeld = waitUntil !== undefined && isTaken(waitUntil, outcome)
  let waiting = 0
  let isLost = false
  const left = () => startedAt.monotonic + timeout + LATENESS - clock.monotonic()

  /** On older ones of such runtimes nobody hears that it has ended. */
  async function settledOrOver(place?: Pick<Place, 'whenLeft'>): Promise<Outcome | undefined> {
    let cancel: (() => void) | undefined
    const over = new Promise<undefined>((resolve) => {
      cancel = clock.after(Math.max(0, left()), () => {
        resolve(undefined)
      })
    })
    place?.whenLeft(() => cancel?.())
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
    isOrphaned: () => {
      return flightStep({ waiting, isHeld, isLost, left: left() }, endsWithRequest) === 'replace'
    },
    untilGivenUp: left,
    async wait(place) {
      waiting++
      // Who has no place stays until the end, when nobody counts them any more.
      place?.whenLeft(() => {
        waiting--
      })
      // Elsewhere an error is a fault of ours.
      return endsWithRequest ? await settledOrOver(place) : await outcome
    },
  }
}

/** The flight to wait for, or how many seconds to pause before another look. @param begin Begins another, if that may be now. */
export function flightOrPause<Outcome>(
  flight: Flight<Outcome> | undefined,
  clock: Clock,
  begin: () => Flight<Outcome> | number,
): Flight<Outcome> | number {
  if (flight?.isOrphaned() === false) return flight
  const earliest = (flight?.startedAt.monotonic ?? -Infinity) + REPLACEMENT_PAUSE
  const pauseLeft = earliest - clock.monotonic()
  return pauseLeft > 0 ? pauseLeft : begin()
}

/**
 * Where work ends with its request nobody waits in a queue: the next in it would begin the work of others in a request that may end. So
 * each looks again, and begins what it needs. @returns `undefined` for somebody who has left.
 */
export async function outcomeOf<Outcome>(
  next: () => Flight<Outcome> | number,
  clock: Clock,
  place?: Place,
): Promise<Outcome | undefined> {
  const hasLeft = () => place?.hasLeft === true
  while (!hasLeft()) {
    const found = next()
    if (typeof found === 'number') await pause(found, clock, place)
    else {
      const outcome = await found.wait(place)
      if (outcome !== undefined) return outcome
    }
  }
  return undefined
}

/** The same function for as long as a call lasts, since it is not kept: what begins later is not held by it. */
export function lend(waitUntil: WaitUntil | undefined): {
  readonly waitUntil: WaitUntil | undefined
  readonly takeBack: () => void
} {
  let isLent = true
  return {
    waitUntil:
      waitUntil &&
      ((work) => {
        if (!isLent) throw new Error('the call is over')
        return waitUntil(work)
      }),
    takeBack() {
      isLent = false
    },
  }
}

/** Whether the function has taken the work. What it is given tells nothing of the outcome. */
function isTaken(waitUntil: WaitUntil, outcome: Promise<unknown>): boolean {
  const work = outcome.then(nothing, nothing)
  try {
    // An asynchronous function that fails would otherwise end the process.
    Promise.resolve(waitUntil(work)).catch(nothing)
    return true
  } catch {
    return false
  }
}

function nothing(): void {}

import {
  beginFlight,
  ENDS_WITH_REQUEST,
  type Flight,
  flightOrPause,
  outcomeOf,
  TURN_PAUSE,
  type WaitUntil,
} from '@portcullis/kit/calls'
import { hasMethods, ownMembers } from '@portcullis/kit/options'
import { type Clock, type Instant, instant } from '@portcullis/kit/time'
import { LATENESS, type Place } from '@portcullis/kit/waiting'

import type { Detail } from '../refusal/text.ts'
import { checkOurVerifier, findInternals } from '../verifier/internals.ts'
import type { Verifier } from '../verifier/verifier.ts'
import { checksOtherIssuer, functionFailed, functionHangs, noVerifier } from './details.ts'

// Calls of the function that a user has given to `byIssuer`: one at a time for each issuer, limited in number and in time.

/** The function given to `byIssuer`. */
export type FindVerifier<Member extends Verifier<unknown> = Verifier<unknown>> = (
  issuer: string,
  context: {
    /** Aborts at the deadline of the call. */
    readonly signal: AbortSignal
  },
) => Member | null | undefined | PromiseLike<Member | null | undefined>

/** What a call has come to. */
export type Answer =
  | ({ readonly word: 'verifier' } & Found)
  | { readonly word: 'none' }
  | { readonly word: 'failed'; readonly failure: Failure }

export interface Found {
  readonly verifier: Verifier<unknown>
  /** When the function was called for it. */
  readonly since: Instant
}

/** An outage of the function, for one issuer. */
interface Failure {
  readonly reason: 'unreachable' | 'timeout'
  readonly detail: Detail
  /** What was thrown. */
  readonly cause?: unknown
}

/** Calls of the function: one at a time for an issuer, limited in number and in time. */
export interface Calls {
  /** Whether a call for this issuer is under way, or waits for its turn. */
  has(issuer: string): boolean
  /** Calls the function for nobody who waits, if a call may begin now. */
  renew(issuer: string, waitUntil: WaitUntil | undefined): void
  /** The answer of the one call for this issuer. Never rejects. A call that waits for its turn is dropped when all have left. */
  ask(issuer: string, place: Place, waitUntil: WaitUntil | undefined): Promise<Answer>
}

export interface CallLimits {
  readonly maxCalls: number
  /** Seconds. */
  readonly timeout: number
  readonly clock: Clock
  /** Of the runtime; by default it is asked. */
  readonly endsWithRequest?: boolean | undefined
}

interface Call {
  readonly issuer: string
  readonly answer: Promise<Answer>
  readonly settle: (answer: Answer) => void
  /** How many wait for it. */
  waiting: number
  /** Seconds of the monotonic clock. */
  since: number
  /** For those of other requests who wait for it, once it is under way. */
  flight: Flight<Answer> | undefined
}

/** @param settled Is told of each answer that came in time, before anybody who waits for it goes on. */
export function createCalls(
  find: FindVerifier,
  { maxCalls, timeout, clock, endsWithRequest = ENDS_WITH_REQUEST }: CallLimits,
  settled: (issuer: string, answer: Answer, since: Instant) => void,
): Calls {
  const underWay = new Map<string, Call>()
  /** In the order in which they came. There are no more of them than there are tokens that wait. */
  const queue = new Map<string, Call>()

  /** Those whose timers have been lost: see `LATENESS`. */
  function dropLost(): void {
    for (const [issuer, { since }] of underWay) {
      if (clock.monotonic() - since <= timeout + LATENESS) return
      underWay.delete(issuer)
    }
  }

  /** Makes room: one that has ended with its request takes a place until it is known to be lost. */
  function dropOrphan(): boolean {
    const orphan = [...underWay.values()].find(({ flight }) => flight?.isOrphaned() === true)
    return orphan !== undefined && underWay.delete(orphan.issuer)
  }

  function add(issuer: string): Call {
    const call = createCall(issuer)
    queue.set(issuer, call)
    return call
  }

  function begin(call: Call, waitUntil?: WaitUntil): Flight<Answer> {
    // At the end, also where it replaces one: `dropLost` goes by the order in which they began.
    underWay.delete(call.issuer)
    underWay.set(call.issuer, call)
    const work = async () => {
      void run(call)
      return await call.answer
    }
    call.flight = beginFlight(work, { clock, waitUntil, endsWithRequest })
    return call.flight
  }

  function beginNext(): void {
    dropLost()
    for (const call of queue.values()) {
      if (underWay.size >= maxCalls) return
      queue.delete(call.issuer)
      begin(call)
    }
  }

  async function run(call: Call): Promise<void> {
    const { issuer } = call
    const since = instant(clock)
    call.since = since.monotonic
    const answer = await answerInTime(issuer, since)
    if (underWay.get(issuer) === call) {
      underWay.delete(issuer)
      settled(issuer, answer, since)
    }
    call.settle(answer)
    beginNext()
  }

  async function answerInTime(issuer: string, since: Instant): Promise<Answer> {
    const exit = new AbortController()
    let cancel: (() => void) | undefined
    const late = new Promise<Answer>((resolve) => {
      cancel = clock.after(timeout, () => {
        resolve(failed('timeout', functionHangs(timeout)))
        exit.abort()
      })
    })
    try {
      return await Promise.race([answerOf(find, issuer, since, exit.signal), late])
    } finally {
      cancel?.()
    }
  }

  function ownFlightOrPause(issuer: string, waitUntil: WaitUntil | undefined) {
    dropLost()
    const found = underWay.get(issuer)?.flight
    return flightOrPause(found, clock, () => {
      if (found === undefined && underWay.size >= maxCalls && !dropOrphan()) return TURN_PAUSE
      return begin(createCall(issuer), waitUntil)
    })
  }

  function has(issuer: string): boolean {
    return underWay.has(issuer) || queue.has(issuer)
  }

  return {
    has,
    renew(issuer, waitUntil) {
      dropLost()
      if (has(issuer) || underWay.size >= maxCalls) return
      if (endsWithRequest) begin(createCall(issuer), waitUntil)
      else {
        // Those who wait come first.
        add(issuer)
        beginNext()
      }
    },
    async ask(issuer, place, waitUntil) {
      if (endsWithRequest) {
        const next = () => ownFlightOrPause(issuer, waitUntil)
        return (await outcomeOf(next, clock, place)) ?? { word: 'none' }
      }
      dropLost()
      const call = underWay.get(issuer) ?? queue.get(issuer) ?? add(issuer)
      call.waiting++
      place.whenLeft(() => {
        call.waiting--
        if (call.waiting === 0 && queue.get(issuer) === call) queue.delete(issuer)
      })
      beginNext()
      return await call.answer
    },
  }
}

function createCall(issuer: string): Call {
  let resolve: ((answer: Answer) => void) | undefined
  const answer = new Promise<Answer>((each) => {
    resolve = each
  })
  const settle = (each: Answer) => resolve?.(each)
  return { issuer, answer, settle, waiting: 0, since: Infinity, flight: undefined }
}

/** Whatever the function does, it is an answer. */
async function answerOf(
  find: FindVerifier,
  issuer: string,
  since: Instant,
  signal: AbortSignal,
): Promise<Answer> {
  try {
    const answer: unknown = await find(issuer, ownMembers({ signal }))
    if (answer === undefined || answer === null) return { word: 'none' }
    if (!isVerifier(answer)) return failed('unreachable', noVerifier(answer))
    checkOurVerifier('byIssuer', 'the answer of the function', answer)
    return checksIssuer(answer, issuer)
      ? { word: 'verifier', verifier: answer, since }
      : failed('unreachable', checksOtherIssuer)
  } catch (error) {
    return failed('unreachable', functionFailed, error)
  }
}

function failed(reason: Failure['reason'], detail: Detail, cause?: unknown): Answer {
  return { word: 'failed', failure: { reason, detail, cause } }
}

export function isVerifier(value: unknown): value is Verifier<unknown> {
  return hasMethods(value, 'verify', 'ready')
}

/** Of one that is not ours it cannot be told: what it proves is compared instead. */
export function checksIssuer(verifier: Verifier<unknown>, issuer: string): boolean {
  return findInternals(verifier)?.checksIssuer(issuer) ?? true
}

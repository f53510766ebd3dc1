import type { Clock } from '@portcullis/core'
import { type Instant, instant, LATENESS, type Place } from '@portcullis/core/verifier'

import {
  afterAnswer,
  afterBegin,
  afterFailure,
  callStep,
  type Failure,
  initialLane,
  isDown,
  isFailure,
  type LaneLimits,
  untilRate,
} from './decisions.ts'
import { createQueue, type Order } from './queue.ts'

// Calls of the endpoint: one at a time for a token, limited in number, rate and time. `decisions.ts` decides when one begins.

/** What a call has brought. */
export type Outcome<Answer> =
  | { readonly failure: undefined; readonly answer: Answer }
  | { readonly failure: Failure; readonly retryAfter: number }

export interface Lane<Answer> {
  /** Whether a call for this token is under way, or waits for its turn. */
  has(name: string): boolean
  /** The outcome of the one call for this token. Never rejects. A call that waits for its turn is dropped when all have left. */
  ask(name: string, token: string, place: Place): Promise<Outcome<Answer>>
  /** Begins a call for nobody who waits, if one may begin now. */
  renew(name: string, token: string): void
  /** Whether the endpoint has failed when it was last asked, and lately. */
  isDown(): boolean
}

export interface LaneOptions<Answer> extends LaneLimits {
  readonly clock: Clock
  /** The longest that a call takes. Seconds. */
  readonly timeout: number
  readonly order: Order
  /** From 0 to 1. */
  readonly random: () => number
  /** Never rejects. @param askedAt The latest moment that its answer is sure to be true of. */
  readonly call: (token: string, askedAt: Instant) => Promise<Answer | Failure>
  /** Is told of each answer before anybody who waits for it goes on. */
  readonly settled: (token: string, name: string, answer: Answer) => void
  /** The same of each failure that may be the fault of the token. Returns when the token may be asked about again. */
  readonly odd: (name: string, failure: Failure, times: CallTimes) => number
}

/** When a call began, and when it ended. Seconds of the monotonic clock. */
export interface CallTimes {
  readonly startedAt: number
  readonly settledAt: number
}

interface Call<Answer> {
  readonly name: string
  readonly token: string
  readonly outcome: Promise<Outcome<Answer>>
  readonly settle: (outcome: Outcome<Answer>) => void
  /** How many wait for it. */
  waiting: number
  since: number
}

export function createLane<Answer extends object>(options: LaneOptions<Answer>): Lane<Answer> {
  const { clock, timeout, random, call, settled, odd } = options
  const underWay = new Map<string, Call<Answer>>()
  /** There are no more of them than there are tokens that wait. */
  const queue = createQueue<Call<Answer>>(options.order)
  let state = initialLane(options, clock.monotonic())
  let cancelTimer: (() => void) | undefined

  function add(name: string, token: string): Call<Answer> {
    let resolve: ((outcome: Outcome<Answer>) => void) | undefined
    const outcome = new Promise<Outcome<Answer>>((each) => {
      resolve = each
    })
    const settle = (each: Outcome<Answer>) => resolve?.(each)
    const added: Call<Answer> = { name, token, outcome, settle, waiting: 0, since: Infinity }
    queue.add(name, added)
    return added
  }

  /** Begins as many calls as may begin now, and waits for the rate if that is what keeps the others. */
  function beginNext(): void {
    cancelTimer?.()
    cancelTimer = undefined
    for (let next = queue.next(); next !== undefined; next = queue.next()) {
      const now = clock.monotonic()
      const step = callStep(state, underWay.size, now, options)
      if (step === 'join') return
      if (step === 'pause') {
        cancelTimer = clock.after(untilRate(state, now, options), beginNext)
        return
      }
      queue.delete(next.name)
      if (step === 'fail') {
        next.settle(failedOutcome())
      } else {
        state = afterBegin(state, now, options)
        underWay.set(next.name, next)
        void run(next)
      }
    }
  }

  async function run(begun: Call<Answer>): Promise<void> {
    const askedAt = instant(clock)
    begun.since = askedAt.monotonic
    const answer = await call(begun.token, askedAt)
    // One that was given up has nothing to say: another may have taken its place.
    if (underWay.get(begun.name) !== begun) {
      begun.settle(failedOutcome())
      return
    }
    underWay.delete(begun.name)
    const times = { startedAt: askedAt.monotonic, settledAt: clock.monotonic() }
    if (isFailure(answer)) {
      state = afterFailure(state, times, answer, random())
      const pauseEnd = answer.concerns === 'token' ? odd(begun.name, answer, times) : state.pauseEnd
      begun.settle(failedOutcome(answer, pauseEnd))
    } else {
      state = afterAnswer(state, times.settledAt)
      settled(begun.token, begun.name, answer)
      begun.settle({ failure: undefined, answer })
    }
    beginNext()
  }

  function failedOutcome(
    failure: Failure = state.lastFailure ?? UNKNOWN,
    pauseEnd: number = state.pauseEnd,
  ): Outcome<Answer> {
    return { failure, retryAfter: Math.max(0, pauseEnd - clock.monotonic()) }
  }

  /** Those whose timers have been lost: see `LATENESS`. */
  function dropLost(): void {
    for (const [name, { since }] of underWay) {
      if (clock.monotonic() - since <= timeout + LATENESS) return
      underWay.delete(name)
    }
  }

  return {
    has: (name) => underWay.has(name) || queue.get(name) !== undefined,
    isDown: () => isDown(state, clock.monotonic(), timeout),
    renew(name, token) {
      dropLost()
      const step = callStep(state, underWay.size, clock.monotonic(), options)
      if (step !== 'begin' || underWay.has(name) || queue.get(name) !== undefined) return
      add(name, token)
      beginNext()
    },
    async ask(name, token, place) {
      dropLost()
      const found = underWay.get(name) ?? queue.get(name) ?? add(name, token)
      queue.repeat(name)
      found.waiting++
      place.whenLeft(() => {
        found.waiting--
        if (found.waiting > 0 || queue.get(name) !== found) return
        queue.delete(name)
        if (queue.next() === undefined) beginNext()
      })
      beginNext()
      return await found.outcome
    },
  }
}

const UNKNOWN: Failure = {
  reason: 'timeout',
  detail: 'the call was given up',
  concerns: 'endpoint',
  retryAfter: undefined,
}

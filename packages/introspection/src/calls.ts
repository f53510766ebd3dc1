import type { Clock } from '@portcullis/core'
import {
  beginFlight,
  ENDS_WITH_REQUEST,
  type Flight,
  flightOrPause,
  outcomeOf,
  TURN_PAUSE,
  type WaitUntil,
} from '@portcullis/kit/calls'
import { type Instant, instant } from '@portcullis/kit/time'
import type { Place } from '@portcullis/kit/waiting'

import { type Call, type CallTimes, createCall, type NamedToken, type Outcome } from './call.ts'
import { type Failure, isFailure } from './decisions.ts'
import {
  afterAnswer,
  afterBegin,
  afterFailure,
  afterProbeBegin,
  callStep,
  initialCalls,
  isDown,
  isProbeDue,
  type CallLimits,
  mayBeOfToken,
  placesOf,
  untilFree,
  untilRate,
} from './pace.ts'
import { createQueue, type Order } from './queue.ts'
import { createRunning } from './running.ts'

// Calls of the endpoint: one at a time for a token, limited in number, rate and time. `pace.ts` decides when one begins.

export interface Calls<Answer> {
  /** Whether a call for this token is under way, or waits for its turn. */
  has(name: string): boolean
  /**
   * The outcome of the call for this token, which all who ask about it share. Never rejects. If all of them have left before the call
   * began, it is not made.
   */
  ask(name: string, token: string, place: Place, waitUntil?: WaitUntil): Promise<Outcome<Answer>>
  /** Asks about a token although nobody waits for the answer, if a call may begin now. */
  renew(name: string, token: string, waitUntil?: WaitUntil): void
  /** Whether the endpoint has failed when it was last asked, and lately. */
  isDown(): boolean
}

export interface CallsOptions<Answer> extends CallLimits {
  readonly clock: Clock
  /** The longest that a call takes. Seconds. */
  readonly timeout: number
  readonly order: Order
  /** How many answers have come before. */
  readonly answers: number
  /** From 0 to 1. */
  readonly random: () => number
  /** Asks the endpoint. Never rejects. @param askedAt When it was asked: nobody knows whether the answer is true of a later moment. */
  readonly call: (
    token: string,
    askedAt: Instant,
    waitUntil: WaitUntil | undefined,
  ) => Promise<Answer | Failure>
  /** Called with each answer, before those who wait for it get it. */
  readonly settled: (token: string, name: string, answer: Answer) => void
  /** Called with each failure that may be the fault of the token. Returns when the token may be asked about again. */
  readonly tokenFailed: (name: string, failure: Failure, times: CallTimes) => number
  /** A token that was active by its last answer, and has no call at the moment. */
  readonly good: () => NamedToken | undefined
  /** Of the runtime; by default it is asked. */
  readonly endsWithRequest?: boolean | undefined
}

export function createCalls<Answer extends object>(options: CallsOptions<Answer>): Calls<Answer> {
  const { clock, timeout, random, call, settled, tokenFailed, good } = options
  const { endsWithRequest = ENDS_WITH_REQUEST } = options
  const running = createRunning<Call<Answer>>(clock, timeout)
  /** There are no more of them than there are tokens that wait. */
  const queue = createQueue<Call<Answer>>(options.order)
  let state = initialCalls(options, clock.monotonic(), options.answers)
  let cancelTimer: (() => void) | undefined

  function find(name: string): Call<Answer> | undefined {
    return running.find(name) ?? queue.get(name)
  }

  function step() {
    const now = clock.monotonic()
    const places = placesOf(running.calls(), now, options)
    const word = callStep(state, { ...places, isProbing: running.isProbing() }, now, options)
    return {
      word,
      wait: word === 'pause' ? untilRate(state, now, options) : untilFree(places, now),
    }
  }

  /** Begins as many calls as may begin now, and waits if the rate or a long call is what keeps the others. */
  function beginNext(): void {
    cancelTimer?.()
    cancelTimer = undefined
    beginProbe()
    for (let next = queue.next(); next !== undefined; next = queue.next()) {
      const { word, wait } = step()
      if (word === 'join' || word === 'pause') {
        if (wait < Infinity) cancelTimer = clock.after(wait, beginNext)
        return
      }
      queue.delete(next.name)
      if (word === 'fail') {
        next.settle(failedOutcome())
      } else {
        begin(next)
      }
    }
  }

  function begin(
    next: Call<Answer>,
    waitUntil?: WaitUntil,
    isProbe = false,
  ): Flight<Outcome<Answer>> {
    const now = clock.monotonic()
    state = isProbe ? afterProbeBegin(state, now) : afterBegin(state, now, options)
    running.add(next, isProbe)
    const work = async () => {
      void run(next, waitUntil)
      return await next.outcome
    }
    next.flight = beginFlight(work, { clock, waitUntil, endsWithRequest })
    return next.flight
  }

  function beginProbe(waitUntil?: WaitUntil): void {
    running.dropProbe(({ flight }) => flight?.isOrphaned() === true)
    const isDue = !running.isProbing() && isProbeDue(state, clock.monotonic())
    const other = isDue ? good() : undefined
    if (other !== undefined) begin(createCall(other), waitUntil, true)
  }

  function ownFlightOrPause(named: NamedToken, waitUntil: WaitUntil | undefined) {
    running.dropLost()
    const found = running.find(named.name)
    return flightOrPause(found?.flight, clock, () => {
      if (found !== undefined) running.end(found)
      beginProbe(waitUntil)
      const { word } = step()
      if (word === 'begin') return begin(createCall(named), waitUntil)
      if (word !== 'fail') return TURN_PAUSE
      return beginFlight(async () => failedOutcome(), { clock, waitUntil: undefined })
    })
  }

  async function run(begun: Call<Answer>, waitUntil: WaitUntil | undefined): Promise<void> {
    const askedAt = instant(clock)
    const { answers } = state
    begun.since = askedAt.monotonic
    const answer = await call(begun.token, askedAt, waitUntil)
    const kind = running.end(begun)
    // One that was given up has nothing to say: another may have taken its place.
    if (kind === undefined) {
      begun.settle(failedOutcome())
      return
    }
    const times = { startedAt: askedAt.monotonic, settledAt: clock.monotonic() }
    if (isFailure(answer)) {
      const isOfToken = mayBeOfToken(answer, state)
      const ownPauseEnd = isOfToken ? tokenFailed(begun.name, answer, times) : -Infinity
      const failed = { name: begun.name, ...times, isProbe: kind === 'probe', answers }
      const hasOther = running.isProbing() || good() !== undefined
      state = afterFailure(state, failed, answer, hasOther, random())
      begun.settle(failedOutcome(answer, Math.max(ownPauseEnd, state.pauseEnd)))
    } else {
      state = afterAnswer(state, times.settledAt)
      settled(begun.token, begun.name, answer)
      begun.settle({ failure: undefined, answer })
    }
    // Nobody waits in the queue there: see `outcomeOf`.
    if (!endsWithRequest) beginNext()
  }

  function failedOutcome(
    failure: Failure = state.lastFailure ?? UNKNOWN,
    pauseEnd: number = state.pauseEnd,
  ): Outcome<Answer> {
    return { failure, retryAfter: Math.max(0, pauseEnd - clock.monotonic()) }
  }

  return {
    has: (name) => find(name) !== undefined,
    isDown: () => isDown(state, clock.monotonic(), timeout),
    renew(name, token, waitUntil) {
      running.dropLost()
      if (find(name) !== undefined) return
      beginProbe(waitUntil)
      if (step().word !== 'begin') return
      const next = createCall<Answer>({ name, token })
      if (endsWithRequest) begin(next, waitUntil)
      else {
        // Those who wait come first.
        queue.add(name, next)
        beginNext()
      }
    },
    async ask(name, token, place, waitUntil) {
      if (endsWithRequest) {
        const next = () => ownFlightOrPause({ name, token }, waitUntil)
        return (await outcomeOf(next, clock, place)) ?? failedOutcome()
      }
      running.dropLost()
      let found = find(name)
      if (found === undefined) {
        found = createCall({ name, token })
        queue.add(name, found)
      } else queue.repeat(name)
      const joined = found
      joined.waiting++
      place.whenLeft(() => {
        joined.waiting--
        if (joined.waiting > 0 || queue.get(name) !== joined) return
        queue.delete(name)
        if (queue.next() === undefined) beginNext()
      })
      beginNext()
      return await joined.outcome
    },
  }
}

const UNKNOWN: Failure = {
  reason: 'timeout',
  detail: 'the call was given up',
  concerns: 'endpoint',
  retryAfter: undefined,
}

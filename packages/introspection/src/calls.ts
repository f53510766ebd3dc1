import type { Clock } from '@portcullis/core'
import {
  type BegunCall,
  type Calls as SharedCalls,
  createCalls as createSharedCalls,
  type CallStep,
  type RunningCalls,
  type WaitUntil,
} from '@portcullis/kit/calls'
import type { Instant } from '@portcullis/kit/time'

import {
  type CallTimes,
  type Failure,
  isFailure,
  type NamedToken,
  type Outcome,
} from './decisions.ts'
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

// Calls of the endpoint: one at a time for a token, limited in number, rate and time. `pace.ts` decides when one begins.

/** By the names of tokens: `ask` never rejects. */
export interface Calls<Answer> extends SharedCalls<NamedToken, Outcome<Answer>> {
  /** Whether the endpoint has failed when it was last asked, and lately. */
  isDown(): boolean
}

export interface CallsOptions<Answer> extends CallLimits {
  readonly clock: Clock
  readonly timeout: number
  readonly answers: number
  /** From 0 to 1. */
  readonly random: () => number
  /** Asks the endpoint. Never rejects. @param askedAt When it was asked: nobody knows whether the answer is true of a later moment. */
  readonly call: (
    token: string,
    askedAt: Instant,
    waitUntil: WaitUntil | undefined,
  ) => Promise<Answer | Failure>
  readonly settled: (token: string, name: string, answer: Answer) => void
  /** Called with each failure that may be the fault of the token. Returns when the token may be asked about again. */
  readonly tokenFailed: (name: string, failure: Failure, times: CallTimes) => number
  /** A token that was active by its last answer, and has no call at the moment. */
  readonly good: () => NamedToken | undefined
  readonly endsWithRequest?: boolean | undefined
}

/** What a call has brought, and how many answers had come when it began. */
interface Brought<Answer> {
  readonly answer: Answer | Failure
  readonly answers: number
}

export function createCalls<Answer extends object>(options: CallsOptions<Answer>): Calls<Answer> {
  const { clock, timeout, random, tokenFailed, good, endsWithRequest } = options
  let state = initialCalls(options, clock.monotonic(), options.answers)

  const shared = createSharedCalls<NamedToken, Brought<Answer>, Outcome<Answer>>({
    clock,
    timeout,
    endsWithRequest,
    step,
    async call({ token }, { startedAt, isProbe, waitUntil }) {
      const now = startedAt.monotonic
      const { answers } = state
      state = isProbe ? afterProbeBegin(state, now) : afterBegin(state, now, options)
      return { answer: await options.call(token, startedAt, waitUntil), answers }
    },
    settled,
    givenUp: () => failedOutcome(),
    probe: () => (isProbeDue(state, clock.monotonic()) ? good() : undefined),
  })

  function step({ since, isProbing }: RunningCalls): CallStep<Outcome<Answer>> {
    const now = clock.monotonic()
    const places = placesOf(since, now, options)
    const word = callStep(state, { ...places, isProbing }, now, options)
    if (word === 'begin') return { word }
    if (word === 'fail') return { word: 'end', outcome: failedOutcome() }
    if (word === 'pause') return { word, seconds: untilRate(state, now, options) }
    return { word: 'full', seconds: untilFree(places, now) }
  }

  function settled(
    { name, token }: NamedToken,
    { answer, answers }: Brought<Answer>,
    { startedAt, isProbe }: BegunCall,
    isProbing: boolean,
  ): Outcome<Answer> {
    const times = { startedAt: startedAt.monotonic, settledAt: clock.monotonic() }
    if (isFailure(answer)) {
      const isOfToken = mayBeOfToken(answer, state)
      const ownPauseEnd = isOfToken ? tokenFailed(name, answer, times) : -Infinity
      const hasOther = isProbing || good() !== undefined
      state = afterFailure(state, { name, ...times, isProbe, answers }, answer, hasOther, random())
      return failedOutcome(answer, Math.max(ownPauseEnd, state.pauseEnd))
    }
    state = afterAnswer(state, times.settledAt)
    options.settled(token, name, answer)
    return { failure: undefined, answer }
  }

  function failedOutcome(
    failure: Failure = state.lastFailure ?? UNKNOWN,
    pauseEnd: number = state.pauseEnd,
  ): Outcome<Answer> {
    return { failure, retryAfter: Math.max(0, pauseEnd - clock.monotonic()) }
  }

  return { ...shared, isDown: () => isDown(state, clock.monotonic(), timeout) }
}

const UNKNOWN: Failure = {
  reason: 'timeout',
  detail: 'the call was given up',
  concerns: 'endpoint',
  retryAfter: undefined,
}

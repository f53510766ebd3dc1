import { failurePauseEnd, LONGEST_PAUSE } from '@portcullis/kit/pace'

import type { Failure } from './decisions.ts'

// When the next call begins, and what a failed one counts for: pure functions of a state and a moment, which answer with a word. Times
// are seconds of the monotonic clock.

/** So many different tokens have failed in a row when another one is asked about, which was good before. */
const DOUBT = 5

/** So many, where there is no such token, when all calls are paced. */
const LONGEST_ROW = 16

/**
 * The pause while only calls that may have failed by their tokens say that the endpoint is down: a good token may have ended since. So
 * nobody is refused for it, and a genuine one that is new is soon asked about, whose answer ends the doubt.
 */
const DOUBTFUL_PAUSE = 0.4

/** The shortest time from the beginning of a probe to that of the next one. */
const PROBE_INTERVAL = 1

/** A call that lasts for longer takes another kind of place, so that tokens that hang keep no others waiting. */
const LONG_CALL = 1

/** What is left after rounding must not become a wait of nothing, again and again. */
const SHORTEST_WAIT = 0.001

/** What is known of the endpoint from the calls for one group of tokens. Replaced as a whole. */
export interface CallsState {
  /** Failures of the endpoint in a row; those of calls that ran at the same time count as one. */
  readonly failures: number
  readonly lastFailure: Failure | undefined
  /** When the last failure was noticed, and the end of the pause that it causes. */
  readonly failedAt: number
  readonly pauseEnd: number
  /** The end of the last pause that the endpoint has asked for. No answer ends it early. */
  readonly quietEnd: number
  /** Tokens whose calls have failed since the last answer, at most {@link LONGEST_ROW}. */
  readonly row: ReadonlySet<string>
  readonly answers: number
  readonly probedAt: number
  /** A token bucket: how many calls could begin at `countedAt`. */
  readonly calls: number
  readonly countedAt: number
}

export interface CallLimits {
  /** How many calls may run at the same time, and as many again of those that last long. */
  readonly maxCalls: number
  /** How many may begin in a second; `Infinity` for any number. */
  readonly maxRate: number
}

/** @param answers How many answers have come before. */
export function initialCalls({ maxCalls }: CallLimits, now: number, answers = 0): CallsState {
  return {
    failures: 0,
    lastFailure: undefined,
    failedAt: -Infinity,
    pauseEnd: -Infinity,
    quietEnd: -Infinity,
    row: new Set(),
    answers,
    probedAt: -Infinity,
    calls: maxCalls,
    countedAt: now,
  }
}

/** How many of the places are taken, and when one of them will be free without the end of a call. */
export interface Places {
  readonly taken: number
  /** `Infinity` if there will be none. */
  readonly freeAt: number
}

/** @param begun When each call that runs has begun. */
export function placesOf(begun: readonly number[], now: number, { maxCalls }: CallLimits): Places {
  let long = 0
  let freeAt = Infinity
  for (const since of begun) {
    if (now - since >= LONG_CALL) long += 1
    else freeAt = Math.min(freeAt, since + LONG_CALL)
  }
  return {
    taken: begun.length - Math.min(long, maxCalls),
    freeAt: long < maxCalls ? freeAt : Infinity,
  }
}

/**
 * `begin`; `join` the queue until there is a place or a probe has ended; `pause` until rate or doubt allow it; `fail`, since the endpoint
 * has a pause. After a failure one call at a time finds out whether it works: about a good token first; in doubt, beside it one that waits.
 */
export function callStep(
  state: CallsState,
  { taken, isProbing }: { readonly taken: number; readonly isProbing: boolean },
  now: number,
  limits: CallLimits,
): 'begin' | 'join' | 'pause' | 'fail' {
  const isFailing = state.failures > 0
  if (isPaused(state, now)) return isDoubtful(state, now) ? 'pause' : 'fail'
  if (isFailing && isProbing && !isDoubtful(state, now)) return 'join'
  if (taken >= (isFailing ? 1 : limits.maxCalls)) return 'join'
  return callsLeft(state, now, limits) >= 1 ? 'begin' : 'pause'
}

function isPaused({ pauseEnd }: CallsState, now: number): boolean {
  return now < pauseEnd
}

/** Whether all that speaks for an outage may be the fault of tokens, and the endpoint has asked for no pause. */
function isDoubtful(state: CallsState, now: number): boolean {
  const { lastFailure, quietEnd } = state
  return lastFailure !== undefined && mayBeOfToken(lastFailure, state) && now >= quietEnd
}

/** Until the rate, and the pause of a doubt, let another call begin. */
export function untilRate(state: CallsState, now: number, limits: CallLimits): number {
  const byRate = (1 - callsLeft(state, now, limits)) / limits.maxRate
  return Math.max(SHORTEST_WAIT, state.pauseEnd - now, byRate)
}

/** Until there is a place: see {@link Places}. */
export function untilFree({ freeAt }: Pick<Places, 'freeAt'>, now: number): number {
  return Math.max(SHORTEST_WAIT, freeAt - now)
}

function callsLeft({ calls, countedAt }: CallsState, now: number, limits: CallLimits): number {
  if (limits.maxRate === Infinity) return limits.maxCalls
  return Math.min(limits.maxCalls, calls + Math.max(0, now - countedAt) * limits.maxRate)
}

export function afterBegin(state: CallsState, now: number, limits: CallLimits): CallsState {
  return { ...state, calls: callsLeft(state, now, limits) - 1, countedAt: now }
}

/** Calls of others have failed: only a token that was good can tell whether that is the fault of the endpoint, or theirs. */
export function isProbeDue(state: CallsState, now: number): boolean {
  const isUnclear = state.failures > 0 || state.row.size >= DOUBT
  return isUnclear && !isPaused(state, now) && now - state.probedAt >= PROBE_INTERVAL
}

export function afterProbeBegin(state: CallsState, now: number): CallsState {
  return { ...state, probedAt: now }
}

/** The call of an answer that comes during a pause has begun before it, so that it cannot know of what was asked for since. */
export function afterAnswer(state: CallsState, now: number): CallsState {
  const answered = { ...state, answers: state.answers + 1, row: new Set<string>() }
  if (now < state.quietEnd) return answered
  return { ...answered, failures: 0, lastFailure: undefined, pauseEnd: -Infinity }
}

/**
 * Whether the endpoint failed when it was last asked, and lately: a failure of an hour ago says nothing.
 *
 * @param timeout The longest call: of one that failed with the first and was told to wait, and of the one after the pause.
 */
export function isDown({ failures, failedAt }: CallsState, now: number, timeout: number): boolean {
  return failures > 0 && now - failedAt <= LONGEST_PAUSE + 2 * timeout
}

export interface FailedCall {
  readonly name: string
  readonly startedAt: number
  readonly settledAt: number
  /** Whether it was made because others had failed: see {@link isProbeDue}. */
  readonly isProbe: boolean
  /** How many answers had come when it began. */
  readonly answers: number
}

/** An issuer that has answered knows our credentials, and many refuse a client because of a token that they do not know. */
export function mayBeOfToken({ concerns }: Failure, { answers }: CallsState): boolean {
  return concerns === 'token' || (concerns === 'client' && answers > 0)
}

/** Its `token` alone; the `endpoint`, which gets a pause; or all `calls`, which are paced: no other token could tell (`hasOther`). */
export function countsFor(
  failure: Failure,
  { name, isProbe, answers }: FailedCall,
  state: CallsState,
  hasOther: boolean,
): 'token' | 'endpoint' | 'calls' {
  if (!mayBeOfToken(failure, state)) return 'endpoint'
  // If another token was answered meanwhile, the endpoint works.
  if (isProbe && answers === state.answers) return 'endpoint'
  return rowWith(state, name).size >= LONGEST_ROW && !hasOther ? 'calls' : 'token'
}

function rowWith({ row }: CallsState, name: string): ReadonlySet<string> {
  return row.size >= LONGEST_ROW || row.has(name) ? row : new Set([...row, name])
}

/** @param hasOther As for {@link countsFor}. @param random From 0 to 1, so that a fleet does not come back in step. */
export function afterFailure(
  state: CallsState,
  call: FailedCall,
  failure: Failure,
  hasOther: boolean,
  random: number,
): CallsState {
  const row = mayBeOfToken(failure, state) ? rowWith(state, call.name) : state.row
  const word = countsFor(failure, call, state, hasOther)
  if (word === 'token') return { ...state, row }
  const { settledAt } = call
  // It began before an outage was known: it is the same outage.
  const isSame = call.startedAt <= state.failedAt && state.failures > 0
  const failures = isSame ? state.failures : state.failures + 1
  const failedAt = isSame ? state.failedAt : settledAt
  const times = { startedAt: failedAt, settledAt }
  const longest = mayBeOfToken(failure, state) ? failedAt + DOUBTFUL_PAUSE : Infinity
  const pauseEnd = Math.min(
    longest,
    failurePauseEnd(failures, times, failure.retryAfter ?? 0, random),
  )
  return {
    ...state,
    row,
    failures,
    lastFailure: failure,
    failedAt,
    pauseEnd: isSame ? Math.max(state.pauseEnd, pauseEnd) : pauseEnd,
    quietEnd: (failure.retryAfter ?? 0) > 0 ? Math.max(state.quietEnd, pauseEnd) : state.quietEnd,
  }
}

import { elapsed, failurePauseEnd, type Instant, LONGEST_PAUSE } from '@portcullis/core/verifier'

// What is decided about answers and calls: pure functions of a state and a moment, which answer with a word. Times are seconds.

/** How long the answer that a token is not active is believed: a token may be presented before it is known everywhere. */
const INACTIVE_AGE = 5

export interface AgePolicy {
  readonly maxAge: number
  readonly staleIfError: number
}

/** When an answer was asked for, which is the latest moment that it is sure to be true of, and when its token expires. */
export interface AnswerTimes {
  readonly askedAt: Instant
  /** NumericDate, if the answer has one. */
  readonly exp: number | undefined
}

/**
 * What an answer is good for: `fresh`: it is used; `stale`: in an outage; `over`: for nothing.
 *
 * An answer whose `exp` has passed when it comes is kept for a moment as well: its token is refused again and again without a call.
 */
export function answerState(
  { askedAt, exp = Infinity }: AnswerTimes,
  now: Instant,
  { maxAge, staleIfError }: AgePolicy,
): 'fresh' | 'stale' | 'over' {
  const age = elapsed(askedAt, now)
  const left = exp - askedAt.wall
  if (age < Math.min(maxAge, left > 0 ? left : INACTIVE_AGE)) return 'fresh'
  return age < Math.min(maxAge + staleIfError, left) ? 'stale' : 'over'
}

/**
 * Whether an answer has come, or is still in use, within `maxAge` of its question. Its `exp` is not looked at: the rules judge that,
 * with their tolerance.
 */
export function isYoung(
  { askedAt }: Pick<AnswerTimes, 'askedAt'>,
  now: Instant,
  { maxAge }: Pick<AgePolicy, 'maxAge'>,
): boolean {
  return elapsed(askedAt, now) < maxAge
}

/** Whether a token still counts as not active, without a question. */
export function isStillInactive(askedAt: Instant, now: Instant, { maxAge }: AgePolicy): boolean {
  return elapsed(askedAt, now) < Math.min(INACTIVE_AGE, maxAge)
}

/** What is known of the endpoint from the calls of one lane. Replaced as a whole. */
export interface LaneState {
  /** Failures in a row; those of calls that ran at the same time count as one. */
  readonly failures: number
  readonly lastFailure: Failure | undefined
  /** When the last failure was noticed, and the end of the pause that it causes. By the monotonic clock, as all times here. */
  readonly failedAt: number
  readonly pauseEnd: number
  /** The end of the last pause that the endpoint has asked for. No answer ends it early. */
  readonly quietEnd: number
  /** A token bucket: how many calls could begin at `countedAt`. */
  readonly calls: number
  readonly countedAt: number
}

/** Why there is no answer. `detail` is for developers, and names no URL. */
export interface Failure {
  readonly reason: 'unreachable' | 'timeout' | 'bad_answer'
  readonly detail: string
  /**
   * `token`: the endpoint has answered, and the answer may have been bad because of the token that was asked about. It causes a pause
   * for this token alone, so that nobody can stop the calls for all others with one invented token.
   */
  readonly concerns: 'endpoint' | 'token'
  /** The pause that the answer asked for. */
  readonly retryAfter: number | undefined
}

export function isFailure(answer: object): answer is Failure {
  return Object.hasOwn(answer, 'concerns')
}

export interface LaneLimits {
  /** How many calls may run at the same time. */
  readonly maxCalls: number
  /** How many may begin in a second; `Infinity` for any number. */
  readonly maxRate: number
}

export function initialLane({ maxCalls }: LaneLimits, now: number): LaneState {
  return {
    failures: 0,
    lastFailure: undefined,
    failedAt: -Infinity,
    pauseEnd: -Infinity,
    quietEnd: -Infinity,
    calls: maxCalls,
    countedAt: now,
  }
}

/**
 * What the next call of a lane does: `begin`; `join` the queue until one that runs has ended; `pause` for the rate; `fail`, since the
 * endpoint is given a pause. After a failure one call at a time finds out whether it has come back.
 */
export function callStep(
  state: LaneState,
  underWay: number,
  now: number,
  limits: LaneLimits,
): 'begin' | 'join' | 'pause' | 'fail' {
  if (isPaused(state, now)) return 'fail'
  if (underWay >= (state.failures > 0 ? 1 : limits.maxCalls)) return 'join'
  return callsLeft(state, now, limits) >= 1 ? 'begin' : 'pause'
}

function isPaused({ pauseEnd }: LaneState, now: number): boolean {
  return now < pauseEnd
}

/** What is left after rounding must not become a wait of nothing, again and again. Seconds. */
const SHORTEST_WAIT = 0.001

/** Until the rate lets another call begin. */
export function untilRate(state: LaneState, now: number, limits: LaneLimits): number {
  return Math.max(SHORTEST_WAIT, (1 - callsLeft(state, now, limits)) / limits.maxRate)
}

function callsLeft({ calls, countedAt }: LaneState, now: number, limits: LaneLimits): number {
  if (limits.maxRate === Infinity) return limits.maxCalls
  return Math.min(limits.maxCalls, calls + Math.max(0, now - countedAt) * limits.maxRate)
}

export function afterBegin(state: LaneState, now: number, limits: LaneLimits): LaneState {
  return { ...state, calls: callsLeft(state, now, limits) - 1, countedAt: now }
}

/** The call of an answer that comes during a pause has begun before it, so that it cannot know of what was asked for since. */
export function afterAnswer(state: LaneState, now: number): LaneState {
  if (now < state.quietEnd) return state
  return { ...state, failures: 0, lastFailure: undefined, pauseEnd: -Infinity }
}

/**
 * Whether the endpoint has failed when it was last asked, and that was lately: a failure of an hour ago says nothing of an endpoint that
 * nobody has asked since.
 *
 * @param timeout The longest that a call takes: of one that failed with the first and was told to wait, and of the one after the pause.
 */
export function isDown({ failures, failedAt }: LaneState, now: number, timeout: number): boolean {
  return failures > 0 && now - failedAt <= LONGEST_PAUSE + 2 * timeout
}

/** @param random From 0 to 1, so that a fleet does not come back in step. */
export function afterFailure(
  state: LaneState,
  { startedAt, settledAt }: { readonly startedAt: number; readonly settledAt: number },
  failure: Failure,
  random: number,
): LaneState {
  if (failure.concerns === 'token') return afterAnswer(state, settledAt)
  // It began before an outage was known: it is the same outage.
  const isSame = startedAt <= state.failedAt && state.failures > 0
  const failures = isSame ? state.failures : state.failures + 1
  const times = { startedAt: isSame ? state.failedAt : settledAt, settledAt }
  const pauseEnd = failurePauseEnd(failures, times, failure.retryAfter ?? 0, random)
  return {
    ...state,
    failures,
    lastFailure: failure,
    failedAt: isSame ? state.failedAt : settledAt,
    pauseEnd: isSame ? Math.max(state.pauseEnd, pauseEnd) : pauseEnd,
    quietEnd: (failure.retryAfter ?? 0) > 0 ? Math.max(state.quietEnd, pauseEnd) : state.quietEnd,
  }
}

/** What is known of one token about which the endpoint has given a bad answer. */
export interface OddToken {
  /** Bad answers in a row. */
  readonly failures: number
  readonly failure: Failure
  /** Until then it is not asked about. Seconds of the monotonic clock. */
  readonly pauseEnd: number
}

/** @param before What was known of it, if it had bad answers before. */
export function afterBadAnswer(
  before: OddToken | undefined,
  times: { readonly startedAt: number; readonly settledAt: number },
  failure: Failure,
  random: number,
): OddToken {
  const isInRow = before !== undefined && times.startedAt - before.pauseEnd <= LONGEST_PAUSE
  const failures = isInRow ? before.failures + 1 : 1
  return {
    failures,
    failure,
    pauseEnd: failurePauseEnd(failures, times, failure.retryAfter ?? 0, random),
  }
}

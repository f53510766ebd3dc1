import { drawn, failurePauseEnd, LONGEST_PAUSE } from '@portcullis/kit/pace'
import { elapsed, type Instant } from '@portcullis/kit/time'

// What is decided about answers, and about tokens without one: pure functions of a state and a moment, which answer with a word. Times
// are seconds. `pace.ts` decides about calls.

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
  /** The age from which on it is asked for again behind a request: see {@link renewalAge}. */
  readonly renewAt: number
}

/** Renewals begin between these parts of `maxAge`. */
const RENEWAL = { from: 0.5, to: 0.9 }

/** @param random From 0 to 1, drawn for each answer: tokens that came together are not asked about together for ever. */
export function renewalAge({ maxAge }: Pick<AgePolicy, 'maxAge'>, random: number): number {
  return drawn(maxAge, RENEWAL.from, RENEWAL.to, random)
}

/**
 * `fresh`: it is used; `due`: and asked for again behind that; `stale`: in an outage; `over`: not. One whose `exp` has passed when it
 * comes is kept for a moment: its token is refused again and again without a call.
 */
export function answerState(
  { askedAt, exp = Infinity, renewAt }: AnswerTimes,
  now: Instant,
  { maxAge, staleIfError }: AgePolicy,
): 'fresh' | 'due' | 'stale' | 'over' {
  const age = elapsed(askedAt, now)
  const left = exp - askedAt.wall
  if (age < Math.min(maxAge, left > 0 ? left : INACTIVE_AGE)) {
    return left > 0 && age >= renewAt ? 'due' : 'fresh'
  }
  return age < Math.min(maxAge + staleIfError, left) ? 'stale' : 'over'
}

/** Whether an answer is in use within `maxAge` of its question. Its `exp` is for the rules to judge, with their tolerance. */
export function isYoung(
  { askedAt }: Pick<AnswerTimes, 'askedAt'>,
  now: Instant,
  { maxAge }: Pick<AgePolicy, 'maxAge'>,
): boolean {
  return elapsed(askedAt, now) < maxAge
}

export function isStillInactive(
  askedAt: Instant | undefined,
  now: Instant,
  { maxAge }: AgePolicy,
): boolean {
  return askedAt !== undefined && elapsed(askedAt, now) < Math.min(INACTIVE_AGE, maxAge)
}

/** Why there is no answer. `detail` is for developers, and names no URL. */
export interface Failure {
  readonly reason: 'unreachable' | 'timeout' | 'bad_answer'
  readonly detail: string
  /**
   * What it may be the fault of. `endpoint`: it cannot depend on the token that was asked about. `client`: the issuer says that it does
   * not know this API. `token`: everything else, so that nobody can stop the calls for all others with tokens of their own.
   */
  readonly concerns: 'endpoint' | 'client' | 'token'
  readonly retryAfter: number | undefined
}

export function isFailure(answer: object): answer is Failure {
  return Object.hasOwn(answer, 'concerns')
}

/** What is known of one token whose calls fail. */
export interface FailingToken {
  readonly failures: number
  readonly failure: Failure
  /** Until then it is not asked about. Seconds of the monotonic clock. */
  readonly pauseEnd: number
  /** How many answers about any token had come when the first of these failures did. */
  readonly answers: number
}

/** @param before What was known of it, if its calls have failed before. @param answers How many answers about any token have come. */
export function afterTokenFailure(
  before: FailingToken | undefined,
  times: { readonly startedAt: number; readonly settledAt: number },
  failure: Failure,
  answers: number,
  random: number,
): FailingToken {
  const isInRow = isFailing(before, times.startedAt)
  const failures = isInRow ? before.failures + 1 : 1
  return {
    failures,
    failure,
    answers: isInRow ? before.answers : answers,
    pauseEnd: failurePauseEnd(failures, times, failure.retryAfter ?? 0, random),
  }
}

/** Whether what was said of a token may be used although only its own calls fail: if the endpoint has answered about no other since. */
export function mayBeOutage(
  failing: FailingToken | undefined,
  now: number,
  answers: number,
): boolean {
  if (!isFailing(failing, now)) return false
  return failing.failure.reason !== 'bad_answer' && failing.answers === answers
}

/** Whether the calls of a token fail, and have done so lately. */
function isFailing(failing: FailingToken | undefined, now: number): failing is FailingToken {
  return failing !== undefined && now - failing.pauseEnd <= LONGEST_PAUSE
}

export type Outcome<Answer> =
  | { readonly failure: undefined; readonly answer: Answer }
  | { readonly failure: Failure; readonly retryAfter: number }

export interface NamedToken {
  readonly name: string
  readonly token: string
}

/** When a call began, and when it ended. Seconds of the monotonic clock. */
export interface CallTimes {
  readonly startedAt: number
  readonly settledAt: number
}

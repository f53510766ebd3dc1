import { doubled, LONGEST_PAUSE } from '@portcullis/kit/pace'
import { elapsed, type Instant } from '@portcullis/kit/time'

import type { KeyFreshness } from '../report/diagnostics.ts'
import type { Attempt, CacheState } from './cache-state.ts'
import type { KeyRing } from './key-source.ts'
import { DEFAULT_MAX_AGE } from './lifetime.ts'
import { mayStart, nextAttempt, type Trigger } from './pace.ts'
import { type FetchedRing, type RetiredKey, withoutEndedOverlaps } from './ring.ts'

// What the key cache decides: pure functions of its state, a moment and the options, which answer with a word. Whoever
// carries the words out decides nothing. Times are seconds.

/** What the user can say about the cache, and what is drawn for each process. */
export interface RotationPolicy {
  /** `undefined`: 300, or what the document's `Cache-Control` says. */
  readonly maxAge: number | undefined
  readonly staleWhileRevalidate: number
  readonly staleIfError: number
  readonly overlap: number
  /** Deadline of one attempt. */
  readonly timeout: number
  /** From 0 to 1, drawn once, so that the processes of a fleet do not act in step. */
  readonly spread: number
}

/** How soon a token of a key that left may ask whether it is back. */
const FIRST_RETIRED_QUESTION = 15
/** How soon a token that was answered may ask again: it may have come before its key was published. */
const FIRST_REPEATED_QUESTION = 4

/** @see RFC 5861, whose words these are */
export function freshness(
  ring: FetchedRing | undefined,
  now: Instant,
  policy: RotationPolicy,
): KeyFreshness {
  if (ring === undefined) return 'empty'
  const age = elapsed(ring.fetchedAt, now)
  if (age < ring.maxAge) return 'fresh'
  if (age < ring.maxAge + policy.staleWhileRevalidate) return 'stale'
  if (age < ring.maxAge + policy.staleIfError) return 'expired'
  return 'empty'
}

/** What a caller does with the keys that there are. */
export function callerStep(
  state: CacheState,
  now: Instant,
  policy: RotationPolicy,
  isFetching: boolean,
): 'use' | 'use and refresh' | 'wait' {
  const word = freshness(state.ring, now, policy)
  // Keys of a snapshot are confirmed behind the first request, however young they are.
  if (word === 'fresh' && state.ring?.isSaved !== true) return 'use'
  if (word === 'empty') return 'wait'
  if (word === 'expired' && !hasFailedLately(state.last, now, policy)) return 'wait'
  return !isFetching && attemptStep(state, 'age', now, policy) === 'start'
    ? 'use and refresh'
    : 'use'
}

/**
 * Whether the endpoint counts as down: within the longest time that can pass between two failures of one outage. So an
 * endpoint that hangs stalls nobody twice, and a failure long ago keeps no key in use.
 */
function hasFailedLately(
  last: Attempt | undefined,
  now: Instant,
  { timeout }: RotationPolicy,
): boolean {
  return last?.failure !== undefined && elapsed(last.settledAt, now) < LONGEST_PAUSE + timeout
}

/**
 * When the ring could no longer be used without a fetch, if that was before this moment. From then on a key that has left
 * would not have been trusted any more.
 */
export function ringEnd(
  { ring, last }: CacheState,
  now: Instant,
  policy: RotationPolicy,
): Instant | undefined {
  if (ring === undefined) return undefined
  const { staleWhileRevalidate, staleIfError } = policy
  const use = hasFailedLately(last, now, policy) ? staleIfError : staleWhileRevalidate
  const unused = elapsed(ring.fetchedAt, now) - (ring.maxAge + use)
  if (unused <= 0) return undefined
  return { wall: now.wall - unused, monotonic: now.monotonic - unused }
}

/** What somebody who needs an attempt does: `join` the one under way, `start` one, `pause` until it may start. */
export type AttemptStep = 'join' | 'start' | 'pause'

/**
 * What somebody who waits for keys does next.
 *
 * @param hasSettled Whether an attempt has settled since the wait began. Its keys are used even if a step of the wall
 *   clock made them too old at once: they have just been fetched.
 */
export function waitingCallerStep(
  state: CacheState,
  now: Instant,
  policy: RotationPolicy,
  isFetching: boolean,
  hasSettled: boolean,
): AttemptStep | 'use' | 'unavailable' {
  const isDown = lastAttemptFailed(state)
  if (hasSettled) {
    return !isDown || callerStep(state, now, policy, true) !== 'wait' ? 'use' : 'unavailable'
  }
  if (isFetching) return 'join'
  const step = attemptStep(state, 'age', now, policy)
  // While the endpoint is down nobody waits for it to be asked again.
  return step === 'refrain' || (step === 'pause' && isDown) ? 'unavailable' : step
}

/**
 * The keys that may prove a token which arrived at a certain moment. None if a caller would have to wait now, unless an attempt
 * since then has brought them.
 */
export function usableRing(
  state: CacheState,
  now: Instant,
  policy: RotationPolicy,
  arrived: Instant,
): KeyRing | undefined {
  const { ring } = state
  if (ring === undefined) return undefined
  const isBrought = isAnswered(state, now, policy, arrived) && !lastAttemptFailed(state)
  return isBrought || callerStep(state, now, policy, true) !== 'wait'
    ? withoutEndedOverlaps(ring, now, policy)
    : undefined
}

/** What a token that no trusted key proves does: ask whether the key was rotated, or be refused without a question. */
export function suspicionStep(
  state: CacheState,
  now: Instant,
  policy: RotationPolicy,
  isFetching: boolean,
): 'ask' | 'refuse' {
  const mayAsk = isFetching || attemptStep(state, 'suspicion', now, policy) !== 'refrain'
  // While the endpoint is down nobody can tell whether the key was rotated: 503, and not 401.
  return mayAsk || lastAttemptFailed(state) ? 'ask' : 'refuse'
}

/**
 * What somebody does next who waits for an attempt that started after a certain moment: an older one may have missed the
 * rotation. `answered`: it has settled, and {@link unprovenTokenStep} says with what result.
 */
export function questionStep(
  state: CacheState,
  trigger: Trigger,
  now: Instant,
  policy: RotationPolicy,
  isFetching: boolean,
  since: Instant,
): AttemptStep | 'answered' | 'refrain' {
  if (isAnswered(state, now, policy, since)) return 'answered'
  return isFetching ? 'join' : attemptStep(state, trigger, now, policy)
}

/** What a token that no key proves is told when nothing more can be found out now. */
export function unprovenTokenStep(state: CacheState): 'refuse' | 'unavailable' {
  return lastAttemptFailed(state) ? 'unavailable' : 'refuse'
}

/** A question that was answered: when the attempt started that answered it, and how often it was asked. */
export interface Question {
  readonly answeredAt: Instant
  readonly times: number
}

/** Whether a token that asked before may ask again. */
export function mayRepeat(
  question: Question | undefined,
  { ring }: CacheState,
  now: Instant,
): boolean {
  if (question === undefined || ring === undefined) return true
  const { answeredAt, times } = question
  const pause = doubled(FIRST_REPEATED_QUESTION, times - 1, ring.maxAge)
  return elapsed(answeredAt, now) >= pause
}

/**
 * What a token does that a retired key proves. If it was issued after the key left, the key is in use again, and the token asks
 * like any other. All others are most likely old tokens: they ask at growing intervals, and each such question counts.
 *
 * @param wasIssuedAfter Whether the token's `iat` says that it was issued after a time.
 */
export function retiredKeyStep(
  { missingSince, questions, answeredAt }: RetiredKey,
  { ring }: CacheState,
  now: Instant,
  wasIssuedAfter: (time: number) => boolean,
): 'ask' | 'ask and count' | 'refuse' {
  if (wasIssuedAfter(missingSince.wall)) return 'ask'
  const pause = doubled(FIRST_RETIRED_QUESTION, questions, ring?.maxAge ?? DEFAULT_MAX_AGE)
  return elapsed(answeredAt ?? missingSince, now) >= pause ? 'ask and count' : 'refuse'
}

/** From now until an attempt may start. Not negative, as a timer takes it: time goes on between two looks at the clock. */
export function untilNextAttempt(
  { pace }: CacheState,
  trigger: Trigger,
  now: Instant,
  { spread }: RotationPolicy,
): number {
  return Math.max(0, nextAttempt(pace, trigger, spread) - now.monotonic)
}

function attemptStep(
  { pace }: CacheState,
  trigger: Trigger,
  now: Instant,
  { spread }: RotationPolicy,
): 'start' | 'pause' | 'refrain' {
  const when = mayStart(pace, trigger, now.monotonic, spread)
  return when === 'now' ? 'start' : when === 'soon' ? 'pause' : 'refrain'
}

/** Whether an attempt has settled that started since then, and lately: on a busy machine a token may be judged much later. */
function isAnswered(
  { last }: CacheState,
  now: Instant,
  { timeout }: RotationPolicy,
  since: Instant,
): boolean {
  return (
    last !== undefined &&
    last.startedAt.monotonic >= since.monotonic &&
    now.monotonic - last.settledAt.monotonic <= timeout
  )
}

function lastAttemptFailed({ last }: CacheState): boolean {
  return last?.failure !== undefined
}

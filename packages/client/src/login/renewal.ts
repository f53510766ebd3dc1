import { doubled, drawn } from '@portcullis/kit/pace'
import type { Instant } from '@portcullis/kit/time'

import type { TokenClientErrorCode } from '../answer/errors.ts'
import { canLast, freshness, type HeldToken, remaining } from './held-token.ts'
import type { TokenClientStatus } from './token-client.ts'

// When to log in, and what callers do meanwhile: pure functions of a state and a time. Times are seconds; pauses are
// measured by the monotonic clock alone.

/** Everything the client knows. Replaced as a whole, never changed. */
export interface RenewalState {
  readonly held: HeldToken | undefined
  /** Logins in a row that brought no token. */
  readonly failures: number
  /** Those of them that the service answered without a token: it may count them as wrong passwords. */
  readonly refusals: number
  /** Those of them that were sent and not answered in time. */
  readonly timeouts: number
  readonly lastFailure: TokenClientErrorCode | undefined
  /** What the exchange calls it, such as an error code of OAuth. */
  readonly lastReason: string | undefined
  /** When the last login ended, by the monotonic clock. */
  readonly settledAt: number
  /** From 1 to 1.1: multiplies the pauses after an outage, so that processes which failed together do not come back together. */
  readonly spread: number
  /** Until then no login is made: the service asked for it, or one more refusal could lock the account. */
  readonly closedUntil: number
  /** Tokens in a row that were invalidated soon after they came. */
  readonly invalidations: number
}

export const INITIAL: RenewalState = {
  held: undefined,
  failures: 0,
  refusals: 0,
  timeouts: 0,
  lastFailure: undefined,
  lastReason: undefined,
  settledAt: 0,
  spread: 1,
  closedUntil: 0,
  invalidations: 0,
}

const LONGEST_RETRY_AFTER = 300
/** A caller without a token waits this long for the next login, which covers the pause after a first failure. */
const LONGEST_WAIT = 1.1
/** A token that was accepted is replaced at once after a 401 if it is this old: it is likely that a new one is accepted. */
const OLD_ENOUGH = 10

/**
 * What a caller of `get` does.
 *
 * - `use`: takes the token that is held.
 * - `renew`: takes it as well, and starts a login for those who come later.
 * - `prefer`: waits for a renewal; if that fails, the token that is held will do.
 * - `wait`: waits for a login, and fails with it.
 */
export type CallerStep = 'use' | 'renew' | 'prefer' | 'wait'

export function callerStep(
  state: RenewalState,
  now: Instant,
  isLoggingIn: boolean,
  minValidity: number | undefined,
): CallerStep {
  const { held } = state
  const word = freshness(held, now, minValidity)
  if (held === undefined || word === 'none') return 'wait'
  if (word === 'fresh') return 'use'
  const canStart = !isLoggingIn && nextLoginIn(state, now) === 0
  if (word === 'due') return canStart ? 'renew' : 'use'
  if (minValidity === undefined) return isLoggingIn || canStart ? 'prefer' : 'use'
  // The service's tokens do not last long enough for this caller, and another login would bring no better one.
  const isBest = !canLast(held, minValidity) && freshness(held, now) === 'fresh'
  return isBest ? 'use' : 'wait'
}

export function statusOf(
  state: RenewalState,
  now: Instant,
): Omit<TokenClientStatus, 'isLoggingIn' | 'clockSkew' | 'isClosed'> {
  const { held, lastFailure, failures } = state
  return {
    freshness: freshness(held, now),
    expiresIn: held && Math.max(0, remaining(held, now)),
    lastFailure,
    failures,
    nextLoginIn: nextLoginIn(state, now),
  }
}

export function isStillHeld({ held }: RenewalState, token: string, now: Instant): boolean {
  return held?.token === token && freshness(held, now) !== 'none'
}

export interface LoginRefusal {
  readonly code: TokenClientErrorCode
  readonly reason: string | undefined
  readonly retryAfter: number
}

/** `undefined` if a login is made, at once or after a pause that the caller can wait for; after a refusal callers do not wait. */
export function loginRefusal(state: RenewalState, now: Instant): LoginRefusal | undefined {
  const { lastFailure, lastReason } = state
  const retryAfter = nextLoginIn(state, now)
  const longest = isRefusal(lastFailure) ? 0 : LONGEST_WAIT
  if (lastFailure === undefined || retryAfter <= longest) return undefined
  return { code: lastFailure, reason: lastReason, retryAfter }
}

/** Seconds: 0 is now. */
export function nextLoginIn(state: RenewalState, now: Instant): number {
  const isUsable = freshness(state.held, now) !== 'none'
  // Longer while a token works, since nobody waits then.
  const pause = isUsable ? backOff(3, 60, state.failures) : backOff(1, 10, state.failures)
  const nextAt = Math.max(state.settledAt + pause * state.spread, state.closedUntil)
  return Math.max(0, nextAt - now.monotonic)
}

function backOff(first: number, longest: number, times: number): number {
  return times === 0 ? 0 : doubled(first, times - 1, longest)
}

export function afterLogin(state: RenewalState, held: HeldToken): RenewalState {
  return { ...INITIAL, held, invalidations: state.invalidations }
}

export interface LoginFailure {
  readonly code: TokenClientErrorCode
  readonly reason?: string | undefined
  /** A refusal that states it was not asked for again: somebody else has heard of it, and it holds for so long. */
  readonly retryAfter?: number | undefined
  readonly isSent: boolean
}

/** An answer without a token: the service has seen the credentials, and may have counted them as wrong. */
function isRefusal(code: TokenClientErrorCode | undefined): boolean {
  return code === 'credentials_rejected' || code === 'unexpected_response'
}

/** Keeps the token that is held, since it may still work. @param random From 0 to 1. */
export function afterFailure(
  state: RenewalState,
  now: Instant,
  { code, reason, retryAfter = 0, isSent }: LoginFailure,
  random: number,
): RenewalState {
  // An outage in between does not reset the count, since the service may not reset its own.
  const isRefused = isRefusal(code) && retryAfter === 0
  const refusals = state.refusals + (isRefused ? 1 : 0)
  const isUnanswered = code === 'timeout' && isSent
  const timeouts = state.timeouts + (isUnanswered ? 1 : 0)
  // Kept in the state, since whether a token works, and so which pause is due, changes while it lasts: `failurePauseEnd` cannot say its end.
  const spread = drawn(1, 1, 1.1, random)
  let pause = Math.min(retryAfter, LONGEST_RETRY_AFTER) * spread
  // Many services lock an account after a few wrong passwords.
  if (isRefused) pause = backOff(30, 300, refusals)
  if (isUnanswered) pause = backOff(1, 60, timeouts) * spread
  return {
    ...state,
    failures: state.failures + 1,
    refusals,
    timeouts,
    lastFailure: code,
    lastReason: reason,
    settledAt: now.monotonic,
    spread,
    closedUntil: now.monotonic + pause,
  }
}

export function afterAnswer(
  state: RenewalState,
  token: string,
  origin: string,
  isAccepted: boolean,
): RenewalState {
  const { held } = state
  if (held?.token !== token) return state
  const list = isAccepted ? 'acceptedBy' : 'refusedBy'
  if (held[list].has(origin)) return state
  return { ...state, held: { ...held, [list]: new Set([...held[list], origin]) } }
}

/**
 * An API that refuses every token must not cause a login at each call: once a token was dropped, the next one is kept for at least 3 s,
 * doubling to 60 s. Without that pause goes one that the same origin accepted, is 10 s old, and was never refused there before: an origin
 * that accepts it on one path and refuses it on another is under the pause.
 * @param origin Where it was refused, if that is known.
 */
export function afterInvalidation(
  state: RenewalState,
  token: string,
  now: Instant,
  origin?: string,
): RenewalState {
  const { held, invalidations } = state
  if (held?.token !== token) return state
  const age = now.monotonic - held.obtainedAt.monotonic
  if (origin !== undefined && wasAccepted(held, origin, age)) return { ...state, held: undefined }
  if (age < backOff(3, 60, invalidations)) {
    return origin === undefined ? state : afterAnswer(state, token, origin, false)
  }
  return { ...state, held: undefined, invalidations: age < 120 ? invalidations + 1 : 1 }
}

function wasAccepted({ acceptedBy, refusedBy }: HeldToken, origin: string, age: number): boolean {
  return age >= OLD_ENOUGH && acceptedBy.has(origin) && !refusedBy.has(origin)
}

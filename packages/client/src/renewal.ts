import type { TokenClientErrorCode } from './errors.ts'
import type { Instant } from './time.ts'

// When to log in: pure functions of a state and a time. Times are seconds; pauses go by the monotonic clock alone.

export interface HeldToken {
  readonly token: string
  readonly obtainedAt: Instant
  /** From `obtainedAt`, by the service's clock. */
  readonly lifetime: number
  /** Renewed behind its users once less than this is left. */
  readonly renewBefore: number
  /** Users wait for the renewal once less than this is left. */
  readonly waitBefore: number
  /** Origins that have answered it with anything but 401. */
  readonly acceptedBy: ReadonlySet<string>
  /** Origins that have answered it with 401. */
  readonly refusedBy: ReadonlySet<string>
}

/** Everything the client knows. Replaced as a whole, never changed. */
export interface RenewalState {
  readonly held: HeldToken | undefined
  /** Logins in a row that brought no token. */
  readonly failures: number
  /** Those of them that the service answered without a token: it may count them as wrong passwords. */
  readonly refusals: number
  /** Those of them that it gave no answer to in time. */
  readonly timeouts: number
  readonly lastFailure: TokenClientErrorCode | undefined
  readonly settledAt: number
  /** What the pauses after an outage are multiplied by: a fleet that it hit together comes back one by one. */
  readonly spread: number
  /** Before then the service has asked to be left alone, or would count towards locking the account. */
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
  settledAt: 0,
  spread: 1,
  closedUntil: 0,
  invalidations: 0,
}

/** How long a token of unknown expiry is kept. */
const UNKNOWN_LIFETIME = 60
const LONGEST_ADVANCE = 300
const LONGEST_RESERVE = 10
const LONGEST_RETRY_AFTER = 300

/**
 * @param lifetime Seconds until the token expires; `undefined` if it does not say.
 * @param draw From 0 to 1: spreads a fleet that logged in together.
 */
export function hold(
  token: string,
  lifetime: number | undefined,
  obtainedAt: Instant,
  draw: number,
): HeldToken {
  const known = lifetime ?? UNKNOWN_LIFETIME
  const advance = Math.min(LONGEST_ADVANCE, known / 10)
  return {
    token,
    obtainedAt,
    lifetime: known,
    renewBefore: advance * (1 + draw / 4),
    // A short-lived token must not make everybody wait for most of its life.
    waitBefore: Math.min(LONGEST_RESERVE, advance / 2),
    acceptedBy: new Set(),
    refusedBy: new Set(),
  }
}

/**
 * Seconds that are left. Elapsed time is the larger of what both clocks say: a suspended machine stops the one, an
 * administrator sets back the other.
 */
export function remaining({ obtainedAt, lifetime }: HeldToken, now: Instant): number {
  const elapsed = Math.max(now.wall - obtainedAt.wall, now.monotonic - obtainedAt.monotonic)
  return lifetime - elapsed
}

/**
 * - `fresh`: use it.
 * - `due`: use it, and renew it behind its users.
 * - `short`: wait for the renewal; without one it still works.
 * - `none`: wait for a login.
 */
export type Freshness = 'fresh' | 'due' | 'short' | 'none'

/** @param minValidity Seconds that the token must have left. */
export function freshness(
  held: HeldToken | undefined,
  now: Instant,
  minValidity: number = held?.waitBefore ?? 0,
): Freshness {
  if (held === undefined) return 'none'
  const left = remaining(held, now)
  if (!(left > 0)) return 'none'
  if (left < minValidity) return 'short'
  return left < held.renewBefore ? 'due' : 'fresh'
}

/** Seconds until a login may start: 0 is now. */
export function nextLoginIn(state: RenewalState, now: Instant): number {
  const isUsable = freshness(state.held, now) !== 'none'
  // While a token works there is time; without one each second counts, but not for an endpoint that is down.
  const pause = isUsable ? backOff(3, 60, state.failures) : backOff(1, 10, state.failures)
  const nextAt = Math.max(state.settledAt + pause * state.spread, state.closedUntil)
  return Math.max(0, nextAt - now.monotonic)
}

/** 0 for none, then doubling from `first` to `longest`. */
function backOff(first: number, longest: number, times: number): number {
  return times === 0 ? 0 : Math.min(longest, first * 2 ** (times - 1))
}

export function afterLogin(state: RenewalState, held: HeldToken): RenewalState {
  return { ...INITIAL, held, invalidations: state.invalidations }
}

export interface LoginFailure {
  readonly code: TokenClientErrorCode
  readonly retryAfter?: number | undefined
  /** Whether the credentials were sent. */
  readonly isSent: boolean
}

/** An answer that is no token: whatever the service means by it, it has seen the credentials. */
export function isRefusal(code: TokenClientErrorCode | undefined): boolean {
  return code === 'credentials_rejected' || code === 'unexpected_response'
}

/**
 * The token that still works is kept.
 *
 * @param draw From 0 to 1: spreads a fleet that failed together.
 */
export function afterFailure(
  state: RenewalState,
  now: Instant,
  { code, retryAfter = 0, isSent }: LoginFailure,
  draw: number,
): RenewalState {
  // An outage in between makes them no fewer: the service may count as well.
  const refusals = state.refusals + (isRefusal(code) ? 1 : 0)
  const isUnanswered = code === 'timeout' && isSent
  const timeouts = state.timeouts + (isUnanswered ? 1 : 0)
  const spread = 1 + draw / 10
  let pause = Math.min(retryAfter, LONGEST_RETRY_AFTER) * spread
  // An account that is locked after a few wrong passwords must not be locked by us.
  if (isRefusal(code)) pause = backOff(30, 300, refusals)
  if (isUnanswered) pause = backOff(1, 60, timeouts) * spread
  return {
    ...state,
    failures: state.failures + 1,
    refusals,
    timeouts,
    lastFailure: code,
    settledAt: now.monotonic,
    spread,
    closedUntil: now.monotonic + pause,
  }
}

/** Notes what an origin answered to the token that is held. */
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

/** A token that was accepted for less is no proof that a new one will be. */
const WORKED_FOR_A_WHILE = 10

/**
 * Drops the token that an API refused, unless another has taken its place. An API that refuses every token is not
 * answered with a login each time: a token that came only just now is kept, for 3 s doubling to 60 s.
 *
 * A token that worked for a while is dropped all the same when the origin that accepted it first refuses it. Only then:
 * an origin of which one path accepts every token and another none refuses the repetition as well, and is paced.
 *
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
  if (origin !== undefined && hasWorked(held, origin, age)) return { ...state, held: undefined }
  if (age < backOff(3, 60, invalidations)) {
    return origin === undefined ? state : afterAnswer(state, token, origin, false)
  }
  return { ...state, held: undefined, invalidations: age < 120 ? invalidations + 1 : 1 }
}

function hasWorked({ acceptedBy, refusedBy }: HeldToken, origin: string, age: number): boolean {
  return age >= WORKED_FOR_A_WHILE && acceptedBy.has(origin) && !refusedBy.has(origin)
}

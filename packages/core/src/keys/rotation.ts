import { elapsed, type Instant } from '../time.ts'
import type { FetchFailure } from './fetch-json.ts'
import type { SkippedEntries } from './key-document.ts'
import type { KeyRing, VerificationKey } from './key-source.ts'

// The whole policy of the key cache: pure functions of a state, a time and the options. Times are seconds.

/** What the user can say about the cache. */
export interface RotationPolicy {
  /** `undefined`: 300, or what the document's `Cache-Control` says. */
  readonly maxAge: number | undefined
  readonly staleWhileRevalidate: number
  readonly staleIfError: number
  readonly overlap: number
}

/** Everything the cache knows. Replaced as a whole, never changed. */
export interface CacheState {
  readonly ring: FetchedRing | undefined
  /** Keys that left the ring last, newest first: known, so that old tokens cause no fetch, and never trusted. */
  readonly retired: readonly VerificationKey[]
  readonly last: Attempt | undefined
  readonly pace: Pace
}

/** The state after an attempt. */
export interface SettledState extends CacheState {
  readonly last: Attempt
}

/** What a key document says. */
export interface RingDocument extends KeyRing {
  readonly maxAge: number
  readonly skipped: SkippedEntries
}

export interface FetchedRing extends RingDocument {
  /** The start of the attempt that brought it. */
  readonly fetchedAt: Instant
  /** Those of `keys` that the last document lacked, trusted a little longer because of `overlap`. */
  readonly leaving: readonly LeavingKey[]
}

interface LeavingKey {
  readonly key: VerificationKey
  readonly since: Instant
}

export type Trigger = 'age' | 'suspicion' | 'refresh'

export interface Attempt {
  readonly trigger: Trigger
  readonly startedAt: Instant
  readonly settledAt: Instant
  readonly failure: FetchFailure | undefined
}

/** What spaces the attempts. All on the monotonic clock: no step of the wall clock may open or close the gate. */
export interface Pace {
  readonly startedAt: number
  readonly failures: number
  readonly failureEndsAt: number
  /** Suspicions in a row that helped no token. */
  readonly fruitless: number
  readonly suspicionEndsAt: number
}

export const INITIAL_STATE: CacheState = {
  ring: undefined,
  retired: [],
  last: undefined,
  pace: {
    startedAt: -Infinity,
    failures: 0,
    failureEndsAt: -Infinity,
    fruitless: 0,
    suspicionEndsAt: -Infinity,
  },
}

const DEFAULT_MAX_AGE = 300
const MIN_ANNOUNCED_AGE = 60
const MAX_ANNOUNCED_AGE = 3600
const MIN_INTERVAL = 1
const MAX_FAILURE_PAUSE = 30
const MAX_RETRY_AFTER = 60
/** Longer than the longest pause and an attempt that hangs, so that a lasting outage is always recent. */
const RECENT_FAILURE = 120
const MAX_SUSPICION_PAUSE = 15
/** Time without a suspicion after which one in vain is forgotten. */
const QUIET = 15
/** A little more than the shortest pause, so that rounding never decides. */
const PATIENCE = 1.01
const MAX_RETIRED = 4
const MAX_LEAVING = 8

export type Freshness = 'fresh' | 'stale' | 'expired' | 'empty'

/** @see RFC 5861, whose words these are */
export function freshness(
  ring: FetchedRing | undefined,
  now: Instant,
  policy: RotationPolicy,
): Freshness {
  if (ring === undefined) return 'empty'
  const age = elapsed(ring.fetchedAt, now)
  if (age < ring.maxAge) return 'fresh'
  if (age < ring.maxAge + policy.staleWhileRevalidate) return 'stale'
  if (age < ring.maxAge + policy.staleIfError) return 'expired'
  return 'empty'
}

/**
 * Whether a caller with an expired ring uses it at once, because the endpoint is known to be down, or waits for an
 * attempt first. A failure counts if it happened since the expiry, or so lately that the next attempt is not due or
 * under way: an endpoint that hangs stalls nobody twice.
 */
export function expiredRing(
  state: CacheState,
  now: Instant,
  policy: RotationPolicy,
): 'use' | 'wait' {
  const { ring, last } = state
  if (ring === undefined || last?.failure === undefined) return 'wait'
  const expiry = ring.maxAge + policy.staleWhileRevalidate
  const sinceExpiry = elapsed(ring.fetchedAt, last.settledAt) >= expiry
  const lately = elapsed(last.settledAt, now) < RECENT_FAILURE
  return sinceExpiry || lately ? 'use' : 'wait'
}

/** When the next attempt may start, on the monotonic clock. */
export function nextAttempt(pace: Pace, trigger: Trigger): number {
  return Math.max(
    pace.startedAt + MIN_INTERVAL,
    pace.failureEndsAt,
    trigger === 'suspicion' ? pace.suspicionEndsAt : -Infinity,
  )
}

/** What somebody who may cause an attempt does: start it, wait for the slot, or go without. */
export function turn(pace: Pace, trigger: Trigger, now: Instant): 'start' | 'wait' | 'refrain' {
  const wait = nextAttempt(pace, trigger) - now.monotonic
  if (wait <= 0) return 'start'
  return wait <= PATIENCE ? 'wait' : 'refrain'
}

/** What an unproven token is told when nothing more can be found out now. */
export function unprovenToken(state: CacheState): 'refused' | 'unavailable' {
  return state.last?.failure === undefined ? 'refused' : 'unavailable'
}

/**
 * The state after an attempt that brought keys.
 *
 * @param draw From 0 to 1, so that a fleet under one flood does not ask in step.
 */
export function afterSuccess(
  state: CacheState,
  attempt: Omit<Attempt, 'failure'>,
  document: RingDocument,
  policy: RotationPolicy,
  draw: number,
): SettledState {
  const before = state.ring?.keys ?? []
  const reused = reuse(before, document.keys)
  // Another list where nothing but `bare` has changed: it decides which tokens a key is tried for.
  const keys = state.ring?.bare === document.bare ? reused : [...reused]
  const gone = before.filter((key) => !trusts(keys, key))
  // A ring that had aged out was trusted no more, so none of its keys is about to leave.
  const wasTrusted = freshness(state.ring, attempt.settledAt, policy) !== 'empty'
  const leaving = gone
    .map((key) => ({ key, since: leavingSince(state, key) ?? attempt.startedAt }))
    .filter(({ since }) => wasTrusted && elapsed(since, attempt.settledAt) < policy.overlap)
    .slice(0, MAX_LEAVING)
  const ring: FetchedRing = {
    keys: leaving.length === 0 ? keys : [...keys, ...leaving.map(({ key }) => key)],
    bare: document.bare,
    skipped: document.skipped,
    maxAge: document.maxAge,
    fetchedAt: attempt.startedAt,
    leaving,
  }
  return {
    ring,
    retired: retire(state.retired, gone, ring.keys),
    last: { ...attempt, failure: undefined },
    pace: {
      ...afterAnyAttempt(state.pace, attempt, draw),
      failures: 0,
      failureEndsAt: -Infinity,
    },
  }
}

/**
 * The state after an attempt that failed: the ring stays as it is.
 *
 * @param draw From 0 to 1, so that a fleet does not come back in step.
 */
export function afterFailure(
  state: CacheState,
  attempt: Omit<Attempt, 'failure'>,
  failure: FetchFailure,
  draw: number,
): SettledState {
  const failures = state.pace.failures + 1
  const pause = failurePause(failures, draw)
  const asked = Math.min(failure.retryAfter ?? 0, MAX_RETRY_AFTER)
  return {
    ...state,
    last: { ...attempt, failure },
    pace: {
      ...afterAnyAttempt(state.pace, attempt, draw),
      failures,
      failureEndsAt: attempt.settledAt.monotonic + Math.max(pause, asked),
    },
  }
}

/** The state after a suspicion turned out to be right. */
export function afterHelp(state: CacheState): CacheState {
  return { ...state, pace: { ...state.pace, fruitless: 0, suspicionEndsAt: -Infinity } }
}

/** The state without the keys whose `overlap` is over. */
export function afterOverlap(state: CacheState, now: Instant, policy: RotationPolicy): CacheState {
  const { ring } = state
  if (ring === undefined || ring.leaving.length === 0) return state
  const over = ring.leaving.filter(({ since }) => elapsed(since, now) >= policy.overlap)
  if (over.length === 0) return state
  const gone = over.map(({ key }) => key)
  const keys = ring.keys.filter((key) => !gone.includes(key))
  return {
    ...state,
    ring: { ...ring, keys, leaving: ring.leaving.filter((each) => !over.includes(each)) },
    retired: retire(state.retired, gone, keys),
  }
}

/**
 * How long a document is fresh: what is stated, else what it announces, else 300 s; spread by 10 % so that a
 * fleet that started together does not fetch together.
 *
 * @param draw From 0 to 1.
 */
export function lifetime(
  stated: number | undefined,
  announced: number | undefined,
  draw: number,
): number {
  const bounded =
    announced === undefined
      ? (stated ?? DEFAULT_MAX_AGE)
      : Math.min(
          stated ?? Infinity,
          Math.max(MIN_ANNOUNCED_AGE, Math.min(announced, MAX_ANNOUNCED_AGE)),
        )
  return bounded * (0.9 + 0.2 * draw)
}

function failurePause(failures: number, draw: number): number {
  return doubling(failures, MAX_FAILURE_PAUSE) * (0.8 + 0.4 * draw)
}

function afterAnyAttempt(pace: Pace, attempt: Omit<Attempt, 'failure'>, draw: number): Pace {
  const started = { ...pace, startedAt: attempt.startedAt.monotonic }
  if (attempt.trigger !== 'suspicion') return started
  // A stray token now and then is no flood: it must not add up to the longest pause.
  const quiet = attempt.startedAt.monotonic - pace.suspicionEndsAt
  const forgotten = Math.max(0, Math.floor(quiet / QUIET))
  // Fruitless until a token says otherwise: see `afterHelp`.
  const fruitless = Math.max(0, pace.fruitless - forgotten) + 1
  return {
    ...started,
    fruitless,
    suspicionEndsAt: attempt.settledAt.monotonic + suspicionPause(fruitless, draw),
  }
}

/** Spread downwards, so that with the round trip that follows a rotation still heals within the longest pause. */
function suspicionPause(fruitless: number, draw: number): number {
  return doubling(fruitless, MAX_SUSPICION_PAUSE) * (0.8 + 0.15 * draw)
}

/** 1, 2, 4 and so on, up to a limit. */
function doubling(count: number, max: number): number {
  return Math.min(max, 2 ** (count - 1))
}

/** The keys of a document, as the objects already in use where they are the same: also the list, if nothing changed. */
function reuse(
  before: readonly VerificationKey[],
  keys: readonly VerificationKey[],
): readonly VerificationKey[] {
  const reused = keys.map((key) => before.find((known) => isSame(known, key)) ?? key)
  const unchanged = reused.length === before.length && reused.every((key, at) => key === before[at])
  return unchanged ? before : reused
}

function isSame(one: VerificationKey, other: VerificationKey): boolean {
  return (
    one.thumbprint === other.thumbprint &&
    one.kid === other.kid &&
    trusts([one], other) &&
    trusts([other], one)
  )
}

/** Trust is in a key for an algorithm: an entry that no longer permits one has left, for that one. */
function trusts(keys: readonly VerificationKey[], key: VerificationKey): boolean {
  const same = keys.filter(({ thumbprint }) => thumbprint === key.thumbprint)
  return [...key.prepared.keys()].every((algorithm) =>
    same.some(({ prepared }) => prepared.has(algorithm)),
  )
}

function leavingSince(state: CacheState, key: VerificationKey): Instant | undefined {
  return state.ring?.leaving.find((each) => each.key === key)?.since
}

function retire(
  retired: readonly VerificationKey[],
  gone: readonly VerificationKey[],
  trusted: readonly VerificationKey[],
): readonly VerificationKey[] {
  return [...gone, ...retired]
    .filter((key) => !trusts(trusted, key))
    .filter((key, at, all) => all.findIndex((other) => isSame(other, key)) === at)
    .slice(0, MAX_RETIRED)
}

import { elapsed, type Instant } from '@portcullis/kit/time'

import type { AuthErrorReasons } from '../refusal/refusals.ts'
import type { KeyFreshness, KeysMessage, SkippedEntry } from '../report/diagnostics.ts'
import type { CacheState, SettledState } from './cache-state.ts'
import { countUntried, type VerificationKey } from './key-source.ts'
import { withdrawnKeyTrust } from './lifetime.ts'
import { retiredKeys, withoutEndedOverlaps } from './ring.ts'
import { freshness, type RotationPolicy, untilNextAttempt } from './rotation.ts'
import type { Beginning } from './snapshot.ts'

// What a key cache says of itself: `status()`, and the messages of the channel `portcullis:keys`.

/** The state of a key cache. Times are seconds. */
export interface RemoteKeysStatus {
  /** What the age of the keys allows. In an outage `expired` is normal: see {@link KeyFreshness}. */
  readonly freshness: KeyFreshness
  /** How long ago the attempt started that fetched the keys. */
  readonly age: number | undefined
  readonly maxAge: number | undefined
  /** RFC 7638 thumbprints of the trusted keys. */
  readonly thumbprints: readonly string[]
  /** Thumbprints of the last keys that were removed: remembered, but not trusted. */
  readonly retired: readonly string[]
  /** How many entries of the document cannot be used or are too many. */
  readonly skippedKeys: number
  /** Which of them, and why: the first hundred. */
  readonly skippedEntries: readonly SkippedEntry[]
  /** How many keys fit a token but are never tried, because more than 8 fit. */
  readonly untriedKeys: number
  readonly isFetching: boolean
  /**
   * What happened to the option `snapshot`: `in_use` until an attempt succeeds, then `replaced`; or `ignored`, with the
   * reason. `undefined` without that option.
   */
  readonly snapshot:
    | {
        readonly state: 'in_use' | 'replaced' | 'ignored'
        /** In words, for developers. */
        readonly detail: string | undefined
      }
    | undefined
  /** Why the last attempt failed, if it did. */
  readonly lastFailure:
    | {
        readonly reason: AuthErrorReasons['keys_unavailable']
        readonly detail: string
        readonly age: number
      }
    | undefined
  /** How long it takes from now until the next attempt may start. */
  readonly nextAttemptIn: number
  /**
   * How long a key can stay trusted after it was withdrawn, at most. The endpoint counts as down from a failed attempt until
   * the longest pause and `timeout` have passed, or until an attempt succeeds.
   */
  readonly withdrawnKeyTrust:
    | { readonly endpointUp: number; readonly endpointDown: number }
    | undefined
}

/** What can be said of a cache at one moment, but for whether it is fetching. */
export function statusOf(
  state: CacheState,
  moment: Instant,
  policy: RotationPolicy,
  beginning: Beginning,
): Omit<RemoteKeysStatus, 'isFetching'> {
  const { ring, last } = state
  const keys = ring === undefined ? [] : withoutEndedOverlaps(ring, moment, policy).keys
  const thumbprints = thumbprintsOf(keys)
  const left = retiredKeys(ring, state.retired, moment, policy).map(({ key }) => key)
  return {
    freshness: freshness(ring, moment, policy),
    age: ring && elapsed(ring.fetchedAt, moment),
    maxAge: ring?.maxAge,
    thumbprints,
    // One of several entries for a key may have left, and the key itself has not.
    retired: thumbprintsOf(left).filter((each) => !thumbprints.includes(each)),
    skippedKeys: ring?.skipped.count ?? 0,
    skippedEntries: ring?.skipped.entries ?? [],
    untriedKeys: countUntried(keys),
    lastFailure: last?.failure && {
      reason: last.failure.failure,
      detail: last.failure.detail,
      age: elapsed(last.settledAt, moment),
    },
    nextAttemptIn: untilNextAttempt(state, 'age', moment, policy),
    withdrawnKeyTrust: ring && withdrawnKeyTrust(ring, policy),
    snapshot: snapshotStatus(state, beginning),
  }
}

function snapshotStatus(
  { ring }: CacheState,
  { snapshot }: Beginning,
): RemoteKeysStatus['snapshot'] {
  if (snapshot === undefined) return undefined
  if (snapshot !== 'used') return { state: 'ignored', detail: snapshot.complaint }
  return { state: ring?.isSaved === true ? 'in_use' : 'replaced', detail: undefined }
}

/** Each once: a key may have several entries. */
function thumbprintsOf(keys: readonly VerificationKey[]): string[] {
  return [...new Set(keys.map(({ thumbprint }) => thumbprint))]
}

export function snapshotMessage(source: object, status: RemoteKeysStatus): KeysMessage {
  const { snapshot } = status
  return {
    source,
    trigger: 'snapshot',
    outcome: snapshot?.state === 'ignored' ? 'ignored' : 'success',
    detail: snapshot?.detail && `the snapshot is not used: ${snapshot.detail}`,
    duration: 0,
    added: status.thumbprints,
    removed: [],
    ...keysInUse(status),
  }
}

export function keysMessage(
  source: object,
  before: CacheState,
  { ring, last }: SettledState,
  status: RemoteKeysStatus,
): KeysMessage {
  const old = thumbprintsOf(before.ring?.keys ?? [])
  const current = thumbprintsOf(ring?.keys ?? [])
  return {
    source,
    trigger: last.trigger,
    outcome: last.failure?.failure ?? 'success',
    detail: last.failure?.detail,
    duration: last.settledAt.monotonic - last.startedAt.monotonic,
    added: current.filter((thumbprint) => !old.includes(thumbprint)),
    removed: old.filter((thumbprint) => !current.includes(thumbprint)),
    ...keysInUse(status),
  }
}

function keysInUse({
  freshness: word,
  skippedKeys,
  skippedEntries,
  untriedKeys,
}: RemoteKeysStatus) {
  return { freshness: word, skippedKeys, skippedEntries, untriedKeys }
}

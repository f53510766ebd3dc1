import type { RevocationStoreReason } from './errors.ts'
import { type ReplicaState, type RevocationsState, wordOf } from './following.ts'
import { elapsed, type Instant } from './time.ts'

/** What a replica says of itself, for readiness probes. Times are seconds. JSON. */
export interface RedisRevocationsStatus {
  /** Only `current` can say that a token was not revoked. */
  readonly state: RevocationsState
  /** The replica lacks nothing that was recorded longer ago. `undefined`: it was never complete. */
  readonly age: number | undefined
  /** The key of the stream, and the identity of the one that is followed. */
  readonly stream: string
  readonly identity: string | undefined
  /** The identity that the stream has now: another one where the state is `replaced`. */
  readonly foundIdentity: string | undefined
  /** The id of the last entry that was read. */
  readonly position: string | undefined
  /** How many revocations are known: at most `max`. Those that have lapsed count until they are removed. */
  readonly entries: number
  /** Records of a later version, or damaged ones, and the id of the first. */
  readonly unreadable: number
  readonly firstUnreadable: string | undefined
  /** Records without `v`: somebody else's. */
  readonly foreign: number
  /** The last failure, and how many there were since the store answered. */
  readonly failures: number
  readonly lastFailure:
    | { readonly reason: RevocationStoreReason; readonly detail: string; readonly age: number }
    | undefined
}

export function statusOf(
  state: ReplicaState,
  entries: number,
  stream: string,
  now: Instant,
  maxStaleness: number,
): RedisRevocationsStatus {
  const { freshAt, identity, position, unreadable, foreign, failures, lastFailure } = state
  return {
    state: wordOf(state, now, maxStaleness),
    age: freshAt && elapsed(freshAt, now),
    stream,
    identity,
    foundIdentity: position?.identity,
    position: position?.last,
    entries,
    unreadable: unreadable.count,
    firstUnreadable: unreadable.first,
    foreign: foreign.count,
    failures,
    lastFailure: lastFailure && {
      reason: lastFailure.error.reason,
      detail: lastFailure.error.message,
      age: elapsed(lastFailure.at, now),
    },
  }
}

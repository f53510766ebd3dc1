import { elapsed, type Instant } from '@portcullis/kit/time'

import type { RevocationStoreError } from '../store/errors.ts'
import type { RevocationsMessage } from './diagnostics.ts'
import type { ReplicaState } from './following.ts'
import { wordOf } from './readiness.ts'

// What `status()` says of a replica.

/** The state of a replica, for logs and alarms. Times are seconds. JSON. */
export interface RedisRevocationsStatus {
  /** Only in the state `current` is it known that a token was not revoked. */
  readonly state: RevocationsMessage['state']
  /** How old the copy is: it has everything that was recorded before. `undefined` if it was never complete. */
  readonly age: number | undefined
  /** The key of the stream, and the identity of the stream that is followed. */
  readonly stream: string
  readonly identity: string | undefined
  /** The identity that the stream has now. In the state `replaced` it is another one. */
  readonly foundIdentity: string | undefined
  /** The id of the last entry that was read. */
  readonly position: string | undefined
  /** The number of entries, at most `max`. Entries that are no longer needed count until they are removed. */
  readonly entries: number
  /** How many records cannot be read, because they are damaged or of a later version, and the id of the first. */
  readonly unreadable: number
  readonly firstUnreadable: string | undefined
  /** How many records have no `v`: they are not ours. */
  readonly foreign: number
  /** The last failure, and how many there were since the store last answered. */
  readonly failures: number
  readonly lastFailure:
    | {
        readonly reason: RevocationStoreError['reason']
        readonly detail: string
        readonly age: number
      }
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
    foundIdentity: position?.reported.identity,
    position: position?.read.last,
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

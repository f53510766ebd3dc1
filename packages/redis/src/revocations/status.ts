import { debug, isDebugging } from '@portcullis/kit/report'
import { elapsed, type Instant } from '@portcullis/kit/time'

import { RevocationStoreError } from '../store/errors.ts'
import type { LoadTrigger, RevocationsMessage } from './diagnostics.ts'
import type { ReplicaState } from './following.ts'
import { obstacleOf, wordOf } from './readiness.ts'

// What a replica says of itself: `status()`, the sentence that refusals repeat, and the lines that `NODE_DEBUG=portcullis` prints.

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
  /** What is known of a restoration, while the stream takes the place of one that was lost; otherwise `undefined`. */
  readonly restoration:
    | {
        /**
         * In which state this process last followed the stream that was lost: only from `current` on it had read all of it. It is `stale`
         * also if it had got no answer for half of `maxStaleness`. `undefined`: it did not follow it.
         */
        readonly former: RevocationsMessage['state'] | undefined
        /** Whether this process has written back what it knows. */
        readonly isWritten: boolean
      }
    | undefined
  /** How many entries this process has written back since it follows the stream, after a loss or a fail-over. */
  readonly writtenBack: number
  /**
   * Why it could not the last time, and `undefined` as soon as it has. Nothing else in `status()` shows that after a fail-over. What this
   * process alone knows is lost when it ends.
   */
  readonly writeBackFailure: RedisRevocationsStatus['lastFailure']
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
    restoration: restorationOf(state),
    writtenBack: state.written,
    writeBackFailure: said(state.writeFailure, now),
    position: position?.read.last,
    entries,
    unreadable: unreadable.count,
    firstUnreadable: unreadable.first,
    foreign: foreign.count,
    failures,
    lastFailure: said(lastFailure, now),
  }
}

function said(
  failure: ReplicaState['lastFailure'],
  now: Instant,
): RedisRevocationsStatus['lastFailure'] {
  if (failure === undefined) return undefined
  const { error, at } = failure
  return { reason: error.reason, detail: error.message, age: elapsed(at, now) }
}

function restorationOf({
  isRestoring,
  former,
  losses,
  settled,
}: ReplicaState): RedisRevocationsStatus['restoration'] {
  if (!isRestoring) return undefined
  const isWritten = former !== undefined && losses === settled
  return { former, isWritten }
}

/** Why a replica cannot say that a token was not revoked, in words for developers; `undefined` if it can. */
export function whyUnknown(status: RedisRevocationsStatus): string | undefined {
  const { state, failures, lastFailure } = status
  if (state === 'current') return undefined
  if (state === 'closed') return new RevocationStoreError('closed').message
  const why = obstacleOf(state)?.message ?? howOld(status)
  const failure = failures > 0 ? lastFailure?.detail : undefined
  return failure === undefined || failure === why ? why : `${why}; the last attempt: ${failure}`
}

function howOld({ age }: RedisRevocationsStatus): string {
  return age === undefined
    ? 'the stream of revocations was never read completely'
    : 'the stream of revocations was last read completely longer ago than maxStaleness'
}

export function logLoad(trigger: LoadTrigger, records: number, seconds: number): void {
  debug(() => {
    const took = `${(seconds * 1000).toFixed(1)} ms`
    return `revocations: read the whole stream (${trigger}): ${records} records in ${took}`
  })
}

/** Prints with NODE_DEBUG=portcullis one line each time that the state of a replica changes, or why it is not `current`. */
export function createStateLog(): (statusNow: () => RedisRevocationsStatus) => void {
  let last: string | undefined
  return (statusNow) => {
    if (!isDebugging()) return
    const status = statusNow()
    const { state, failures, lastFailure } = status
    const why = whyUnknown(status)
    const current = why === undefined || failures === 0 ? state : `${state} ${lastFailure?.detail}`
    if (current === last) return
    last = current
    debug(() => `revocations: ${state}${why === undefined ? '' : `: ${why}`}`)
  }
}

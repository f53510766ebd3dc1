import { elapsed, type Instant } from '@portcullis/kit/time'

import { RevocationStoreError } from '../store/errors.ts'
import { pacing } from '../store/pacing.ts'
import type { RevocationsMessage } from './diagnostics.ts'
import { isSetBack, type ReplicaState } from './following.ts'
import { isHeldBack } from './restoring.ts'

// How far a replica can be relied on, and what those are told who wait for it: pure functions of its state and of a moment.

export function wordOf(
  state: ReplicaState,
  now: Instant,
  maxStaleness: number,
): RevocationsMessage['state'] {
  if (state.isClosed) return 'closed'
  if (state.store === 'missing' || state.store === 'replaced') return state.store
  if (state.isFull) return 'full'
  if (state.unreadable.count > 0) return 'unreadable'
  if (state.freshAt === undefined) return 'loading'
  if (isHeldBack(state)) return 'restoring'
  if (state.position && isSetBack(state.position, now)) return 'stale'
  // Not `>`: where a clock shows no number, nothing is current.
  return elapsed(state.freshAt, now) <= maxStaleness ? 'current' : 'stale'
}

/**
 * In which state a stream was left that is found to be gone: `stale` also after two heartbeats without an answer. What was recorded in that
 * time others may have read and not this process, and the stream that it comes back to may not have it yet.
 */
export function wordAtParting(
  state: ReplicaState,
  now: Instant,
  maxStaleness: number,
): RevocationsMessage['state'] {
  return wordOf(state, now, 2 * pacing(maxStaleness).heartbeat)
}

/** What somebody who waits for `ready()` is told: `undefined`, to go on waiting. */
export function readiness(
  state: ReplicaState,
  word: RevocationsMessage['state'],
  before: Pick<ReplicaState, 'reports' | 'lastFailure'>,
  whenStale: 'refuse' | 'accept',
): 'ready' | RevocationStoreError | undefined {
  if (word === 'current') return 'ready'
  if (word === 'closed') return new RevocationStoreError('closed')
  const hasFailed = state.lastFailure !== before.lastFailure
  // What was known before the call may have changed since.
  if (!hasFailed && state.reports === before.reports) return undefined
  if (whenStale === 'accept') return 'ready'
  if (hasFailed) return state.lastFailure?.error
  return obstacleOf(word)
}

/** What stands in the way, beside the age of what was read. */
export function obstacleOf(word: RevocationsMessage['state']): RevocationStoreError | undefined {
  if (word === 'missing') return new RevocationStoreError('no_stream')
  if (word === 'replaced') return new RevocationStoreError('other_stream')
  if (word === 'restoring') return new RevocationStoreError('restoring')
  if (word === 'unreadable') return new RevocationStoreError('unreadable_record')
  return word === 'full' ? new RevocationStoreError('full') : undefined
}

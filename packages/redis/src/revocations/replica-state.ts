import { type Instant } from '@portcullis/kit/time'

import type { RevocationStoreError } from '../store/errors.ts'
import type { Identity } from '../store/record.ts'
import type { StreamInfo } from '../store/stream-replies.ts'
import type { StreamReport } from '../store/stream-report.ts'
import { laterOf, leadOf } from '../store/time.ts'
import { deletedIn } from './comparison.ts'
import type { LoadTrigger, RevocationsMessage } from './diagnostics.ts'
import {
  adopt,
  NOTHING_SKIPPED,
  type Position,
  type ReplicaState,
  type Shortage,
  type Skipped,
  unreadAt,
} from './following.ts'
import { mayLack, partedIn } from './restoring.ts'
import type { Reading } from './whole-stream.ts'

// How the state of a replica changes: each function answers with the next state.

interface Reported {
  readonly info: StreamInfo
  /** Not when the report came: nothing is lacking that was recorded before. */
  readonly askedAt: Instant
  /** The same, or earlier, if it is not certain that the server was the primary then. */
  readonly asOf: Instant
}

/** A reading of the whole stream. */
interface Load {
  readonly trigger: LoadTrigger
  /** How far the replica could be relied on before it. */
  readonly word: RevocationsMessage['state']
  /** Whether it knew entries before it. */
  readonly knew: boolean
  /** Whether it showed that this stream lacks what a former primary, or one that it replaces, has revoked. */
  readonly isLost: boolean
  readonly began: Instant
  readonly took: number
}

export interface Batch {
  readonly unreadable: readonly string[]
  readonly foreign: readonly string[]
  readonly isFull: boolean
}

/**
 * The state after a report that there is no stream. What was read stays known, and so does whose stream it was.
 *
 * @param word How far the replica could be relied on before.
 */
export function afterAbsence(state: ReplicaState, word: RevocationsMessage['state']): ReplicaState {
  const { reports } = state
  const left = { ...state, parted: partedIn(state, word), isRestoring: false }
  return { ...left, failures: 0, reports: reports + 1, store: 'missing', position: undefined }
}

/** After a report that nothing was missed. */
export function afterReport(
  state: ReplicaState,
  position: Position,
  { identity: seen, entries, isRestoring }: StreamReport,
  { info, askedAt, asOf }: Reported,
  batch: Batch,
): ReplicaState {
  const { read, reported, lead } = position
  const unread = unreadAt(reported, info) - entries.length
  const newest = entries.at(-1)
  const adopted = adopt(state.identity, seen)
  return {
    ...withSkipped({ ...state, failures: 0, reports: state.reports + 1 }, batch),
    ...adopted,
    ...(adopted.store === 'sound' ? settledIn(state, adopted.identity, isRestoring) : {}),
    freshAt: unread === 0 ? laterOf(state.freshAt, asOf) : state.freshAt,
    position: {
      read: {
        last: newest !== undefined && unread > 0 ? newest.id : info.last,
        anchor: newest ?? read.anchor,
      },
      reported: { ...reported, info, unread },
      lead: Math.max(lead, leadOf(askedAt)),
    },
  }
}

/** In a stream that is ours: what was known of the one that it replaces, if it is another than was followed. */
function settledIn(
  { identity, parted }: ReplicaState,
  adopted: string | undefined,
  isRestoring: boolean,
): Partial<ReplicaState> {
  const now = { parted: undefined, isRestoring }
  return identity === adopted ? now : { ...now, former: parted, written: 0 }
}

/**
 * After the first page of a stream: a process that ends here knows some of what it has revoked, and so whose that is, although no report
 * was read to its end yet.
 */
export function afterPage(state: ReplicaState, seen: Identity | undefined): ReplicaState {
  const { identity, store } = adopt(state.identity, seen)
  const isFirst = state.store === 'unread' && store === 'sound'
  return isFirst ? { ...state, identity, store } : state
}

/** After the whole stream was read, from `began` on. How fresh that is, and whose stream it is, the next report says. */
export function afterLoad(
  state: ReplicaState,
  { identity: seen, info, newest }: Reading,
  { trigger, word, knew, isLost, began, took }: Load,
  batches: readonly Batch[],
): ReplicaState {
  const isOther = seen?.id !== state.identity
  const empty = { ...state, unreadable: NOTHING_SKIPPED, foreign: NOTHING_SKIPPED }
  return {
    ...batches.reduce(withSkipped, empty),
    isFull: false,
    shortage: undefined,
    parted: isOther ? partedIn(state, word) : state.parted,
    losses: state.losses + (isLost || mayLack(state, trigger, knew) ? 1 : 0),
    took,
    position: {
      read: { last: info.last, anchor: newest },
      reported: { identity: seen?.id, isMarked: seen?.isMarked === true, info, unread: 0 },
      lead: leadOf(began),
    },
  }
}

export function afterShortage(
  state: ReplicaState,
  info: StreamInfo,
  at: Instant,
  rest: Shortage['rest'],
): ReplicaState {
  return { ...state, isFull: true, shortage: { at, deleted: deletedIn(info), rest } }
}

export function afterFailure(
  state: ReplicaState,
  error: RevocationStoreError,
  at: Instant,
): ReplicaState {
  return {
    ...state,
    isFull: state.isFull || error.reason === 'full',
    lastFailure: { error, at },
    failures: state.failures + 1,
  }
}

/** After it was found that the stream lacks something that this process has appended. */
export function afterLoss(state: ReplicaState): ReplicaState {
  return { ...state, losses: state.losses + 1 }
}

/** After all was written back that was owed at that time. @param losses How many there were then. */
export function afterWriteBack(state: ReplicaState, losses: number, entries: number): ReplicaState {
  const written = state.written + entries
  return { ...state, settled: losses, written, writeFailure: undefined }
}

/** @param entries What was written before it failed. */
export function afterWriteFailure(
  state: ReplicaState,
  error: RevocationStoreError,
  entries: number,
  at: Instant,
): ReplicaState {
  return { ...state, written: state.written + entries, writeFailure: { error, at } }
}

function withSkipped(state: ReplicaState, { unreadable, foreign }: Batch): ReplicaState {
  return {
    ...state,
    unreadable: added(state.unreadable, unreadable),
    foreign: added(state.foreign, foreign),
  }
}

function added(skipped: Skipped, [first, ...others]: readonly string[]): Skipped {
  if (first === undefined) return skipped
  return { count: skipped.count + 1 + others.length, first: skipped.first ?? first }
}

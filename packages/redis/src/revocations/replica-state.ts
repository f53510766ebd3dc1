import { type Instant } from '@portcullis/kit/time'

import type { RevocationStoreError } from '../store/errors.ts'
import type { StreamInfo } from '../store/stream-replies.ts'
import type { StreamReport } from '../store/stream-report.ts'
import { laterOf, leadOf } from '../store/time.ts'
import { deletedIn } from './comparison.ts'
import {
  adopt,
  NOTHING_SKIPPED,
  type Position,
  type ReplicaState,
  type Shortage,
  type Skipped,
  unreadAt,
} from './following.ts'
import type { Reading } from './whole-stream.ts'

// How the state of a replica changes: each function answers with the next state.

export interface Batch {
  readonly unreadable: readonly string[]
  readonly foreign: readonly string[]
  readonly isFull: boolean
}

/** The state after a report that there is no stream. What was read stays known, and so does whose stream it was. */
export function afterAbsence(state: ReplicaState): ReplicaState {
  const { reports } = state
  return { ...state, failures: 0, reports: reports + 1, store: 'missing', position: undefined }
}

/** After a report that nothing was missed. @param askedAt Not when the report came: nothing is lacking that was recorded before. */
export function afterReport(
  state: ReplicaState,
  position: Position,
  { identity: seen, entries }: StreamReport,
  info: StreamInfo,
  askedAt: Instant,
  batch: Batch,
): ReplicaState {
  const { read, reported, lead } = position
  const unread = unreadAt(reported, info) - entries.length
  const newest = entries.at(-1)
  return {
    ...withSkipped({ ...state, failures: 0, reports: state.reports + 1 }, batch),
    ...adopt(state.identity, seen),
    freshAt: unread === 0 ? laterOf(state.freshAt, askedAt) : state.freshAt,
    position: {
      read: {
        last: newest !== undefined && unread > 0 ? newest.id : info.last,
        anchor: newest ?? read.anchor,
      },
      reported: { identity: reported.identity, info, unread },
      lead: Math.max(lead, leadOf(askedAt)),
    },
  }
}

/** After the whole stream was read, from `began` on. How fresh that is, and whose stream it is, the next report says. */
export function afterLoad(
  state: ReplicaState,
  { identity, info, newest }: Reading,
  began: Instant,
  took: number,
  batches: readonly Batch[],
): ReplicaState {
  const empty = { ...state, unreadable: NOTHING_SKIPPED, foreign: NOTHING_SKIPPED }
  return {
    ...batches.reduce(withSkipped, empty),
    isFull: false,
    shortage: undefined,
    took,
    position: {
      read: { last: info.last, anchor: newest },
      reported: { identity, info, unread: 0 },
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

import { LOWEST_ID } from './entry-id.ts'
import type { RevocationStoreError } from './errors.ts'
import {
  adopt,
  freshSince,
  type LastRead,
  NOTHING_SKIPPED,
  type Position,
  type ReplicaState,
  type Skipped,
} from './following.ts'
import type { StreamEntry, StreamInfo, StreamReport } from './stream.ts'
import { type Instant, leadOf } from './time.ts'

// How the state of a replica changes: each function answers with the next state.

/** What came of a batch of entries. */
export interface Batch {
  readonly entries: readonly StreamEntry[]
  readonly unreadable: readonly string[]
  readonly foreign: readonly string[]
  /** Whether there was no room for some of them. */
  readonly isFull: boolean
}

/** The state after a report that there is no stream. What was read stays known, and so does whose stream it was. */
export function afterAbsence(state: ReplicaState): ReplicaState {
  return { ...answered(state), store: 'missing', position: undefined }
}

/** The state after a report that nothing was missed. */
export function afterReport(
  state: ReplicaState,
  { identity: seen }: StreamReport,
  info: StreamInfo,
  askedAt: Instant,
  read: LastRead | undefined,
): ReplicaState {
  const { position } = state
  return {
    ...answered(state),
    ...adopt(state.identity, seen),
    freshAt: freshSince(state, info, askedAt, read),
    position: position && verified(position, info, askedAt),
  }
}

/** The state after the next entries were read. */
export function afterRead(state: ReplicaState, batch: Batch): ReplicaState {
  const { position } = state
  const newest = batch.entries.at(-1)
  if (position === undefined || newest === undefined) return state
  const readSince = position.readSince + batch.entries.length
  return {
    ...withSkipped(state, batch),
    position: { ...position, last: newest.id, newest, readSince },
  }
}

/**
 * The state after the whole stream was read. It says nothing of how fresh that is: entries may have come, and have been
 * deleted for their sake, while it was read.
 *
 * @param batches Their entries may be left out, but for the last one's.
 */
export function afterLoad(
  state: ReplicaState,
  { identity }: StreamReport,
  info: StreamInfo,
  askedAt: Instant,
  batches: readonly Batch[],
): ReplicaState {
  const empty = { ...state, unreadable: NOTHING_SKIPPED, foreign: NOTHING_SKIPPED, isFull: false }
  return {
    ...batches.reduce(withSkipped, empty),
    position: {
      identity: identity?.id,
      last: info.last,
      verified: info.last,
      anchor: batches.at(-1)?.entries.at(-1),
      newest: undefined,
      addedThen: info.entriesAdded,
      readSince: 0,
      lead: leadOf(askedAt),
      info,
    },
  }
}

export function afterFailure(
  state: ReplicaState,
  error: RevocationStoreError,
  at: Instant,
): ReplicaState {
  const isFull = state.isFull || error.reason === 'full'
  return {
    ...state,
    isFull,
    // What had no room is read again.
    position: isFull ? undefined : state.position,
    lastFailure: { error, at },
    failures: state.failures + 1,
  }
}

/** After which entry the next are read. */
export function readFrom({ position }: ReplicaState): string {
  return position?.last ?? LOWEST_ID
}

function verified(position: Position, info: StreamInfo, askedAt: Instant): Position {
  const anchor = position.newest ?? position.anchor
  const lead = Math.max(position.lead, leadOf(askedAt))
  const next = { ...position, verified: position.last, anchor, newest: undefined, lead, info }
  return position.last === info.last
    ? { ...next, addedThen: info.entriesAdded, readSince: 0 }
    : next
}

function answered(state: ReplicaState): ReplicaState {
  return { ...state, failures: 0, reports: state.reports + 1 }
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

import { isLater } from './entry-id.ts'
import { RevocationStoreError } from './errors.ts'
import type { Identity } from './record.ts'
import type { StreamEntry, StreamInfo, StreamReport } from './stream.ts'
import { elapsed, type Instant, laterOf, leadOf } from './time.ts'

// What a replica decides: pure functions of its state, of what the store reports and of a moment, which answer with a word.
// Whoever carries the words out decides nothing. Times are seconds.

/** Up to where the stream was read, and what it said of itself then. */
export interface Position {
  /** The identity record that the stream had. */
  readonly identity: string | undefined
  /** Everything up to this id was read. */
  readonly last: string
  /** Up to this id it is certain that nothing was missed: a report has said so since. */
  readonly verified: string
  /** The last entry before that. */
  readonly anchor: StreamEntry | undefined
  /** The last entry that was read since. */
  readonly newest: StreamEntry | undefined
  /** How many entries had ever been added at a report that knew of none beyond ours, and how many were read since. */
  readonly addedThen: number
  readonly readSince: number
  /** The largest lead of the wall clock since the reading began: what had lapsed by that was left out. */
  readonly lead: number
  /** As of the last report. */
  readonly info: StreamInfo
}

/** Everything a replica knows besides the revocations. Replaced as a whole, never changed. */
export interface ReplicaState {
  /** The identity of the stream that this replica follows: the first that it saw, or what has replaced that. */
  readonly identity: string | undefined
  /** `undefined`: the stream must be read from its beginning. */
  readonly position: Position | undefined
  /** The replica lacks nothing that was recorded before this moment. */
  readonly freshAt: Instant | undefined
  /** Whether the stream is the one that is followed, as of the last report. */
  readonly store: 'unread' | 'sound' | 'missing' | 'replaced'
  readonly unreadable: Skipped
  /** Records without `v`: somebody else's. */
  readonly foreign: Skipped
  /** There was an entry that the index has no room for. */
  readonly isFull: boolean
  readonly lastFailure: Failure | undefined
  /** Failures since the last report. */
  readonly failures: number
  /** How many reports there were. */
  readonly reports: number
  readonly isClosed: boolean
}

/** Records that were passed over. */
export interface Skipped {
  readonly count: number
  /** The id of the first one. */
  readonly first: string | undefined
}

interface Failure {
  readonly error: RevocationStoreError
  readonly at: Instant
}

export const NOTHING_SKIPPED: Skipped = { count: 0, first: undefined }

export const INITIAL_STATE: ReplicaState = {
  identity: undefined,
  position: undefined,
  freshAt: undefined,
  store: 'unread',
  unreadable: NOTHING_SKIPPED,
  foreign: NOTHING_SKIPPED,
  isFull: false,
  lastFailure: undefined,
  failures: 0,
  reports: 0,
  isClosed: false,
}

/** Why the stream is read from its beginning. What is known already is kept. */
export type LoadTrigger =
  /** Nothing of it was read yet. */
  | 'start'
  /** The stream has another identity than at the last report, or none any more. */
  | 'identity'
  /** It has gone back: a primary with less, or a backup. */
  | 'step_back'
  /** Entries that were not read yet have been deleted. */
  | 'gap'
  /** An entry that was read is not there and was not deleted, or others are between ours: this is another history. */
  | 'history'
  /** Records were deleted, perhaps those that could not be read. */
  | 'removed'
  /** The wall clock was set back: what had lapsed by it, and was left out, may be needed again. */
  | 'clock'

/** Seconds. Entries are kept for longer than they are needed, and a leap second must not make a fleet read everything. */
const SET_BACK = 5

/**
 * What a reader does after a report. `XREAD` says nothing of entries that were deleted before they were read, and after a
 * fail-over ids below ours can hold entries that we have never seen.
 */
export function followStep(
  { position, unreadable }: Pick<ReplicaState, 'position' | 'unreadable'>,
  { identity, info, found }: StreamReport,
  askedAt: Instant,
): 'absent' | 'follow' | LoadTrigger {
  if (info === undefined) return 'absent'
  if (position === undefined) return 'start'
  if (position.identity !== identity?.id) return 'identity'
  if (hasSteppedBack(position, info)) return 'step_back'
  if (isLater(info.maxDeleted, position.verified)) return 'gap'
  if (hasOtherHistory(position, info, found)) return 'history'
  if (isSetBack(position, askedAt)) return 'clock'
  const before = position.info
  const deleted = info.entriesAdded - info.length - (before.entriesAdded - before.length)
  return unreadable.count > 0 && deleted !== 0 ? 'removed' : 'follow'
}

/** Whether the wall clock was set back, so that entries may count again that were left out as lapsed. No report is needed. */
function isSetBack({ lead }: Position, now: Instant): boolean {
  return lead - leadOf(now) > SET_BACK
}

function hasSteppedBack({ last, info: before }: Position, info: StreamInfo): boolean {
  return (
    isLater(last, info.last) ||
    isLater(before.maxDeleted, info.maxDeleted) ||
    info.entriesAdded < before.entriesAdded
  )
}

/**
 * Two primaries may even give the same id to different entries, or to the same one after different others: so contents are
 * compared, and entries counted.
 */
function hasOtherHistory(
  position: Position,
  info: StreamInfo,
  found: readonly (StreamEntry | undefined)[],
): boolean {
  const added = info.entriesAdded - position.addedThen
  const isCounted =
    position.last === info.last ? added === position.readSince : added > position.readSince
  return !isCounted || anchorsOf(position).some((entry, at) => hasVanished(entry, found[at], info))
}

/** The entries that a report is to find again, with the same content. */
export function anchorsOf(position: Position | undefined): readonly StreamEntry[] {
  return [position?.anchor, position?.newest].filter((entry) => entry !== undefined)
}

function hasVanished(
  entry: StreamEntry,
  found: StreamEntry | undefined,
  info: StreamInfo,
): boolean {
  if (found === undefined) return isLater(entry.id, info.maxDeleted)
  return (
    found.fields.length !== entry.fields.length ||
    found.fields.some((text, at) => text !== entry.fields[at])
  )
}

/** The last read before a report. */
export interface LastRead {
  readonly sentAt: Instant
  /** Whether there may have been more entries than were asked for. */
  readonly wasFull: boolean
}

/**
 * The moment that the replica lacks nothing before: when the request was sent, not when its answer came.
 *
 * @param askedAt When the report was asked for.
 */
export function freshSince(
  { freshAt, position }: Pick<ReplicaState, 'freshAt' | 'position'>,
  info: StreamInfo,
  askedAt: Instant,
  read: LastRead | undefined,
): Instant | undefined {
  if (position === undefined) return freshAt
  if (position.last === info.last) return laterOf(freshAt, askedAt)
  return read === undefined || read.wasFull ? freshAt : laterOf(freshAt, read.sentAt)
}

/**
 * Whose stream it is. Only an operator writes an identity, so a stream that lacks its own has lost entries, and one with
 * another identity may lack them, unless that identity says what it replaces.
 */
export function adopt(
  known: string | undefined,
  seen: Identity | undefined,
): { readonly identity: string | undefined; readonly store: 'sound' | 'missing' | 'replaced' } {
  if (seen === undefined) return { identity: known, store: 'missing' }
  const isOurs = known === undefined || known === seen.id || seen.replaces.includes(known)
  return isOurs ? { identity: seen.id, store: 'sound' } : { identity: known, store: 'replaced' }
}

/** How far a replica can be relied on. Only `current` can say that a token was not revoked. A minor release may bring further ones. */
export type RevocationsState =
  | 'loading'
  | 'current'
  | 'stale'
  | 'missing'
  | 'replaced'
  | 'unreadable'
  | 'full'
  | 'closed'

export function wordOf(state: ReplicaState, now: Instant, maxStaleness: number): RevocationsState {
  if (state.isClosed) return 'closed'
  if (state.store === 'missing' || state.store === 'replaced') return state.store
  if (state.isFull) return 'full'
  if (state.unreadable.count > 0) return 'unreadable'
  if (state.freshAt === undefined) return 'loading'
  if (state.position && isSetBack(state.position, now)) return 'stale'
  // Not `>`: where a clock shows no number, nothing is current.
  return elapsed(state.freshAt, now) <= maxStaleness ? 'current' : 'stale'
}

/** What somebody who waits for `ready()` is told: `undefined`, to go on waiting. */
export function readiness(
  state: ReplicaState,
  word: RevocationsState,
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
export function obstacleOf(word: RevocationsState): RevocationStoreError | undefined {
  if (word === 'missing') return new RevocationStoreError('no_stream')
  if (word === 'replaced') return new RevocationStoreError('other_stream')
  if (word === 'unreadable') return new RevocationStoreError('unreadable_record')
  return word === 'full' ? new RevocationStoreError('full') : undefined
}

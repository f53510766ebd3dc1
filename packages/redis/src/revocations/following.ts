import { type Instant } from '@portcullis/kit/time'

import { isLater } from '../store/entry-id.ts'
import type { RevocationStoreError } from '../store/errors.ts'
import type { Identity } from '../store/record.ts'
import type { StreamEntry, StreamInfo } from '../store/stream-replies.ts'
import type { StreamReport } from '../store/stream-report.ts'
import { leadOf } from '../store/time.ts'
import { deletedIn, hasSteppedBack, hasVanished } from './comparison.ts'
import type { LoadTrigger, RevocationsMessage } from './diagnostics.ts'

// What a replica decides: pure functions of its state, of what the store reports and of a moment, which answer with a word.
// Whoever carries the words out decides nothing. Times are seconds.

/** Up to where the stream was read, and what it said of itself then. */
export interface Position {
  readonly read: ReadUpTo
  /** By the last report. */
  readonly reported: {
    /** The identity record that the stream had. */
    readonly identity: string | undefined
    /** Whether that was made to be restored. */
    readonly isMarked: boolean
    readonly info: StreamInfo
    /** How many entries there were that were not read yet. */
    readonly unread: number
  }
  /** The largest lead of the wall clock since the reading began: what had lapsed by that was left out. */
  readonly lead: number
}

/** Everything up to there was compared with what the stream said of itself at that moment. */
interface ReadUpTo {
  readonly last: string
  /** The last entry that is not after it. */
  readonly anchor: StreamEntry | undefined
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
  /** Whether the stream replaces one that was lost, and no operator has ended its restoration, as of the last report. */
  readonly isRestoring: boolean
  /** In which state this replica last followed the stream that this one replaces. `undefined`: it has followed none. */
  readonly former: RevocationsMessage['state'] | undefined
  /** In which state it was when it found that the stream `identity` is gone. `undefined`: it is not. */
  readonly parted: RevocationsMessage['state'] | undefined
  /** How often it was found that the stream may lack what is known here, and up to which of them that was written back. */
  readonly losses: number
  readonly settled: number
  /** How many entries were written back. */
  readonly written: number
  /** That it failed the last time. */
  readonly writeFailure: Failure | undefined
  readonly unreadable: Skipped
  /** Records without `v`: somebody else's. */
  readonly foreign: Skipped
  /** There was an entry that the index has no room for. */
  readonly isFull: boolean
  /** The same, as the reader found it. */
  readonly shortage: Shortage | undefined
  /** How long it took to read the whole stream. Seconds. */
  readonly took: number
  readonly lastFailure: Failure | undefined
  /** Failures since the last report. */
  readonly failures: number
  /** How many reports there were. */
  readonly reports: number
  readonly isClosed: boolean
}

export interface Skipped {
  readonly count: number
  /** The id of the first one. */
  readonly first: string | undefined
}

/** A reader found no room for all entries. */
export interface Shortage {
  readonly at: Instant
  /** How many entries had been deleted from the stream by then. */
  readonly deleted: number
  /** So long after it the stream is read again: if entries were deleted since, and in any case, since some may have lapsed. */
  readonly rest: { readonly soonest: number; readonly longest: number }
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
  isRestoring: false,
  former: undefined,
  parted: undefined,
  losses: 0,
  settled: 0,
  written: 0,
  writeFailure: undefined,
  unreadable: NOTHING_SKIPPED,
  foreign: NOTHING_SKIPPED,
  isFull: false,
  shortage: undefined,
  took: 0,
  lastFailure: undefined,
  failures: 0,
  reports: 0,
  isClosed: false,
}

export type FollowStep =
  | { readonly word: 'follow'; readonly info: StreamInfo }
  | { readonly word: 'absent' | LoadTrigger }

/** Seconds. Entries are kept for longer than they are needed, and a leap second must not make a fleet read everything. */
const SET_BACK = 5

/**
 * What a reader does after a report on the entries after its position. After a fail-over, ids below ours can hold entries that
 * we have never seen, and a stream that was away may come back as another.
 *
 * @param count How many entries were asked for.
 */
export function followStep(
  state: Pick<ReplicaState, 'unreadable' | 'isFull' | 'shortage'>,
  position: Position,
  report: StreamReport,
  askedAt: Instant,
  count: number,
): FollowStep {
  const { info } = report
  if (info === undefined) return { word: 'absent' }
  const trigger = loadTrigger(state, position, { ...report, info }, askedAt, count)
  return trigger === undefined ? { word: 'follow', info } : { word: trigger }
}

/** `undefined`: nothing was missed. */
function loadTrigger(
  state: Pick<ReplicaState, 'unreadable' | 'isFull' | 'shortage'>,
  position: Position,
  report: PresentStream,
  askedAt: Instant,
  count: number,
): LoadTrigger | undefined {
  const { identity, info } = report
  const { read, reported } = position
  if (reported.identity !== identity?.id) return 'identity'
  if (hasSteppedBack(reported.info, info) || isLater(read.last, info.last)) return 'step_back'
  if (isLater(info.maxDeleted, read.last)) return 'gap'
  if (hasOtherHistory(position, report, count)) return 'history'
  if (isSetBack(position, askedAt)) return 'clock'
  const isRemoved = state.unreadable.count > 0 && deletedIn(info) !== deletedIn(reported.info)
  if (isRemoved) return 'removed'
  return state.isFull && mayHaveRoom(state.shortage, info, askedAt) ? 'full' : undefined
}

interface PresentStream extends StreamReport {
  readonly info: StreamInfo
}

function mayHaveRoom(
  shortage: Shortage | undefined,
  info: StreamInfo,
  { monotonic }: Instant,
): boolean {
  if (shortage === undefined) return true
  const { at, deleted, rest } = shortage
  const least = deletedIn(info) === deleted ? rest.longest : rest.soonest
  return monotonic - at.monotonic >= least
}

/** Whether the wall clock was set back, so that entries may count again that were left out as lapsed. No report is needed. */
export function isSetBack({ lead }: Position, now: Instant): boolean {
  return lead - leadOf(now) > SET_BACK
}

/** Two primaries may give the same ids to other entries, or after others: so contents are compared, and entries counted. */
function hasOtherHistory(
  { read, reported }: Position,
  { info, entries, anchor }: PresentStream,
  count: number,
): boolean {
  const expected = unreadAt(reported, info)
  if (entries.length !== Math.min(count, expected)) return true
  const reached = entries.at(-1)?.id ?? read.last
  const isEnd = entries.length === expected
  if (isEnd && reached !== info.last) return true
  return read.anchor !== undefined && hasVanished(read.anchor, anchor, info)
}

/** How many entries there must be that were not read, if none of them was deleted since a report. */
export function unreadAt({ unread, info: before }: Position['reported'], info: StreamInfo): number {
  return unread + info.entriesAdded - before.entriesAdded
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

import type { Clock, LocalRevocations, RevocationEntry } from '@portcullis/core'

import { LOWEST_ID } from './entry-id.ts'
import { RevocationStoreError } from './errors.ts'
import {
  anchorsOf,
  followStep,
  type LastRead,
  type ReplicaState,
  type LoadTrigger,
} from './following.ts'
import { pacing } from './pacing.ts'
import { readRecord } from './record.ts'
import {
  afterAbsence,
  afterRead,
  afterReport,
  afterLoad,
  type Batch,
  readFrom,
} from './replica-state.ts'
import type { Stream, StreamEntry, StreamInfo, StreamReport } from './stream.ts'
import { type Instant, instant } from './time.ts'

/** Entries of one reply: about 200 KB, and the event loop is free again after some 15 ms. */
const PAGE = 2000

/** What a reader fills. */
export interface Replica {
  readonly index: LocalRevocations
  readonly clock: Clock
  readonly maxStaleness: number
  state(): ReplicaState
  replace(next: ReplicaState): void
  /** Told after the whole stream was read. */
  onLoad(trigger: LoadTrigger, records: number, duration: number): void
}

/**
 * Follows the stream over one connection: reads it from the beginning if it must, then entry by entry, and at each heartbeat
 * compares what the stream says of itself with what was read.
 *
 * @throws RevocationStoreError when the connection cannot be used any more: it never returns.
 */
export async function follow(stream: Stream, replica: Replica): Promise<never> {
  const { clock } = replica
  const { heartbeat } = pacing(replica.maxStaleness)
  let read: LastRead | undefined
  for (;;) {
    const askedAt = instant(clock)
    const report = await stream.report(anchorsOf(replica.state().position).map(({ id }) => id))
    const step = followStep(replica.state(), report, askedAt)
    const { info } = report
    if (step === 'absent' || info === undefined) {
      replica.replace(afterAbsence(replica.state()))
      await wait(clock, heartbeat)
    } else if (step === 'follow') {
      replica.replace(afterReport(replica.state(), report, info, askedAt, read))
      read = await readUntil(askedAt.monotonic + heartbeat, stream, replica)
    } else {
      await readAll(stream, replica, report, info, askedAt, step)
      // What came meanwhile may be why entries were deleted before they were read.
      read = await readNext(stream, replica, 0)
    }
  }
}

/** Reads until the next heartbeat, and at least once. @param end On the monotonic clock. */
async function readUntil(end: number, stream: Stream, replica: Replica): Promise<LastRead> {
  for (;;) {
    const read = await readNext(stream, replica, Math.max(0, end - replica.clock.monotonic()))
    // Without a position, a revocation of this process had no room: the next report has everything read again.
    if (replica.state().position === undefined || replica.clock.monotonic() >= end) return read
  }
}

async function readNext(stream: Stream, replica: Replica, block: number): Promise<LastRead> {
  const sentAt = instant(replica.clock)
  const entries = await stream.read(readFrom(replica.state()), PAGE, block)
  const batch = fill(replica.index, entries)
  if (batch.isFull) throw new RevocationStoreError('full')
  replica.replace(afterRead(replica.state(), batch))
  return { sentAt, wasFull: entries.length >= PAGE }
}

async function readAll(
  stream: Stream,
  replica: Replica,
  report: StreamReport,
  info: StreamInfo,
  askedAt: Instant,
  trigger: LoadTrigger,
): Promise<void> {
  const batches: Batch[] = []
  let records = 0
  let isFull = false
  let after = LOWEST_ID
  for (;;) {
    const entries = await stream.page(after, info.last, PAGE)
    const batch = fill(replica.index, entries)
    records += entries.length
    isFull ||= batch.isFull
    after = entries.at(-1)?.id ?? after
    // Of an empty last page the entry before it is the last one.
    if (entries.length > 0) batches.push({ ...batch, entries: entries.slice(-1) })
    if (entries.length < PAGE) break
  }
  if (isFull) throw new RevocationStoreError('full')
  replica.replace(afterLoad(replica.state(), report, info, askedAt, batches))
  replica.onLoad(trigger, records, replica.clock.monotonic() - askedAt.monotonic)
}

/** Adds what entries revoke, also if the stream turns out not to be the one that was followed: to refuse more is safe. */
function fill(index: LocalRevocations, entries: readonly StreamEntry[]): Batch {
  const unreadable: string[] = []
  const foreign: string[] = []
  const revoked: [id: string, entry: RevocationEntry][] = []
  for (const { id, fields } of entries) {
    const record = readRecord(fields)
    if (record.kind === 'revocation') revoked.push([id, record.entry])
    else if (record.kind !== 'identity') (record.kind === 'foreign' ? foreign : unreadable).push(id)
  }
  const left = revoked.length > 0 ? load(index, revoked) : []
  // Those of the others are no entries by the rules of the index, such as a time in milliseconds.
  unreadable.push(...left.filter(({ error }) => !(error instanceof RangeError)).map(({ id }) => id))
  const isFull = left.some(({ error }) => error instanceof RangeError)
  return { entries, unreadable, foreign, isFull }
}

/** Adds whatever it can, and answers with what it cannot. */
function load(
  index: LocalRevocations,
  revoked: readonly (readonly [id: string, entry: RevocationEntry])[],
): readonly { readonly id: string; readonly error: unknown }[] {
  try {
    index.load(revoked.map(([, entry]) => entry))
    return []
  } catch (error) {
    if (revoked.length === 1) return revoked.map(([id]) => ({ id, error }))
    const half = Math.ceil(revoked.length / 2)
    return [revoked.slice(0, half), revoked.slice(half)].flatMap((part) => load(index, part))
  }
}

async function wait(clock: Clock, seconds: number): Promise<void> {
  await new Promise<void>((resolve) => {
    clock.after(seconds, resolve)
  })
}

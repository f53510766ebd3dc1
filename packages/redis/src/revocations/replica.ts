import type { Clock, LocalRevocations, RevocationEntry } from '@portcullis/core'
import { instant } from '@portcullis/kit/time'

import { RevocationStoreError } from '../store/errors.ts'
import { pacing, restWhenFull } from '../store/pacing.ts'
import { readRecord } from '../store/record.ts'
import type { StreamEntry, StreamInfo } from '../store/stream-replies.ts'
import type { Stream } from '../store/stream.ts'
import type { LoadTrigger } from './diagnostics.ts'
import { type FollowStep, followStep, type Position, type ReplicaState } from './following.ts'
import { afterAbsence, afterLoad, afterReport, afterShortage, type Batch } from './replica-state.ts'
import { readWhole } from './whole-stream.ts'

// Follows the stream over one connection. What is done next is decided in `following.ts`.

/** So often in a row the whole stream is read, if what was read cannot be all of it, or does not fit what is reported then. */
const ATTEMPTS = 3

export interface Replica {
  readonly index: LocalRevocations
  readonly clock: Clock
  readonly maxStaleness: number
  /** Entries of one reply. */
  readonly page: number
  random(): number
  state(): ReplicaState
  replace(next: ReplicaState): void
  onLoad(trigger: LoadTrigger, records: number, duration: number): void
  onFull(): void
}

/**
 * Reads the stream from its beginning if it must, then takes up new entries at once, and at each heartbeat compares what it says of
 * itself with what was read. @throws RevocationStoreError when the connection or the stream cannot be used: it never returns.
 */
export async function follow(stream: Stream, replica: Replica): Promise<never> {
  let attempts = 0
  for (;;) {
    const { position } = replica.state()
    const trigger = position === undefined ? 'start' : await readNext(stream, replica, position)
    if (trigger === 'follow') attempts = 0
    else if (trigger === 'absent' || (await readAll(stream, replica, trigger)) === 'absent') {
      await waitForStream(replica)
    } else attempts += 1
    if (attempts === ATTEMPTS) throw new RevocationStoreError('incomplete')
  }
}

async function waitForStream(replica: Replica): Promise<void> {
  const { clock, maxStaleness } = replica
  replica.replace(afterAbsence(replica.state()))
  await new Promise<void>((resolve) => {
    clock.after(pacing(maxStaleness).heartbeat, resolve)
  })
}

/** Reads what comes next. If nothing was missed, takes up new entries until the next heartbeat. */
async function readNext(
  stream: Stream,
  replica: Replica,
  position: Position,
): Promise<FollowStep['word']> {
  const askedAt = instant(replica.clock)
  const { page: count, maxStaleness } = replica
  const { last: after, anchor } = position.read
  const report = await stream.report({ after, count, anchor: anchor?.id })
  const step = followStep(replica.state(), position, report, askedAt, count)
  if (step.word !== 'follow') return step.word
  const { info } = step
  const { entries } = report
  const batch = fill(replica.index, entries)
  const before = replica.state()
  const next = afterReport(before, position, report, info, askedAt, batch)
  take(replica, next, info, batch.isFull && before.shortage === undefined)
  if (entries.length < count) {
    const end = askedAt.monotonic + pacing(maxStaleness).heartbeat
    await readAhead(stream, replica, info.last, end)
  }
  return step.word
}

/** What new entries revoke is refused at once. They count as read when the next report brings them again. @param end The next heartbeat. */
async function readAhead(
  stream: Stream,
  { index, clock, page }: Replica,
  last: string,
  end: number,
): Promise<void> {
  let after = last
  for (;;) {
    const entries = await stream.read(after, page, Math.max(0, end - clock.monotonic()))
    const { unreadable, foreign, isFull } = fill(index, entries)
    after = entries.at(-1)?.id ?? after
    const isUrgent = isFull || unreadable.length + foreign.length > 0 || entries.length >= page
    if (isUrgent || clock.monotonic() >= end) return
  }
}

async function readAll(
  stream: Stream,
  replica: Replica,
  trigger: LoadTrigger,
): Promise<'whole' | 'absent' | 'changed'> {
  const { index, clock, page } = replica
  const batches: Batch[] = []
  const began = instant(clock)
  const reading = await readWhole(stream, page, (entries) => batches.push(fill(index, entries)))
  if (typeof reading === 'string') return reading
  const took = clock.monotonic() - began.monotonic
  const next = afterLoad(replica.state(), reading, began, took, batches)
  take(
    replica,
    next,
    reading.info,
    batches.some(({ isFull }) => isFull),
  )
  replica.onLoad(trigger, reading.count, took)
  return 'whole'
}

/** Replaces the state once, not twice: between the two, a replica that had no room for all entries would look whole. */
function take(replica: Replica, next: ReplicaState, info: StreamInfo, isFull: boolean): void {
  const rest = restWhenFull(next.took, replica.random())
  replica.replace(isFull ? afterShortage(next, info, instant(replica.clock), rest) : next)
  if (isFull) replica.onFull()
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
  return { unreadable, foreign, isFull }
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

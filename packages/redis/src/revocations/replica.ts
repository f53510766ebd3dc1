import type { Clock, LocalRevocations } from '@portcullis/core'
import { type Instant, instant } from '@portcullis/kit/time'

import { RevocationStoreError } from '../store/errors.ts'
import { pacing, restWhenFull } from '../store/pacing.ts'
import type { Identity } from '../store/record.ts'
import type { StreamEntry, StreamInfo } from '../store/stream-replies.ts'
import type { Stream } from '../store/stream.ts'
import { earlierOf } from '../store/time.ts'
import type { Ahead } from './ahead.ts'
import type { LoadTrigger } from './diagnostics.ts'
import { fill } from './filling.ts'
import {
  adopt,
  type FollowStep,
  followStep,
  type Position,
  type ReplicaState,
} from './following.ts'
import type { Others } from './others.ts'
import type { Ours } from './ours.ts'
import { wordAtParting } from './readiness.ts'
import {
  afterAbsence,
  afterLoad,
  afterLoss,
  afterPage,
  afterReport,
  afterShortage,
  type Batch,
} from './replica-state.ts'
import { causeOfLoad, isLossy } from './restoring.ts'
import { readWhole } from './whole-stream.ts'

// Follows the stream over one connection. What is done next is decided in `following.ts`.

/** So often in a row the whole stream is read, if what was read cannot be all of it, or does not fit what is reported then. */
const ATTEMPTS = 3

export interface Replica {
  readonly index: LocalRevocations
  /** The same, and what it has no room for. */
  readonly ours: Ours
  readonly others: Others
  readonly ahead: Ahead
  readonly clock: Clock
  readonly maxStaleness: number
  /** Entries of one reply. */
  readonly page: number
  /** What operators see of the connection. */
  readonly name: () => string | undefined
  /** Told of what was read of a stream that is ours. */
  readonly onRead: (entries: readonly StreamEntry[]) => void
  /** After a report that was read to its end. @returns Whether it lacks something that this process has appended. */
  look(askedAt: Instant): boolean
  random(): number
  readonly state: () => ReplicaState
  replace(next: ReplicaState): void
  onLoad(trigger: LoadTrigger, records: number, duration: number): void
  onFull(): void
}

/**
 * Reads the stream from its beginning if it must, then takes up new entries at once, and at each heartbeat compares what it says of
 * itself with what was read. @throws RevocationStoreError when the connection or the stream cannot be used: it never returns.
 */
export async function follow(stream: Stream, replica: Replica): Promise<never> {
  replica.ahead.mayBeLost()
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
  const state = replica.state()
  replica.replace(afterAbsence(state, wordAtParting(state, instant(clock), maxStaleness)))
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
  const { isMarked } = position.reported
  const report = await stream.report({ after, count, anchor: anchor?.id, isMarked })
  const step = followStep(replica.state(), position, report, askedAt, count)
  if (step.word !== 'follow') return step.word
  const { info } = step
  const { entries } = report
  const batch = await takeUp(replica, entries, report.identity)
  replica.ahead.settle(entries)
  const left = entries.length < count ? await leave(replica) : NOTHING_LEFT
  const before = replica.state()
  // What a primary says that is none any more is worth as much as what sentinels last said of it.
  const asOf = earlierOf(askedAt, stream.confirmedAt())
  const reported = afterReport(before, position, report, { info, askedAt, asOf }, batch)
  const isLacking = reported.position?.reported.unread === 0 && replica.look(askedAt)
  const next = isLacking || left.isLost ? afterLoss(reported) : reported
  const isFull = batch.isFull || left.isFull
  take(replica, next, info, isFull && before.shortage === undefined)
  if (entries.length < count) {
    const end = askedAt.monotonic + pacing(maxStaleness).heartbeat
    await readAhead(stream, replica, { last: info.last, identity: report.identity }, end)
  }
  return step.word
}

/**
 * What new entries revoke is refused at once. They count as read when the next report brings them again.
 *
 * @param reported By the last one. Of which stream entries are that were read since, no answer says.
 * @param end The next heartbeat.
 */
async function readAhead(
  stream: Stream,
  replica: Replica,
  reported: { readonly last: string; readonly identity: Identity | undefined },
  end: number,
): Promise<void> {
  const { clock, page, ahead } = replica
  const other = otherIn(replica, reported.identity)
  let after = reported.last
  for (;;) {
    const entries = await stream.read(after, page, Math.max(0, end - clock.monotonic()))
    const { unreadable, foreign, isFull } = ahead.take(entries, other)
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
  const { clock, page, maxStaleness } = replica
  const batches: Batch[] = []
  const began = instant(clock)
  const word = wordAtParting(replica.state(), began, maxStaleness)
  const knew = replica.index.size > 0
  const reading = await readWhole(stream, page, async (entries, identity) => {
    replica.ahead.settle(entries)
    batches.push(await takeUp(replica, entries, identity))
    const state = replica.state()
    const next = afterPage(state, identity)
    if (next !== state) replica.replace(next)
  })
  if (typeof reading === 'string') return reading
  // What this stream has not is of the one before: it may be in nobody else's hands.
  const { ours } = replica
  await ours.retry()
  const cause = causeOfLoad(trigger, replica.state().position, reading)
  if (isLossy(cause)) replica.ahead.mayBeLost()
  const left = await leave(replica)
  const isLost = (await moveOthers(replica, reading.identity)) || left.isLost
  const took = clock.monotonic() - began.monotonic
  const load = { trigger: cause, word, knew, isLost, began, took }
  const next = afterLoad(replica.state(), reading, load, batches)
  take(
    replica,
    next,
    reading.info,
    [ours, left, ...batches].some(({ isFull }) => isFull),
  )
  replica.onLoad(cause, reading.count, took)
  return 'whole'
}

/** Replaces the state once, not twice: between the two, a replica that had no room for all entries would look whole. */
function take(replica: Replica, next: ReplicaState, info: StreamInfo, isFull: boolean): void {
  const rest = restWhenFull(next.took, replica.random())
  replica.replace(isFull ? afterShortage(next, info, instant(replica.clock), rest) : next)
  if (isFull) replica.onFull()
}

async function takeUp(
  replica: Replica,
  entries: readonly StreamEntry[],
  identity: Identity | undefined,
): Promise<Batch> {
  const { index, others, onRead } = replica
  const other = otherIn(replica, identity)
  if (other !== undefined) return await others.take(other, entries)
  onRead(entries)
  return fill(index, entries)
}

/** `undefined`: it is the stream that is followed, replaces that, or has lost its identity. */
function otherIn({ state }: Replica, identity: Identity | undefined): Identity | undefined {
  return adopt(state().identity, identity).store === 'replaced' ? identity : undefined
}

async function moveOthers(replica: Replica, identity: Identity | undefined): Promise<boolean> {
  const isOurs = identity !== undefined && otherIn(replica, identity) === undefined
  return isOurs && (await replica.others.moveTo(replica.ours, identity))
}

/**
 * What was read ahead, and is not in the stream, was a former primary's, if the connection has ended or something was missed: it is ours,
 * or of the other stream that was reported then. Otherwise another one had the key for less than a heartbeat, and no report says which: it
 * is refused, and never written.
 */
async function leave({ ahead, ours, others }: Replica): Promise<Left> {
  const isLost = ahead.moveTo(ours)
  let { isFull } = ours
  for (const { other, entries } of ahead.unclaimed()) {
    const batch = await others.take(other, entries)
    isFull ||= batch.isFull
  }
  // Not before: it is refused all the time.
  ahead.clear()
  return { isLost, isFull }
}

interface Left {
  readonly isLost: boolean
  readonly isFull: boolean
}

const NOTHING_LEFT: Left = { isLost: false, isFull: false }

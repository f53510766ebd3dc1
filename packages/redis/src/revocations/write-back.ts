import {
  type Clock,
  type LocalRevocations,
  localRevocations,
  type RevocationEntry,
} from '@portcullis/core'
import { instant } from '@portcullis/kit/time'

import { type Connect, openConnection } from '../store/connection.ts'
import { LOWEST_ID } from '../store/entry-id.ts'
import { RevocationStoreError, storeError } from '../store/errors.ts'
import { pauseAfterWriting, writeBackPauses } from '../store/pacing.ts'
import { writeContribution, writeRecord } from '../store/record.ts'
import { openStream, type Stream } from '../store/stream.ts'
import { certainTime } from '../store/time.ts'
import { hasSteppedBack, hasVanished } from './comparison.ts'
import type { RevocationsMessage } from './diagnostics.ts'
import { fill } from './filling.ts'
import type { ReplicaState } from './following.ts'
import { MOST, type Ours } from './ours.ts'
import { afterWriteBack, afterWriteFailure } from './replica-state.ts'
import { CLOCK_DIFFERENCE, isOwed, lackingFrom } from './restoring.ts'
import { allOf } from './slices.ts'

// Appends what this process knows and the stream lacks, after a loss or a fail-over. Whether it must is decided in `restoring.ts`.

export interface WriteBackParts {
  readonly connect: Connect
  readonly key: string
  /** What this process knows. */
  readonly ours: Pick<Ours, 'entries'>
  readonly clock: Clock
  readonly maxStaleness: number
  /** The name of this process. */
  readonly process: string
  readonly random: () => number
  readonly state: () => ReplicaState
  /** @param told To whoever watches the process: outside of a restoration nothing else shows that it fails. */
  readonly replace: (
    next: ReplicaState,
    told?: Pick<RevocationsMessage, 'event' | 'reason' | 'detail'>,
  ) => void
  /** Told of each entry that was appended: it may have been to a primary that is none any more. */
  readonly onAppended: (id: string, record: readonly string[]) => void
}

/** Entries of a page that is read. */
const READ = 2000
/** Seconds, of each answer. */
const TIMEOUT = 10

/** How many entries were written. */
interface Count {
  entries: number
}

/** @returns Looks whether there is something to write back, and begins unless it is under way; ends it. */
export function createWriteBack(parts: WriteBackParts): { look(): void; close(): void } {
  const { connect, key, clock, maxStaleness, random, state, replace } = parts
  const ending = new AbortController()
  const started = instant(clock)
  const now = () => certainTime(clock, started)
  let isRunning = false
  let endPause: (() => void) | undefined

  async function pause(seconds: number): Promise<void> {
    if (ending.signal.aborted) return
    await new Promise<void>((resolve) => {
      const cancel = clock.after(seconds, resolve)
      endPause = () => {
        cancel()
        resolve()
      }
    })
  }

  async function run(): Promise<void> {
    let failures = 0
    // Sentinels, and other processes, first come to one mind.
    await pause(writeBackPauses(maxStaleness, random()).first)
    while (isOwed(state())) {
      const began = clock.monotonic()
      const failure = await writeOnce()
      failures = failure === undefined ? 0 : failures + 1
      if (failure === undefined) continue
      const took = clock.monotonic() - began
      await pause(pauseAfterWriting(failures, took, maxStaleness, random()))
    }
  }

  async function writeOnce(): Promise<RevocationStoreError | undefined> {
    const { losses } = state()
    // A connection of its own, to whoever is the primary now.
    const connection = openConnection(connect, clock)
    const end = () => {
      connection.close()
    }
    ending.signal.addEventListener('abort', end)
    const count = { entries: 0 }
    try {
      const stream = openStream(key, connection, TIMEOUT)
      await writeLacking(stream, parts, now, count, async () => {
        await pause(writeBackPauses(maxStaleness, random()).page)
      })
      replace(afterWriteBack(state(), losses, count.entries))
      return undefined
    } catch (error) {
      const failure = storeError(error)
      if (ending.signal.aborted) return failure
      const { reason, message: detail } = failure
      const told = { event: 'failure', reason, detail } as const
      replace(afterWriteFailure(state(), failure, count.entries, instant(clock)), told)
      return failure
    } finally {
      ending.signal.removeEventListener('abort', end)
      connection.close()
    }
  }

  function look(): void {
    if (isRunning || !isOwed(state())) return
    isRunning = true
    void run().finally(() => {
      isRunning = false
      look()
    })
  }

  return {
    look,
    close() {
      ending.abort()
      endPause?.()
    },
  }
}

/** @param now Seconds since 1970-01-01T00:00:00Z. @param rest Waits before the next page. @throws RevocationStoreError */
async function writeLacking(
  stream: Stream,
  parts: WriteBackParts,
  now: () => number,
  count: Count,
  rest: () => Promise<void>,
): Promise<void> {
  const { ours, clock, random, state, process } = parts
  // It keeps what others would still write back, however much that is: nothing is to be written again.
  const seen = localRevocations({ max: MOST, clock: behind(clock, now) })
  let after = LOWEST_ID
  let known: readonly RevocationEntry[] | undefined
  let at = 0
  for (;;) {
    const read = await readOn(stream, state, seen, after)
    after = read.last
    if (known === undefined) {
      known = begunAt(random(), await allOf(ours.entries()))
      // What came meanwhile is not to be written again.
      continue
    }
    const { page, next } = lackingFrom(known, at, seen, now())
    at = next
    await writePage(stream, parts, page, count)
    if (at === known.length) {
      await contribute(stream, state(), process, read.isRestoring, count)
      return
    }
    if (page.length > 0) await rest()
  }
}

function behind(clock: Clock, now: () => number): Clock {
  return {
    now: () => now() - CLOCK_DIFFERENCE,
    monotonic: () => clock.monotonic(),
    after: (seconds, fn) => clock.after(seconds, fn),
  }
}

/** Elsewhere in each process, so that they share the work instead of doing the same. @param random From 0 to 1. */
function begunAt(random: number, entries: readonly RevocationEntry[]): readonly RevocationEntry[] {
  const first = Math.floor(random * entries.length)
  return [...entries.slice(first), ...entries.slice(0, first)]
}

/**
 * Reads on to the end, right before a page is appended: others write back the same, and the stream may have become another one.
 *
 * @throws RevocationStoreError unless it is the stream that is followed, and has what was read of it.
 */
async function readOn(
  stream: Stream,
  state: () => ReplicaState,
  seen: LocalRevocations,
  from: string,
): Promise<{ readonly last: string; readonly isRestoring: boolean }> {
  let after = from
  for (;;) {
    const { position, identity } = state()
    const anchor = position?.read.anchor
    const isMarked = position?.reported.isMarked
    const report = await stream.report({ after, count: READ, anchor: anchor?.id, isMarked })
    const { info, entries, isRestoring } = report
    if (info === undefined || report.identity === undefined) {
      throw new RevocationStoreError('no_stream')
    }
    if (report.identity.id !== identity) throw new RevocationStoreError('other_stream')
    // Another primary than the one that this process reads.
    const hasLess = position !== undefined && hasSteppedBack(position.reported.info, info)
    if (hasLess || (anchor !== undefined && hasVanished(anchor, report.anchor, info))) {
      throw new RevocationStoreError('incomplete')
    }
    fill(seen, entries)
    after = entries.at(-1)?.id ?? after
    if (entries.length < READ) return { last: after, isRestoring }
  }
}

async function writePage(
  stream: Stream,
  { onAppended }: WriteBackParts,
  entries: readonly RevocationEntry[],
  count: Count,
): Promise<void> {
  const appended = entries.map(async (entry) => {
    const record = writeRecord(entry)
    const id = await stream.append(record)
    if (id === undefined) throw new RevocationStoreError('no_stream')
    count.entries += 1
    onAppended(id, record)
  })
  await Promise.all(appended)
}

/** Says what this process has done: so an operator knows whose entries the stream has. */
async function contribute(
  stream: Stream,
  { former, written }: ReplicaState,
  process: string,
  isRestoring: boolean,
  { entries }: Count,
): Promise<void> {
  if (!isRestoring || former === undefined) return
  const said = { process, entries: written + entries, former }
  await stream.append(writeContribution(said))
}

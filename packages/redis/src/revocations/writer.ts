import type { Clock, RevocationEntry } from '@portcullis/core'

import { type Connect, type Connection, LONGEST_REST, openConnection } from '../store/connection.ts'
import { RevocationStoreError } from '../store/errors.ts'
import { writeRecord } from '../store/record.ts'
import { openStream } from '../store/stream.ts'
import { whileWaiting } from '../store/time.ts'
import type { Ours } from './ours.ts'
import { createReplication } from './replication.ts'

// Records revocations: in the stream, over a connection of its own, if all processes have room for them, and at once in the copy of this
// one.

/** Seconds, with the time to connect. */
const TIMEOUT = 5

export interface Writer {
  /**
   * Resolves when as many replicas have it as are stated.
   *
   * @param record Names and values in turn.
   * @param onAppended Told the id as soon as the store has it.
   * @throws RevocationStoreError
   */
  append(record: readonly string[], onAppended: (id: string) => void): Promise<void>
  close(): void
}

/** A connection that appends, and what waits for the replicas of what it has appended. */
interface Writing {
  readonly connection: Connection
  readonly replicated: () => Promise<void>
}

/**
 * A connection of its own, opened by the first revocation: the reader's is blocked by `XREAD`.
 *
 * @param replicas How many must have a record before it counts as recorded.
 */
export function createWriter(
  connect: Connect,
  key: string,
  clock: Clock,
  replicas: number,
): Writer {
  let writing: Writing | undefined
  let usedAt = -Infinity
  let isClosed = false

  function open(): Writing {
    const connection = openConnection(connect, clock)
    return { connection, replicated: createReplication(connection, replicas) }
  }

  async function appendBy(used: Writing, record: readonly string[]): Promise<string> {
    try {
      const id = await openStream(key, used.connection, TIMEOUT).append(record)
      if (id === undefined) throw new RevocationStoreError('no_stream')
      return id
    } catch (error) {
      if (isBroken(error)) drop(used)
      throw error
    }
  }

  function drop(failed: Writing): void {
    failed.connection.close()
    if (writing === failed) writing = undefined
  }

  /** By the connection that is open, or by another, once. */
  async function appendOnce(record: readonly string[]): Promise<[id: string, by: Writing]> {
    const now = clock.monotonic()
    if (writing !== undefined && now - usedAt > LONGEST_REST) drop(writing)
    usedAt = now
    const isNew = writing === undefined
    let used = (writing ??= open())
    try {
      return [await appendBy(used, record), used]
    } catch (error) {
      if (isClosed || isNew || !mayHelp(error)) throw error
      used = writing ??= open()
      return [await appendBy(used, record), used]
    }
  }

  return {
    async append(record, onAppended) {
      const [id, used] = await appendOnce(record)
      onAppended(id)
      if (replicas > 0) await used.replicated()
    },
    close() {
      isClosed = true
      if (writing !== undefined) drop(writing)
    },
  }
}

function isBroken(error: unknown): boolean {
  const { reason } = error as RevocationStoreError // the only error that a stream throws
  return reason !== 'no_stream' && reason !== 'out_of_memory' && reason !== 'busy'
}

/** Since it was last used, the store may have closed it, or become a replica, which refuses; or somebody who shared it was refused. */
function mayHelp(error: unknown): boolean {
  const { reason } = error as RevocationStoreError
  return reason === 'unreachable' || reason === 'refused' || reason === 'closed'
}

/**
 * @param ours What this process knows.
 * @param hasRoomFor Whether the copy has room for these, and for all that it has read.
 * @param onFull Told when the copy lacks room for what is in the stream.
 * @param onAppended Told what the store has acknowledged.
 * @returns Records one entry. @throws RevocationStoreError
 */
export function createRecorder(
  writer: Writer,
  ours: Pick<Ours, 'take' | 'keep'>,
  hasRoomFor: (entries: readonly RevocationEntry[]) => boolean,
  onFull: (error: RevocationStoreError) => void,
  onAppended: (id: string, record: readonly string[]) => void,
): (entry: RevocationEntry) => Promise<void> {
  /** What is being recorded at the moment: it will need room. */
  const underWay = new Set<RevocationEntry>()

  /** At once, not when they come back by the stream: this process refuses from now on. */
  function load(entry: RevocationEntry): void {
    if (hasRoomFor([entry])) {
      ours.take([entry])
      return
    }
    // Another process has taken the last place meanwhile. This one refuses it all the same, and can write it back.
    ours.keep([entry])
    const full = new RevocationStoreError('full', 'it was recorded nevertheless')
    onFull(full)
    throw full
  }

  return async (entry) => {
    const record = writeRecord(entry)
    // Before it is recorded: what is in the stream, all replicas must have room for.
    if (!hasRoomFor([...underWay, entry]))
      throw new RevocationStoreError('full', 'it was not recorded')
    underWay.add(entry)
    try {
      const appended = writer.append(record, (id) => {
        onAppended(id, record)
        load(entry)
      })
      await whileWaiting(appended)
    } finally {
      underWay.delete(entry)
    }
  }
}

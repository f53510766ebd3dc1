import type { Clock, LocalRevocations, RevocationEntry } from '@portcullis/core'

import { type Connect, type Connection, LONGEST_REST, openConnection } from '../store/connection.ts'
import { RevocationStoreError } from '../store/errors.ts'
import { writeRecord } from '../store/record.ts'
import { openStream } from '../store/stream.ts'
import { whileWaiting } from '../store/time.ts'

// Records revocations: in the stream, over a connection of its own, if all processes have room for them, and at once in the copy of this
// one.

/** Seconds, with the time to connect. */
const TIMEOUT = 5

export interface Writer {
  /** @param record Names and values in turn. @returns The id. @throws RevocationStoreError */
  append(record: readonly string[]): Promise<string>
  close(): void
}

/** A connection of its own, opened by the first revocation: the reader's is blocked by `XREAD`. */
export function createWriter(connect: Connect, key: string, clock: Clock): Writer {
  let connection: Connection | undefined
  let usedAt = -Infinity
  let isClosed = false

  async function appendBy(used: Connection, record: readonly string[]): Promise<string> {
    try {
      const id = await openStream(key, used, TIMEOUT).append(record)
      if (id === undefined) throw new RevocationStoreError('no_stream')
      return id
    } catch (error) {
      if (isBroken(error)) drop(used)
      throw error
    }
  }

  function drop(failed: Connection): void {
    failed.close()
    if (connection === failed) connection = undefined
  }

  return {
    async append(record) {
      const now = clock.monotonic()
      if (connection !== undefined && now - usedAt > LONGEST_REST) drop(connection)
      usedAt = now
      const isNew = connection === undefined
      connection ??= openConnection(connect, clock)
      try {
        return await appendBy(connection, record)
      } catch (error) {
        if (isClosed || isNew || !mayHelp(error)) throw error
        connection ??= openConnection(connect, clock)
        return await appendBy(connection, record)
      }
    },
    close() {
      isClosed = true
      if (connection !== undefined) drop(connection)
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
 * @param onFull Told when the copy lacks room for what is in the stream.
 * @param onAppended Told what the store has acknowledged.
 * @returns Records one entry. @throws RevocationStoreError
 */
export function createRecorder(
  writer: Writer,
  index: LocalRevocations,
  max: number,
  onFull: (error: RevocationStoreError) => void,
  onAppended: (id: string, record: readonly string[]) => void,
): (entry: RevocationEntry) => Promise<void> {
  /** What is being recorded at the moment: it will need room. */
  const underWay = new Set<RevocationEntry>()

  function hasRoomFor(entry: RevocationEntry): boolean {
    return index.size + underWay.size < max || index.hasRoomFor([...underWay, entry])
  }

  /** At once, not when they come back by the stream: this process refuses from now on. */
  function load(entry: RevocationEntry): void {
    try {
      index.load([entry])
    } catch {
      // Another process has taken the last place meanwhile.
      const full = new RevocationStoreError('full', 'it was recorded nevertheless')
      onFull(full)
      throw full
    }
  }

  return async (entry) => {
    const record = writeRecord(entry)
    // Before it is recorded: what is in the stream, all replicas must have room for.
    if (!hasRoomFor(entry)) throw new RevocationStoreError('full', 'it was not recorded')
    underWay.add(entry)
    try {
      onAppended(await whileWaiting(writer.append(record)), record)
      load(entry)
    } finally {
      underWay.delete(entry)
    }
  }
}

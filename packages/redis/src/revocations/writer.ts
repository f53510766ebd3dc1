import type { Clock } from '@portcullis/core'

import { type Connect, type Connection, LONGEST_REST, openConnection } from '../store/connection.ts'
import { RevocationStoreError } from '../store/errors.ts'
import { openStream } from '../store/stream.ts'

// Appends revocations to the stream, over a connection of its own.

/** Seconds, with the time to connect. */
const TIMEOUT = 5

export interface Writer {
  /** @param record Names and values in turn. @throws RevocationStoreError */
  append(record: readonly string[]): Promise<void>
  close(): void
}

/** A connection of its own, opened by the first revocation: the reader's is blocked by `XREAD`. */
export function createWriter(connect: Connect, key: string, clock: Clock): Writer {
  let connection: Connection | undefined
  let usedAt = -Infinity
  let isClosed = false

  async function appendBy(used: Connection, record: readonly string[]): Promise<void> {
    try {
      const id = await openStream(key, used, TIMEOUT).append(record)
      if (id === undefined) throw new RevocationStoreError('no_stream')
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
        await appendBy(connection, record)
      } catch (error) {
        if (isClosed || isNew || !mayHelp(error)) throw error
        connection ??= openConnection(connect, clock)
        await appendBy(connection, record)
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

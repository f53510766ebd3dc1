import { type Connect, type Connection, openConnection } from '../store/connection.ts'
import { type RevocationStoreError, storeError } from '../store/errors.ts'
import { pacing } from '../store/pacing.ts'
import { openStream } from '../store/stream.ts'
import { follow, type Replica } from './replica.ts'

// Keeps a replica connected: one connection after the other, with pauses between them.

/** @param pauseAfter Told of each failure; answers how many seconds to pause before the next connection. @returns Ends it. */
export function startReading(
  connect: Connect,
  key: string,
  replica: Replica,
  pauseAfter: (failure: RevocationStoreError) => number,
): () => void {
  const { answer, page } = pacing(replica.maxStaleness)
  const ending = new AbortController()
  let connection: Connection | undefined
  let endPause: (() => void) | undefined

  async function read(): Promise<void> {
    while (!ending.signal.aborted) {
      connection = openConnection(connect, replica.clock)
      const stream = openStream(key, connection, answer, page, replica.name)
      const failure = await follow(stream, replica).catch(storeError)
      connection.close()
      if (!ending.signal.aborted) await pause(pauseAfter(failure))
    }
  }

  async function pause(seconds: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = replica.clock.after(seconds, resolve)
      endPause = () => {
        cancel()
        resolve()
      }
    })
  }

  void read()
  return () => {
    ending.abort()
    connection?.close()
    endPause?.()
  }
}

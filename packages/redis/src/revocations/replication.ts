import type { Connection } from '../store/connection.ts'
import { RevocationStoreError } from '../store/errors.ts'

// Waits until replicas of the store have what was appended by a connection.

/** Seconds. Redis answers then at the latest, and takes no other command of the connection before. */
const PATIENCE = 2
/** Seconds. */
const TIMEOUT = 5

/**
 * One question at a time for all that wait: each is about everything that its connection has appended before.
 *
 * @returns Waits. @throws RevocationStoreError
 */
export function createReplication(connection: Connection, replicas: number): () => Promise<void> {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined

  function begin(): Promise<void> {
    running = askFor(connection, replicas).finally(() => {
      running = undefined
    })
    return running
  }

  return async () => {
    if (running === undefined) {
      await begin()
      return
    }
    // The one that runs may have begun before.
    next ??= running
      .catch(() => undefined)
      .then(async () => {
        next = undefined
        await begin()
      })
    await next
  }
}

async function askFor(connection: Connection, replicas: number): Promise<void> {
  const words = ['WAIT', String(replicas), String(PATIENCE * 1000)]
  const reached = await connection.ask(words, TIMEOUT).catch((error: unknown) => {
    const { reason } = error as RevocationStoreError // the only error that a connection throws
    throw reason === 'refused' ? error : new RevocationStoreError('unreplicated')
  })
  if (typeof reached !== 'number') throw new RevocationStoreError('unsupported')
  if (reached < replicas) throw new RevocationStoreError('unreplicated')
}

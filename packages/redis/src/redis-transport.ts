import { createClient } from '@redis/client'

import type { Connect } from './connection.ts'

// Sends commands with `@redis/client`, which no other file imports.

/** What `createClient` of `@redis/client` or `redis` returns. Its options are used, its connection is not. */
export interface RedisClient {
  readonly options?: object | undefined
  duplicate(overrides: object): RedisConnection
}

export interface RedisConnection {
  connect(): Promise<unknown>
  sendCommand(command: readonly string[]): Promise<unknown>
  on(event: 'error' | 'connect', listener: (error: unknown) => void): unknown
  unref(): void
  destroy(): void
}

/** Where the store is: stated as a URL, or by a client. */
export type RedisSource =
  | { readonly url: string; readonly client?: undefined }
  | { readonly url?: undefined; readonly client: RedisClient }

/** Whatever of a user's client would change what is promised. The rest is how to reach the store, and who asks. */
const OPTIONS = {
  /** Replies are lists and texts. */
  RESP: 2,
  maintNotifications: 'disabled',
  disableOfflineQueue: true,
  /** Its timer would keep the process alive; the heartbeat does the same. */
  pingInterval: 0,
  /** No bound: a full queue would look like a lost connection. What waits is counted by `connection.ts`. */
  commandsQueueMaxLength: 0,
  /** No time limit: answers have deadlines of their own. */
  commandOptions: { timeout: 0 },
  /** Only for replicas of a cluster. */
  readonly: false,
} as const

const SOCKET_OPTIONS = {
  /** Milliseconds. Our own deadlines end a connection sooner; this frees the socket of one that was given up. */
  connectTimeout: 10_000,
  reconnectStrategy: false,
  /** A connection that waits for an entry is silent. */
  socketTimeout: 0,
  noDelay: true,
  /** The end of a connection is to be noticed at once. */
  allowHalfOpen: false,
} as const

/**
 * Each connection is a client of its own that never reconnects: the client's own reconnecting would queue commands, and hide
 * that a connection was lost.
 */
export function redisTransport(source: RedisSource): Connect {
  return () => {
    const client = newClient(source)
    let isDestroyed = false
    // Without a listener it would end the process.
    client.on('error', () => undefined)
    // Destroyed while it was connecting, the client connects nevertheless, and then waits for its first answer for ever.
    client.on('connect', () => {
      if (isDestroyed) client.destroy()
    })
    client.unref()
    const connecting = client.connect()
    // Whoever sends is told.
    connecting.catch(() => undefined)
    return {
      async send(command) {
        await connecting
        return await client.sendCommand(command)
      },
      destroy() {
        isDestroyed = true
        client.destroy()
      },
    }
  }
}

function newClient({ url, client }: RedisSource): RedisConnection {
  // A copy: the client writes the address into what it is given.
  if (client === undefined) return createClient({ url, ...OPTIONS, socket: { ...SOCKET_OPTIONS } })
  const { socket } = (client.options ?? {}) as { socket?: object }
  return client.duplicate({
    ...OPTIONS,
    // What works with RESP 3 alone, or changes replies.
    clientSideCache: undefined,
    emitInvalidate: false,
    // Aborting ends the user's connection, not ours.
    socket: { ...socket, ...SOCKET_OPTIONS, signal: undefined },
  })
}

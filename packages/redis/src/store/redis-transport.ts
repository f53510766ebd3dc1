import { backgroundClock } from '@portcullis/kit/time'

import type { Connect, Transport } from './connection.ts'
import type { Primary } from './sentinel-answers.ts'
import { type SentinelPace, sentinelTransport } from './sentinel-transport.ts'

// Sends commands with `@redis/client`, which no other file imports, and this one when it is used: loading it takes four times as long as
// the rest. Whoever gives a client of their own has loaded theirs.

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

interface Subscriber extends RedisConnection {
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>
}

/** Who knows the address of the primary. */
export interface RedisSentinels {
  /** The name that they have for it. */
  readonly primary: string
  /** `redis://` or `rediss://` of each of them, with a user name and a password if they need those. */
  readonly urls: readonly (string | URL)[]
}

/** Where the store is: stated as a URL, or by a client; with sentinels, host and port are theirs. */
export type RedisSource = (
  | { readonly url: string; readonly client?: undefined }
  | { readonly url?: undefined; readonly client: RedisClient }
) & { readonly sentinel?: RedisSentinels | undefined }

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

/** For whoever asks little and soon ends. */
const UNHURRIED: SentinelPace = {
  clock: backgroundClock,
  interval: 2.5,
  patience: 2,
  longestSilence: 10,
}

/** Each connection is a client of its own that never reconnects: that would queue commands, and hide that a connection was lost. */
export function redisTransport(source: RedisSource, pace: SentinelPace = UNHURRIED): Connect {
  const { sentinel } = source
  if (sentinel === undefined) return () => open(source)
  return sentinelTransport({
    ...pace,
    name: sentinel.primary,
    sentinels: sentinel.urls.map((url) => () => openLater(sentinelClient(String(url), source))),
    subscriptions: sentinel.urls.map(
      (url) => (onMessage, onEnd) =>
        listenTo(sentinelClient(String(url), source), onMessage, onEnd),
    ),
    open: (primary) => open(source, primary),
  })
}

interface OpenTransport extends Transport {
  readonly connected: Promise<unknown>
}

/** By a client that is still being loaded. @param onEnd Told once, when the server or the network has ended the connection. */
function openLater(client: Promise<RedisConnection>, onEnd?: () => void): OpenTransport {
  let isDestroyed = false
  let opened: OpenTransport | undefined
  const opening = client.then((made) => {
    if (isDestroyed) throw new Error('destroyed before the client was loaded')
    return (opened = openTransport(made, onEnd))
  })
  const connected = opening.then(async (transport) => await transport.connected)
  // Whoever sends is told.
  connected.catch(() => undefined)
  return {
    send: async (command) => await (await opening).send(command),
    connected,
    hasEnded: () => opened?.hasEnded?.() === true,
    destroy() {
      isDestroyed = true
      opened?.destroy()
    },
  }
}

/** @param onEnd As of {@link openLater}. */
function openTransport(client: RedisConnection, onEnd?: () => void): OpenTransport {
  let isDestroyed = false
  let hasEnded = false
  // Without a listener it would end the process. The client does not connect again, so the first one is the end.
  client.on('error', () => {
    if (!hasEnded && !isDestroyed) onEnd?.()
    hasEnded = true
  })
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
    connected: connecting,
    hasEnded: () => hasEnded,
    destroy() {
      isDestroyed = true
      client.destroy()
    },
  }
}

/** One that may not subscribe, or is away, tells nothing: then it is asked alone. @returns Ends it. */
function listenTo(
  client: Promise<Subscriber>,
  onMessage: (message: string) => void,
  onEnd: () => void,
): () => void {
  const { connected, destroy } = openLater(client, onEnd)
  const listening = connected.then(async () => {
    await (await client).subscribe('+switch-master', onMessage)
  })
  listening.catch(() => {
    destroy()
    onEnd()
  })
  return destroy
}

/** @param primary In place of the address that was stated. */
function open({ url, client }: RedisSource, primary?: Primary): OpenTransport {
  return client === undefined
    ? openLater(clientOf(url, primary))
    : openTransport(duplicateOf(client, primary))
}

async function clientOf(url: string, primary: Primary | undefined): Promise<RedisConnection> {
  const stated = await createConnection(url)
  // An IPv6 address can have a zone (`fe80::1%eth0`), and no URL can.
  return primary === undefined ? stated : duplicateOf(stated, primary)
}

/** `createClient` would make a class with a method for each command, and another one for each address: a tenth of a second. */
async function createConnection(
  url: string,
  socket: object = {},
): Promise<RedisClient & Subscriber> {
  const { RedisClient } = await import('@redis/client')
  // A copy: the client writes the address into what it is given.
  return new RedisClient({ url, ...OPTIONS, socket: { ...socket, ...SOCKET_OPTIONS } })
}

function duplicateOf(client: RedisClient, primary: Primary | undefined): RedisConnection {
  const { socket } = (client.options ?? {}) as { socket?: object }
  const { host, port } = primary ?? {}
  const elsewhere = primary === undefined ? {} : { host, port, path: undefined }
  return client.duplicate({
    ...OPTIONS,
    // It would be read again, and come before the address below.
    ...(primary === undefined ? {} : { url: undefined }),
    // What works with RESP 3 alone, or changes replies.
    clientSideCache: undefined,
    emitInvalidate: false,
    // Aborting ends the user's connection, not ours.
    socket: { ...socket, ...elsewhere, ...SOCKET_OPTIONS, signal: undefined },
  })
}

/** With the certificates of the given client, but neither its address nor its credentials. */
async function sentinelClient(url: string, { client }: RedisSource): Promise<Subscriber> {
  const { socket } = (client?.options ?? {}) as { socket?: Record<string, unknown> }
  const {
    host: _host,
    port: _port,
    path: _path,
    tls: _tls,
    signal: _signal,
    ...rest
  } = socket ?? {}
  return await createConnection(url, rest)
}

import { EventEmitter, once } from 'node:events'
import { createServer, type LookupFunction, type Socket } from 'node:net'

import { createClient } from '@redis/client'
import { expect, onTestFinished, test } from 'vitest'

import { redisTransport } from '../src/redis-transport.ts'

/** A server that answers nothing. */
async function listen() {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    onTestFinished(() => {
      socket.destroy()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
  })
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return { host: `127.0.0.1:${port}`, connected: once(server, 'connection') }
}

test('given up while it connects: the connection is closed as soon as it is there, also if nothing answers', async () => {
  const { host, connected } = await listen()
  const [hostname = '', port] = host.split(':')
  const asked = new EventEmitter()
  const lookup: LookupFunction = (_name, _options, callback) => asked.emit('lookup', callback)
  const client = createClient({ socket: { host: 'redis.test', port: Number(port), lookup } })
  const looking = once(asked, 'lookup')
  const transport = redisTransport({ client })()
  const [found] = (await looking) as Parameters<LookupFunction>[2][]
  transport.destroy()
  found?.(null, [{ address: hostname, family: 4 }])
  const [socket] = (await connected) as [Socket]
  socket.resume()
  await once(socket, 'close')
  expect(socket.destroyed).toBe(true)
})

test('of a client everything is kept but what would change a promise', () => {
  const seen: object[] = []
  const given = createClient({
    username: 'ann',
    password: 'secret',
    database: 3,
    name: 'api',
    commandsQueueMaxLength: 1,
    disableOfflineQueue: false,
    pingInterval: 5,
    readonly: true,
    commandOptions: { timeout: 1 },
    socket: {
      host: 'redis.test',
      socketTimeout: 5,
      connectTimeout: 5,
      reconnectStrategy: 5,
      noDelay: false,
      allowHalfOpen: true,
      signal: AbortSignal.abort(),
      family: 6,
    },
  })
  const client = {
    options: given.options,
    duplicate(overrides: object) {
      seen.push({ ...given.options, ...overrides })
      return given.duplicate(overrides)
    },
  }
  redisTransport({ client })().destroy()
  expect(seen).toEqual([
    expect.objectContaining({
      username: 'ann',
      password: 'secret',
      database: 3,
      name: 'api',
      RESP: 2,
      commandsQueueMaxLength: 0,
      disableOfflineQueue: true,
      pingInterval: 0,
      readonly: false,
      maintNotifications: 'disabled',
      clientSideCache: undefined,
      emitInvalidate: false,
      commandOptions: { timeout: 0 },
      socket: {
        host: 'redis.test',
        family: 6,
        connectTimeout: 10_000,
        reconnectStrategy: false,
        socketTimeout: 0,
        noDelay: true,
        allowHalfOpen: false,
        signal: undefined,
      },
    }),
  ])
})

test('of several stores each is connected to at its own address, with TLS where that is stated', async () => {
  const [plain, secure, given] = [await listen(), await listen(), await listen()]
  const client = createClient({ url: `redis://${given.host}` })
  const transports = [
    redisTransport({ url: `redis://${plain.host}` })(),
    redisTransport({ url: `rediss://${secure.host}` })(),
    redisTransport({ client })(),
  ]
  const connected = await Promise.all([plain.connected, secure.connected, given.connected])
  expect(connected).toHaveLength(3)
  for (const transport of transports) transport.destroy()
})

import { EventEmitter, once } from 'node:events'
import { createServer, type LookupFunction, type Socket } from 'node:net'

import { createClient } from '@redis/client'
import { describe, expect, onTestFinished, test } from 'vitest'

import { redisTransport, type RedisSource } from '../../src/store/redis-transport.ts'
import { respServer, sentinelOf } from './resp-server.ts'

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

test('a connection keeps no process alive, and ends when it is destroyed', () => {
  const calls: string[] = []
  const connection = {
    connect: async () => await new Promise(() => undefined),
    sendCommand: async () => await new Promise(() => undefined),
    on: (event: string) => void calls.push(`on ${event}`),
    unref: () => void calls.push('unref'),
    destroy: () => void calls.push('destroy'),
  }
  redisTransport({ client: { duplicate: () => connection } })().destroy()
  expect(calls).toEqual(['on error', 'on connect', 'unref', 'destroy'])
})

const urlOf = (port: number) => `redis://ann:secret@127.0.0.1:${port}/3`

async function scene() {
  // Whoever connects to what the options say would come here.
  const stated = await respServer()
  const primary = await respServer(([name]) => (name === 'PING' ? 'PONG' : 'OK'))
  const sentinel = await respServer(sentinelOf('127.0.0.1', primary.port))
  const urls = [`redis://bob:other@127.0.0.1:${sentinel.port}`]
  return { stated, primary, sentinel, options: { primary: 'main', urls } }
}
describe('with sentinels', () => {
  test.each<[string, (port: number) => RedisSource]>([
    ['a URL', (port) => ({ url: urlOf(port) })],
    ['a URL of another machine', () => ({ url: 'redis://ann:secret@stated.invalid/3' })],
    ['a client of a URL', (port) => ({ client: createClient({ url: urlOf(port) }) })],
    [
      'a client of a file',
      () => ({
        client: createClient({
          username: 'ann',
          password: 'secret',
          database: 3,
          socket: { path: '/nowhere/redis.sock', signal: AbortSignal.abort() },
        }),
      }),
    ],
    [
      'a client of an address',
      (port) => ({
        client: createClient({
          username: 'ann',
          password: 'secret',
          database: 3,
          socket: { host: '127.0.0.1', port },
        }),
      }),
    ],
  ])('of %s everything is used but the address', async (_, sourceOf) => {
    const { stated, primary, sentinel, options } = await scene()
    const transport = redisTransport({ ...sourceOf(stated.port), sentinel: options })()
    expect(await transport.send(['PING'])).toBe('PONG')
    transport.destroy()
    expect(primary.commands).toEqual(
      expect.arrayContaining([['AUTH', 'ann', 'secret'], ['SELECT', '3'], ['PING']]),
    )
    expect(stated.commands).toEqual([])
    // Sentinels have credentials of their own, and no database.
    expect(sentinel.commands).toEqual(
      expect.arrayContaining([
        ['AUTH', 'bob', 'other'],
        ['SENTINEL', 'MASTER', 'main'],
      ]),
    )
    const told = new Set(sentinel.commands.flat())
    expect(['ann', 'secret', 'SELECT'].filter((word) => told.has(word))).toEqual([])
  })

  test('their names are looked up as the client says, and the rest of its socket is used', async () => {
    const { primary, sentinel } = await scene()
    const looked: string[] = []
    const lookup: LookupFunction = (name, _options, callback) => {
      looked.push(name)
      callback(null, [{ address: '127.0.0.1', family: 4 }])
    }
    const client = createClient({ socket: { host: 'redis.test', lookup } })
    const urls = [`redis://sentinel.test:${sentinel.port}`]
    const transport = redisTransport({ client, sentinel: { primary: 'main', urls } })()
    expect(await transport.send(['PING'])).toBe('PONG')
    transport.destroy()
    // To be asked, and to be told.
    expect(looked).toEqual(['sentinel.test', 'sentinel.test'])
    expect(primary.commands).toContainEqual(['PING'])
  })

  test.each([
    ['an IPv6 address', '::1'],
    ['one with a zone, which no URL can have', 'fe80::1%lo'],
  ])('that name %s, nobody connects to the one that was stated', async (_, host) => {
    const stated = await respServer()
    const sentinel = await respServer(sentinelOf(host, stated.port))
    const urls = [`redis://127.0.0.1:${sentinel.port}`]
    const transport = redisTransport({
      url: `redis://127.0.0.1:${stated.port}`,
      sentinel: { primary: 'main', urls },
    })()
    // Nothing listens there.
    await expect(transport.send(['PING'])).rejects.toMatchObject({
      code: expect.stringMatching(/^E/) as string,
    })
    transport.destroy()
    expect(stated.commands).toEqual([])
  })
})

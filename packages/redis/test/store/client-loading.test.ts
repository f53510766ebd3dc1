import { EventEmitter } from 'node:events'

import { expect, test, vi } from 'vitest'

import { redisReplays, redisRevocations } from '../../src/index.ts'
import { redisTransport } from '../../src/store/redis-transport.ts'

/** What has happened to `@redis/client`. */
const seen = vi.hoisted(() => ({ loads: 0, connections: 0 }))

/** One that never answers. */
class SilentConnection extends EventEmitter {
  async connect() {
    seen.connections += 1
    return await new Promise(() => {})
  }
  async sendCommand() {
    return await new Promise(() => {})
  }
  async subscribe() {
    return await new Promise(() => {})
  }
  unref() {}
  destroy() {}
}

vi.mock('@redis/client', () => {
  seen.loads += 1
  return { RedisClient: SilentConnection }
})

// One test, because a module is loaded once.
test('the client is loaded when the first connection is opened, and by nobody who has given one', async () => {
  const client = { duplicate: () => new SilentConnection() }
  expect([redisReplays, redisRevocations].map((factory) => typeof factory)).toEqual([
    'function',
    'function',
  ])
  redisTransport({ client })().destroy()
  redisTransport({ url: 'redis://127.0.0.1:1' })
  await vi.dynamicImportSettled()
  expect(seen).toEqual({ loads: 0, connections: 1 })

  // Given up before it is there: nothing connects.
  const transport = redisTransport({ url: 'redis://127.0.0.1:1' })()
  transport.destroy()
  await expect(transport.send(['PING'])).rejects.toThrow('destroyed')
  expect(transport.hasEnded?.()).toBe(false)
  expect(seen).toEqual({ loads: 1, connections: 1 })

  redisTransport({ url: 'redis://127.0.0.1:1' })()
  await vi.waitFor(() => {
    expect(seen).toEqual({ loads: 1, connections: 2 })
  })
})

import { subscribe, unsubscribe } from 'node:diagnostics_channel'

import type { DpopProof } from '@portcullis/core'
import { redisReplays, type RedisReplaysOptions, type ReplaysMessage } from '@portcullis/redis'
import { createClient } from '@redis/client'
import { expect, onTestFinished, test } from 'vitest'

import { describeWithRedis } from './describe-with-redis.ts'
import { type RedisServer, startRedis } from './redis-server.ts'
import { until } from './waiting.ts'

const now = () => Date.now() / 1000

function proof(jti: string, jkt = 'key', left = 65): DpopProof {
  return { jkt, jti, expires: now() + left }
}

/** One process: each has a connection of its own. */
function member(server: RedisServer, options: RedisReplaysOptions = {}) {
  return redisReplays({ url: server.url, timeout: 10, ...options })
}

describeWithRedis('proofs of a fleet', () => {
  test('are used once, whatever process is asked, and counted by key and in all', async () => {
    await using server = await startRedis()
    await using one = member(server)
    await using other = member(server)
    await Promise.all([one.ready(), other.ready()])
    const answers = await Promise.all(
      [one, other, one, other].map(async (each) => await each.remember(proof('same'), now())),
    )
    expect(answers.toSorted()).toEqual(['new', 'replayed', 'replayed', 'replayed'])
    expect(await other.remember(proof('same', 'another key'), now())).toBe('new')
    expect(await one.remember(proof('another'), now())).toBe('new')

    await server.command('SCRIPT', 'FLUSH')
    expect(await one.remember(proof('same'), now())).toBe('replayed')
    // The ends of the connections have come when another one answers.
    await server.command('CLIENT', 'KILL', 'TYPE', 'normal')
    await server.command('PING')
    for (const each of [one, other, one, other]) {
      expect(await each.remember(proof('same'), now())).toBe('replayed')
    }

    await using small = member(server, { maxPerKey: 2 })
    expect(await small.remember(proof('third'), now())).toBe('full')
    expect(await small.remember(proof('same'), now())).toBe('replayed')
    expect(await small.remember(proof('third', 'a third key'), now())).toBe('new')
    await using smaller = member(server, { max: 4 })
    expect(await smaller.remember(proof('fifth', 'a fifth key'), now())).toBe('full')
    expect(await smaller.remember(proof('another'), now())).toBe('replayed')
  })

  test('are looked up at a server that ends idle connections: none is refused for that', async () => {
    await using server = await startRedis({ settings: ['--timeout', '1'] })
    await using replays = member(server)
    for (let times = 0; times < 3; times += 1) {
      expect(await replays.remember(proof(`after ${times}`), now())).toBe('new')
      await until('ended', async () => {
        const clients = String(await server.command('CLIENT', 'LIST', 'TYPE', 'normal'))
        return clients.trim().split('\n').length === 1
      })
      await server.command('PING')
    }
  })

  test('are all looked up in a burst, whatever bound the queue of the given client has', async () => {
    await using server = await startRedis()
    const client = createClient({ url: server.url, commandsQueueMaxLength: 5 })
    await using replays = redisReplays({ client, timeout: 10 })
    await replays.ready()
    const burst = Array.from({ length: 200 }, (_, at) => proof(`burst ${at}`))
    const ask = async () =>
      new Set(await Promise.all(burst.map(async (each) => await replays.remember(each, now()))))
    expect(await ask()).toEqual(new Set(['new']))
    expect(await ask()).toEqual(new Set(['replayed']))
  })

  test('leave nothing of theirs in the names of keys, and every key lapses', async () => {
    await using server = await startRedis()
    await using replays = member(server, { prefix: 'p' })
    await replays.remember(proof('a\r\njti', 'a jkt'), now())
    await replays.remember(proof('later', 'a jkt', 300), now())
    const keys = (await server.command('KEYS', '*')) as string[]
    expect(keys.every((key) => /^\{p\}:(?:key:[\w-]{22}|count:\d+)$/.test(key))).toBe(true)
    const lives = await Promise.all(keys.map(async (key) => await server.command('TTL', key)))
    // To the end of its window, a minute for clocks that differ, and half a minute of a counter.
    expect(lives.every((seconds) => Number(seconds) > 60 && Number(seconds) <= 391)).toBe(true)
    const ofKey = keys.find((key) => key.includes(':key:')) ?? ''
    expect(Number(await server.command('TTL', ofKey))).toBeGreaterThan(350)
  })

  test('a flood of distinct proofs: bounded, and the first ones are still known', async () => {
    await using server = await startRedis()
    await using replays = member(server, { maxPerKey: 500 })
    const flood = Array.from({ length: 2000 }, (_, index) => `proof ${index}`)
    const ask = async (jti: string) => await replays.remember(proof(jti), now())
    const answers = await Promise.all(flood.map(ask))
    expect(answers.filter((answer) => answer === 'new')).toHaveLength(500)
    expect(answers.filter((answer) => answer === 'full')).toHaveLength(1500)
    expect(await ask('proof 0')).toBe('replayed')
    const stored = (await server.command('KEYS', '*key:*')) as string[]
    expect(await server.command('ZCARD', stored[0] ?? '')).toBe(500)
    expect(await replays.remember(proof('of somebody else', 'other'), now())).toBe('new')
  })

  test('a store that is gone: as stated by the option; when it is back, it is asked again', async () => {
    await using server = await startRedis({ isPersistent: true })
    await using strict = member(server)
    await using lenient = member(server, { whenUnreachable: 'accept' })
    const told = failuresOf(strict)
    const used = proof('used')
    expect(await strict.remember(used, now())).toBe('new')
    await server.kill()
    expect(await strict.remember(proof('b'), now())).toBe('unavailable')
    expect(await strict.remember(proof('c'), now())).toBe('unavailable')
    expect(await lenient.remember(used, now())).toBe('new')
    expect(told).toContain('unreachable')
    await expect(strict.ready()).rejects.toMatchObject({ name: 'ReplayStoreError' })
    await server.restart()
    await until('the store answers', async () => {
      return (await strict.remember(used, now())) === 'replayed'
    })
  })

  test('a store that would forget, or that refuses: says so at start-up', async () => {
    await using server = await startRedis({ maxMemory: 50_000_000 })
    await using replays = member(server)
    await replays.ready()
    await server.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
    await using later = member(server)
    await expect(later.ready()).rejects.toThrow('set its maxmemory-policy to noeviction')
    expect(await later.remember(proof('a'), now())).toBe('unavailable')
    await server.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
    await server.command('CONFIG', 'SET', 'maxmemory', '1')
    expect(await replays.remember(proof('b'), now())).toBe('full')
    await server.command('CONFIG', 'SET', 'maxmemory', '0')
    expect(await replays.remember(proof('b'), now())).toBe('new')

    await using typed = member(server, { prefix: 'typed' })
    await typed.remember(proof('a'), now())
    const [key = ''] = (await server.command('KEYS', '{typed}:key:*')) as string[]
    await server.command('SET', key, 'text')
    expect(await typed.remember(proof('b'), now())).toBe('unavailable')

    // What the README says of the user of a process.
    const rights = '+eval +evalsha +info +time +zscore +zcount +zremrangebyscore +mget +zadd +pttl'
    const words = `on >secret ${rights} +pexpire +incr +pexpireat ~{portcullis:replays}:*`
    await server.command('ACL', 'SETUSER', 'api', ...words.split(' '))
    const url = new URL(server.url)
    url.username = 'api'
    url.password = 'secret'
    await using allowed = redisReplays({ url, timeout: 10 })
    await allowed.ready()
    expect(await allowed.remember(proof('c'), now())).toBe('new')
    url.password = 'wrong'
    await using stranger = redisReplays({ url, timeout: 10 })
    await expect(stranger.ready()).rejects.toThrow('WRONGPASS')
  })
})

/** The reasons that the channel names. */
function failuresOf(source: object): readonly string[] {
  const reasons: string[] = []
  const listener = (message: unknown) => {
    const { reason, source: whose } = message as ReplaysMessage // as the channel is documented
    if (whose === source) reasons.push(reason)
  }
  subscribe('portcullis:replays', listener)
  onTestFinished(() => {
    unsubscribe('portcullis:replays', listener)
  })
  return reasons
}

import { EventEmitter, once } from 'node:events'

import type { DpopProof } from '@portcullis/core'
import { manualClock } from '@portcullis/testing'
import { expect, test } from 'vitest'

import { checkRedisReplaysOptions, type RedisReplaysOptions } from '../../src/replays/options.ts'
import { redisReplays, sharedReplays } from '../../src/replays/redis-replays.ts'
import { type Connect, MOST_WAITING } from '../../src/store/connection.ts'

const URL_OF_STORE = 'redis://redis.test'
const HEALTHY = 'maxmemory:0\r\nmaxmemory_policy:noeviction\r\n'
const PROOF: DpopProof = { jkt: 'key', jti: 'id', expires: 1065 }

/** A store whose replies are stated: `undefined` for one that never comes. */
function scene(options: RedisReplaysOptions = {}) {
  const clock = manualClock(1000)
  const commands: (readonly string[])[] = []
  const replies: Record<string, unknown> = { INFO: HEALTHY, EVALSHA: 'new', EVAL: 'new' }
  let connections = 0
  /** How many of the first connections the server has ended. */
  const ended = { count: 0 }
  const connect: Connect = () => {
    connections += 1
    const number = connections
    return {
      hasEnded: () => number <= ended.count,
      async send(command) {
        commands.push(command)
        const reply = replies[command[0] ?? '']
        if (reply instanceof Error) throw reply
        return reply === undefined ? await new Promise(() => undefined) : reply
      },
      destroy: () => undefined,
    }
  }
  const settings = checkRedisReplaysOptions({ url: URL_OF_STORE, clock, ...options })
  return {
    clock,
    commands,
    replies,
    connections: () => connections,
    ended,
    names: () => commands.map(([name]) => name),
    replays: sharedReplays(settings, connect, () => 1),
  }
}

test.each<[object, string]>([
  [
    { urls: 1 },
    'unknown option "urls", known are url, client, sentinel, prefix, timeout, whenUnreachable, max, maxPerKey, clock',
  ],
  [{}, 'redisReplays: either url or client must be stated: is an environment variable unset?'],
  [{ url: 'http://a' }, 'redisReplays: url must begin with redis: or rediss:'],
  [{ url: URL_OF_STORE, prefix: '' }, 'redisReplays: prefix must be a string that is not empty'],
  [
    { url: URL_OF_STORE, timeout: 0 },
    'redisReplays: timeout must be a number of seconds from 0.01 to 10',
  ],
  [
    { url: URL_OF_STORE, whenUnreachable: 'ignore' },
    'redisReplays: whenUnreachable must be one of refuse, accept',
  ],
  [
    { url: URL_OF_STORE, max: 0 },
    'redisReplays: max must be a number of proofs from 1 to 10000000',
  ],
  [{ url: URL_OF_STORE, maxPerKey: 1.5 }, 'redisReplays: maxPerKey must be a number of proofs'],
])('%j is a TypeError at start-up', (options, complaint) => {
  expect(() => redisReplays(options)).toThrow(TypeError)
  expect(() => redisReplays(options)).toThrow(complaint)
})

test('it connects when it is first asked, and looks at the store once a minute', async () => {
  const { replays, clock, names, connections } = scene()
  expect(connections()).toBe(0)
  await replays.remember(PROOF, 1000)
  await replays.remember(PROOF, 1000)
  expect(names()).toEqual(['INFO', 'EVALSHA', 'EVALSHA'])
  await clock.advance(29)
  await replays.remember(PROOF, 1029)
  await clock.advance(29)
  await replays.remember(PROOF, 1058)
  await clock.advance(3)
  await replays.remember(PROOF, 1061)
  expect(names().slice(-3)).toEqual(['EVALSHA', 'INFO', 'EVALSHA'])
  expect(connections()).toBe(1)
  await clock.advance(31)
  await replays.remember(PROOF, 1092)
  expect(connections()).toBe(2)
})

test('the script is sent as a whole to a store that does not have it', async () => {
  const { replays, replies, names } = scene()
  replies['EVALSHA'] = new Error('NOSCRIPT No matching script.')
  expect(await replays.remember(PROOF, 1000)).toBe('new')
  expect(names()).toEqual(['INFO', 'EVALSHA', 'EVAL'])
})

test('a proof is kept for its window and a minute, by the clock of the store', async () => {
  const { replays, commands } = scene({ prefix: 'p', max: 7, maxPerKey: 5 })
  await replays.remember(PROOF, 1000)
  await replays.remember({ ...PROOF, expires: 990 }, 1000)
  const [, first, second] = commands
  expect(first?.slice(2)).toEqual([
    '1',
    expect.stringMatching(/^\{p\}:key:[\w-]{22}$/),
    expect.stringMatching(/^[\w-]{22}$/),
    '125000',
    '7',
    '5',
    '{p}:count:',
  ])
  expect(second?.[5]).toBe('60000')
})

test.each([Infinity, Number.NaN, 1e9])(
  'a proof that expires at %d is not asked about',
  async (expires) => {
    const { replays, connections } = scene({ whenUnreachable: 'accept' })
    expect(await replays.remember({ ...PROOF, expires }, 1000)).toBe('unavailable')
    expect(connections()).toBe(0)
  },
)

test.each(['new', 'replayed', 'full'])('%s is what the store answers', async (answer) => {
  const { replays, replies } = scene()
  replies['EVALSHA'] = answer
  expect(await replays.remember(PROOF, 1000)).toBe(answer)
})

test.each([
  ['another answer', 'OK'],
  ['a number', 1],
  ['null', null],
  ['an error of the store', new Error('READONLY You cannot write')],
  ['an error of the script', new Error('ERR user_script:1: oops')],
  ['a connection that breaks', new Error('Socket closed unexpectedly')],
])('%s: unavailable, or accepted where that is stated', async (_title, reply) => {
  for (const [whenUnreachable, expected] of [
    ['refuse', 'unavailable'],
    ['accept', 'new'],
  ] as const) {
    const { replays, replies } = scene({ whenUnreachable })
    replies['EVALSHA'] = reply
    expect(await replays.remember(PROOF, 1000)).toBe(expected)
  }
})

test('no memory left is full, which no option waives', async () => {
  const { replays, replies, connections } = scene({ whenUnreachable: 'accept' })
  replies['EVALSHA'] = new Error("OOM command not allowed when used memory > 'maxmemory'.")
  expect(await replays.remember(PROOF, 1000)).toBe('full')
  replies['EVALSHA'] = 'new'
  expect(await replays.remember(PROOF, 1000)).toBe('new')
  expect(connections()).toBe(1)
})

test('an error of the store says why, in its message and apart from it', async () => {
  const { replays, replies } = scene()
  replies['INFO'] = new Error('NOPERM this user has no permissions to run the command')
  await expect(replays.ready()).rejects.toMatchObject({
    reason: 'refused',
    message: 'the store of used proofs refused: NOPERM, the user lacks a permission',
    detail: 'NOPERM, the user lacks a permission',
  })
})

test.each([
  ['evicts', 'maxmemory:100\r\nmaxmemory_policy:volatile-lru\r\n', 'evicting'],
  ['says nothing of its memory', '', 'unsupported'],
  ['answers with something else', 12, 'unsupported'],
])('a store that %s is not used', async (_title, reply, reason) => {
  const { replays, replies, names } = scene()
  replies['INFO'] = reply
  await expect(replays.ready()).rejects.toMatchObject({ name: 'ReplayStoreError', reason })
  expect(await replays.remember(PROOF, 1000)).toBe('unavailable')
  expect(names()).not.toContain('EVALSHA')
})

test('a policy that evicts is no harm without a limit of memory', async () => {
  const { replays, replies } = scene()
  replies['INFO'] = 'maxmemory:0\r\nmaxmemory_policy:allkeys-lru\r\n'
  await replays.ready()
  expect(await replays.remember(PROOF, 1000)).toBe('new')
})

test('an answer that does not come: unavailable after the timeout, for all that wait', async () => {
  const { replays, replies, clock, connections } = scene({ timeout: 2 })
  await replays.ready()
  replies['EVALSHA'] = undefined
  const answers = Promise.all([replays.remember(PROOF, 1000), replays.remember(PROOF, 1000)])
  await clock.advance(2)
  expect(await answers).toEqual(['unavailable', 'unavailable'])
  expect(connections()).toBe(1)
})

test('after a failure nobody connects until a pause is over, which doubles', async () => {
  const { replays, replies, clock, connections, names } = scene()
  replies['INFO'] = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
  for (let times = 0; times < 5; times += 1) await replays.remember(PROOF, 1000)
  expect(connections()).toBe(1)
  await clock.advance(0.11)
  for (let times = 0; times < 5; times += 1) await replays.remember(PROOF, 1000)
  expect(connections()).toBe(2)
  await clock.advance(0.11)
  await replays.remember(PROOF, 1000)
  expect(connections()).toBe(2)
  await clock.advance(0.11)
  replies['INFO'] = HEALTHY
  expect(await replays.remember(PROOF, 1000)).toBe('new')
  expect(names()).toEqual(['INFO', 'INFO', 'INFO', 'EVALSHA'])
})

test('a proof is never sent twice: what was not answered may have been remembered', async () => {
  const { replays, replies, names } = scene()
  replies['EVALSHA'] = new Error('Socket closed unexpectedly')
  expect(await replays.remember(PROOF, 1000)).toBe('unavailable')
  expect(names()).toEqual(['INFO', 'EVALSHA'])
})

test('a connection that the server has ended is replaced before a proof is sent: without a failure, and without a pause', async () => {
  const { replays, ended, names, connections } = scene()
  expect(await replays.remember(PROOF, 1000)).toBe('new')
  ended.count = 1
  const answers = await Promise.all([replays.remember(PROOF, 1000), replays.remember(PROOF, 1000)])
  expect([answers, connections()]).toEqual([['new', 'new'], 2])
  expect(names()).toEqual(['INFO', 'EVALSHA', 'INFO', 'EVALSHA', 'EVALSHA'])
})

test('a connection that breaks while it is looked at again: the proof was not sent, so it is sent by another', async () => {
  const { replays, replies, clock, names, connections } = scene()
  await replays.remember(PROOF, 1000)
  for (const at of [1029, 1058]) {
    await clock.advance(29)
    await replays.remember(PROOF, at)
  }
  await clock.advance(3)
  const broken = new Error('Socket closed unexpectedly')
  let looks = 0
  Object.defineProperty(replies, 'INFO', {
    get: () => {
      looks += 1
      return looks === 1 ? broken : HEALTHY
    },
  })
  const answers = await Promise.all([replays.remember(PROOF, 1061), replays.remember(PROOF, 1061)])
  expect([answers, connections()]).toEqual([['new', 'new'], 2])
  expect(names().slice(-4)).toEqual(['INFO', 'INFO', 'EVALSHA', 'EVALSHA'])
})

test('a new connection that breaks is not tried again: there is a pause', async () => {
  const { replays, replies, connections } = scene()
  replies['INFO'] = new Error('Socket closed unexpectedly')
  expect(await replays.remember(PROOF, 1000)).toBe('unavailable')
  expect(await replays.remember(PROOF, 1000)).toBe('unavailable')
  expect(connections()).toBe(1)
})

test('once it is closed, nothing can be looked up, whatever the option says', async () => {
  const { replays, connections } = scene({ whenUnreachable: 'accept' })
  await replays.close()
  expect(await replays.remember(PROOF, 1000)).toBe('unavailable')
  await expect(replays.ready()).rejects.toMatchObject({ reason: 'closed' })
  expect(connections()).toBe(0)
})

test.each(['refuse', 'accept'] as const)(
  'too many proofs wait for an answer, and %s: the next one is refused, and those before it are not lost',
  async (whenUnreachable) => {
    // Its timers cost nothing: there are ten thousand.
    const clock = { now: () => 1000, monotonic: () => 1000, after: () => () => undefined }
    const { replays, replies, connections } = scene({ whenUnreachable, clock })
    const release = new EventEmitter()
    replies['EVALSHA'] = once(release, 'answer').then(() => 'new')
    const asked = Array.from(
      { length: MOST_WAITING - 1 },
      async (_, at) => await replays.remember({ ...PROOF, jti: `p${at}` }, 1000),
    )
    expect(await replays.remember(PROOF, 1000)).toBe('full')
    release.emit('answer')
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['new']))
    expect(await replays.remember(PROOF, 1000)).toBe('new')
    expect(connections()).toBe(1)
  },
)

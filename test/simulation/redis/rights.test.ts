import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { redisReplays } from '@portcullis/redis'
import { expect, test } from 'vitest'

import { describeWithRedis } from './describe-with-redis.ts'
import { operate } from './operate.ts'
import { type RedisServer, startRedis } from './redis-server.ts'
import { append, createStream, issue, join } from './scene.ts'
import { until } from './waiting.ts'

// The rights that the documents of packages/redis name: they suffice, and none of them can be left out.

const read = (name: string) =>
  readFileSync(fileURLToPath(new URL(`../../../packages/redis/${name}`, import.meta.url)), 'utf8')

/** The commands and keys in the piece of code that has these words. */
function rightsIn(text: string, pattern: RegExp): readonly string[] {
  const [, words = ''] = pattern.exec(text) ?? []
  return words.split(' ')
}

const guide = read('OPERATING.md')
const READING = rightsIn(guide, /user of a process needs `([^`]*)`/)
const REVOKING = rightsIn(guide, /and `([^`]*)` to revoke/)
const COMPACTING = rightsIn(guide, /The program needs `([^`]*)` as well/)
const RESTORING = rightsIn(guide, /and `([^`]*)` for `restore`/)
const PROOFS = rightsIn(read('REPLAYS.md'), /user of a\s+process needs `([^`]*)`/)

/** A user with these rights, and the URL as that user. */
async function userWith(server: RedisServer, rights: readonly string[]): Promise<string> {
  await server.command('ACL', 'SETUSER', 'api', 'reset', 'on', '>secret', ...rights)
  return server.url.replace('//', '//api:secret@')
}

const without = (rights: readonly string[]) =>
  rights.map((right) => [right, rights.filter((each) => each !== right)] as const)

describeWithRedis('the rights of a user', () => {
  test('the documents name some', () => {
    const named = [READING, REVOKING, COMPACTING, RESTORING, PROOFS]
    expect(named.map(({ length }) => length)).toEqual([6, 1, 2, 2, 14])
  })

  test('to read suffice to follow the stream, and not to revoke', async () => {
    await using server = await startRedis()
    await createStream(server)
    await using member = join(await userWith(server, READING))
    const [revoked, valid] = [await issue(), await issue()]
    await member.comesTo('accepted', valid)
    await append(server, revoked)
    await member.comesTo('revoked', revoked)
    await expect(member.revocations.revoke(valid.claims)).rejects.toThrow('NOPERM')
    expect(await member.verdict(valid)).toBe('accepted')
  })

  test('to read are all needed: without one of them nothing is accepted, or entries come late, and it is said why', async () => {
    await using server = await startRedis()
    await createStream(server)
    for (const [right, rights] of without(READING)) {
      await using member = join(await userWith(server, [...rights, ...REVOKING]))
      const failure = () => member.revocations.status().lastFailure?.detail ?? ''
      await until(`said without ${right}`, () => failure().includes('a permission'))
      // It waits for entries with that alone, so it is ready. They come with the next look at the stream.
      if (right === '+xread') continue
      expect(await member.verdict(await issue())).toBe('stale')
    }
  })

  test('of the program: it compacts with them, and with one less it says what is missing and deletes nothing', async () => {
    await using server = await startRedis()
    await createStream(server)
    await append(server, await issue({ exp: Math.floor(Date.now() / 1000) - 7200 }))
    const all = [...READING, ...COMPACTING]
    for (const [right, rights] of without(COMPACTING)) {
      const url = await userWith(server, [...READING, ...rights])
      const outcome = await operate(url, 'compact')
      expect([right, outcome]).toEqual([
        right,
        expect.objectContaining({ exitCode: 1, printed: '' }),
      ])
      expect(outcome.said).toContain('NOPERM, the user lacks a permission')
    }
    const outcome = await operate(await userWith(server, all), 'compact')
    expect(JSON.parse(outcome.printed)).toEqual({ read: 2, deleted: 1 })
  })

  test('of the program: it ends a restoration with them, and with one less it says what is missing and ends nothing', async () => {
    await using server = await startRedis()
    await operate(server.url, 'create', '--replaces', 'lost')
    await using member = join(server.url)
    await until('read', () => member.revocations.status().state === 'restoring')
    await until('named', async () => {
      const { printed } = await operate(server.url, 'restore')
      return (JSON.parse(printed) as { joined: number }).joined === 1
    })
    for (const [right, rights] of without(RESTORING)) {
      const url = await userWith(server, [...READING, ...rights])
      const outcome = await operate(url, 'restore', '--finish', '--processes', '1')
      expect([right, outcome.exitCode, outcome.printed]).toEqual([right, 1, ''])
      expect(outcome.said).toContain('NOPERM, the user lacks a permission')
    }
    const url = await userWith(server, [...READING, ...RESTORING])
    const outcome = await operate(url, 'restore', '--finish', '--processes', '1')
    expect(JSON.parse(outcome.printed)).toMatchObject({ ended: true })
  })

  test('for used proofs suffice, and are all needed', async () => {
    await using server = await startRedis()
    const now = Date.now() / 1000
    const answerWith = async (rights: readonly string[], jti: string) => {
      await server.command('SCRIPT', 'FLUSH')
      await using replays = redisReplays({ url: await userWith(server, rights), timeout: 10 })
      return await replays.remember({ jkt: 'key', jti, expires: now + 60 }, now)
    }
    expect(await answerWith(PROOFS, 'all')).toBe('new')
    expect(await answerWith(PROOFS, 'all')).toBe('replayed')
    for (const [right, rights] of without(PROOFS)) {
      expect([right, await answerWith(rights, right)]).toEqual([right, 'unavailable'])
    }
  })
})

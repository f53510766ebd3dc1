import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { redisReplays } from '@portcullis/redis'
import { createClient } from '@redis/client'
import { expect, test, vi } from 'vitest'

import { createCertificate } from '../../certificate.ts'
import { describeWithSentinel } from './describe-with-redis.ts'
import { operate } from './operate.ts'
import { type RedisServer, startRedis } from './redis-server.ts'
import { append, createStream, issue, type Issued, join, type Member, STREAM } from './scene.ts'
import { type SentinelOptions, type Sentinels, startSentinels, WATCHER } from './sentinels.ts'
import { until } from './waiting.ts'

// A primary, a replica, and three sentinels that promote it.

// Servers start, sentinels take up to half a minute until they have told each of them what it is, and a move is waited for to its end.
// Meanwhile the processor is idle.
vi.setConfig({ testTimeout: 300_000, maxConcurrency: 4 })

const operating = readFileSync(
  fileURLToPath(new URL('../../../packages/redis/OPERATING.md', import.meta.url)),
  'utf8',
)

/** Seconds. In an eighth of it a sentinel answers, and the store in another one, also on a busy machine. */
const STALENESS = 16
/** The same, where a test waits for it to go by. */
const SHORT_STALENESS = 4

interface Watched extends AsyncDisposable {
  readonly primary: RedisServer
  readonly replica: RedisServer
  readonly sentinels: Sentinels
  /** One process, which has nothing but the addresses of the sentinels. */
  readonly reader: Member
  follow(): Member
}

/** An address at which nobody listens: all that is used of it is what stands beside host and port. */
const NOWHERE = 'redis://127.0.0.1:1'

async function createWatched({
  maxStaleness = STALENESS,
  ...options
}: SentinelOptions & { readonly maxStaleness?: number } = {}): Promise<Watched> {
  const owned: AsyncDisposable[] = []
  const own = <Owned extends AsyncDisposable>(each: Owned): Owned => {
    owned.unshift(each)
    return each
  }
  const primary = own(await startRedis({ isPersistent: true }))
  await createStream(primary)
  const replica = own(await startRedis({ isPersistent: true, replicaOf: primary.port }))
  // Otherwise sentinels hear of it only when they ask the primary again.
  await until('copying', async () => /state=online/.test(String(await primary.command('INFO'))))
  const { password } = options
  if (password !== undefined) {
    const everything = ['on', `>${password}`, '~*', '&*', '+@all']
    for (const each of [primary, replica]) {
      await each.command('ACL', 'SETUSER', WATCHER, ...everything)
    }
  }
  const sentinels = own(await startSentinels(primary, 1, options))
  const follow = () => join(NOWHERE, { sentinel: sentinels.option, maxStaleness })
  const reader = own(follow())
  await until('current', () => reader.revocations.status().state === 'current')
  return {
    primary,
    replica,
    sentinels,
    reader,
    follow,
    async [Symbol.asyncDispose]() {
      for (const each of owned) await each[Symbol.asyncDispose]()
    },
  }
}

/** Processes that revoke one token after another while something happens, and run on until the test ends. */
interface Revoking extends AsyncDisposable {
  readonly fleet: readonly Member[]
  readonly acknowledged: readonly Issued[]
}

async function revokingWhile(
  watched: Watched,
  work: (more: (count: number) => Promise<void>) => Promise<void>,
): Promise<Revoking> {
  const acknowledged: Issued[] = []
  const fleet = [watched.follow(), watched.follow(), watched.follow()]
  const dispose = async () => {
    for (const each of fleet) await each[Symbol.asyncDispose]()
  }
  const ending = new AbortController()
  const revoke = async ({ revocations }: Member) => {
    while (!ending.signal.aborted) {
      const token = await issue()
      await revocations.revoke(token.claims).then(
        () => acknowledged.push(token),
        () => undefined,
      )
      // Otherwise they leave nobody else any time.
      await pause(10)
    }
  }
  try {
    for (const each of fleet) {
      await until('current', () => each.revocations.status().state === 'current')
    }
    const writing = fleet.map(revoke)
    await work(async (count) => {
      const { length } = acknowledged
      await until('more', () => acknowledged.length >= length + count)
    })
    ending.abort()
    await Promise.all(writing)
    return { fleet, acknowledged, [Symbol.asyncDispose]: dispose }
  } catch (error) {
    ending.abort()
    await dispose()
    throw error
  }
}

const copied = async (server: RedisServer, entries: number) =>
  await until('copied', async () => {
    const length = await server.command('XLEN', STREAM).catch(() => 0)
    return length === entries
  })

/** A server that becomes a replica ends all connections. */
async function roleOf(server: RedisServer): Promise<unknown> {
  const reply = await server.command('ROLE').catch(() => [])
  return (reply as readonly unknown[])[0]
}

describeWithSentinel('a fail-over by sentinels', () => {
  test.concurrent('the primary is killed: processes find the promoted replica, and revoke there; the old primary comes back as a replica', async () => {
    await using watched = await createWatched()
    const { primary, replica, sentinels, reader } = watched
    const [revoked, valid, fresh, last] = [
      await issue(),
      await issue(),
      await issue(),
      await issue(),
    ]
    await reader.revocations.revoke(revoked.claims)
    await copied(replica, 2)

    await primary.kill()
    await sentinels.name(replica)
    expect(await reader.verdict(revoked)).toBe('revoked')
    await reader.comesTo('accepted', valid)
    await reader.revocations.revoke(fresh.claims)
    expect(await replica.command('XLEN', STREAM)).toBe(3)

    await primary.restart()
    await until('a replica', async () => (await roleOf(primary)) === 'slave')
    await copied(primary, 3)
    await using newcomer = watched.follow()
    await newcomer.comesTo('revoked', fresh)
    await newcomer.revocations.revoke(last.claims)
    await reader.comesTo('revoked', last)
    expect(await reader.verdict(revoked)).toBe('revoked')
    await reader.comesTo('accepted', valid)
  })

  test.concurrent('the promoted replica lacks the last second: what a process has read it refuses for ever, and writes back: who starts later refuses it as well', async () => {
    await using watched = await createWatched()
    const { primary, replica, sentinels, reader } = watched
    const [kept, lost, valid] = [await issue(), await issue(), await issue()]
    await append(primary, kept)
    await copied(replica, 2)
    replica.pause()
    // What is sent to it from now on would be read when it goes on.
    await primary.command('CLIENT', 'KILL', 'TYPE', 'replica')
    await append(primary, lost)
    await reader.comesTo('revoked', lost)
    await primary.kill()
    replica.resume()

    await sentinels.name(replica)
    await reader.comesTo('accepted', valid)
    expect(await reader.verdict(lost)).toBe('revoked')
    expect(await reader.verdict(kept)).toBe('revoked')
    await using newcomer = watched.follow()
    await newcomer.comesTo('revoked', kept)
    await newcomer.comesTo('revoked', lost)
    await newcomer.comesTo('accepted', valid)
  })

  test.concurrent('the primary is cut off from its sentinels and goes on answering: processes leave it', async () => {
    await using watched = await createWatched({ password: 'secret' })
    const { primary, replica, sentinels, reader } = watched
    const valid = await issue()
    await reader.comesTo('accepted', valid)
    // From now on it refuses them, so for them it is gone.
    await primary.command('ACL', 'SETUSER', 'default', '-ping', '-info', '-publish', '-subscribe')
    await primary.command('ACL', 'SETUSER', WATCHER, 'off')
    await primary.command('CLIENT', 'KILL', 'USER', WATCHER)
    await sentinels.name(replica)
    expect(await roleOf(primary)).toBe('master')
    const fresh = await issue()
    await append(replica, fresh)
    await reader.comesTo('revoked', fresh)
    await reader.comesTo('accepted', valid)
    const next = await issue()
    await reader.revocations.revoke(next.claims)
    expect(await replica.command('XLEN', STREAM)).toBe(3)
  })

  test.concurrent('an operator moves the primary, for an upgrade: no token is refused for it but in the moment of the move', async () => {
    await using watched = await createWatched()
    const { primary, replica, sentinels, reader } = watched
    const [revoked, valid] = [await issue(), await issue()]
    await reader.revocations.revoke(revoked.claims)
    await copied(replica, 2)
    await sentinels.command(0, 'SENTINEL', 'FAILOVER', 'main')
    await sentinels.name(replica)
    // Until then it may take what is revoked, and loses that as it becomes a replica.
    await until('a replica', async () => (await roleOf(primary)) === 'slave')
    await reader.comesTo('accepted', valid)
    const fresh = await issue()
    await reader.revocations.revoke(fresh.claims)
    expect(await reader.verdict(revoked)).toBe('revoked')
    expect(await replica.command('XLEN', STREAM)).toBe(3)
  })

  test('an operator moves the primary while processes revoke: what they have acknowledged, a process that starts later refuses', async () => {
    await using watched = await createWatched()
    const { primary, replica, sentinels } = watched
    await using revoking = await revokingWhile(watched, async (more) => {
      await more(20)
      await sentinels.command(0, 'SENTINEL', 'FAILOVER', 'main')
      await sentinels.name(replica)
      await until('a replica', async () => (await roleOf(primary)) === 'slave')
      await more(20)
    })
    await using newcomer = watched.follow()
    expect(revoking.acknowledged.length).toBeGreaterThan(0)
    for (const token of revoking.acknowledged) await newcomer.comesTo('revoked', token)
    const valid = await issue()
    await newcomer.comesTo('accepted', valid)
  })

  test('an operator stops writes before the move, as the page says: no acknowledged revocation is lost, and no proof is taken twice', async () => {
    await using watched = await createWatched()
    const { primary, replica, sentinels } = watched
    const [, stop = '', move = ''] =
      /`(CLIENT PAUSE [^`]*)`[^\n]*`(SENTINEL FAILOVER [^`]*)`/.exec(operating) ?? []
    const options = { url: NOWHERE, sentinel: sentinels.option, timeout: 10 }
    await using replays = redisReplays(options)
    await using others = redisReplays(options)
    const proofs = [replays, others].flatMap((taker, at) =>
      Array.from({ length: 5 }, (_, of) => ({ taker, jti: `${at} ${of}` })),
    )
    const answerTo = async ({ taker, jti }: { taker: typeof replays; jti: string }) =>
      await taker.remember({ jkt: 'key', jti, expires: Date.now() / 1000 + 600 }, Date.now() / 1000)
    const taken = new Set<string>()
    const take = async () => {
      for (const proof of proofs) if ((await answerTo(proof)) === 'new') taken.add(proof.jti)
    }
    let taking: Promise<void> | undefined
    await using revoking = await revokingWhile(watched, async (more) => {
      await more(20)
      taking = take()
      // A busy machine takes longer.
      await primary.command(...stop.replace('6000', '30000').split(' '))
      await sentinels.command(0, ...move.split(' '))
      await sentinels.name(replica)
      await until('a replica', async () => (await roleOf(primary)) === 'slave')
      await more(20)
    })
    await taking
    for (const proof of proofs.filter(({ jti }) => taken.has(jti))) {
      await until('looked up', async () => {
        const answer = await answerTo(proof)
        expect(answer).not.toBe('new')
        return answer === 'replayed'
      })
    }
    const ids = new Set(revoking.acknowledged.map(({ claims }) => claims.jti))
    const entries = (await replica.command('XRANGE', STREAM, '-', '+')) as [string, string[]][]
    const held = new Set(entries.map(([, fields]) => fields[fields.indexOf('jti') + 1] ?? ''))
    expect([...ids].filter((jti) => !held.has(jti))).toEqual([])
  })

  test('acknowledge: a revocation counts when a replica has it; without one it rejects, and says that it was recorded', async () => {
    await using watched = await createWatched()
    const { primary, replica, sentinels } = watched
    const options = { sentinel: sentinels.option, maxStaleness: STALENESS }
    await using writer = join(NOWHERE, { ...options, acknowledge: { replicas: 1 } })
    const [kept, unconfirmed] = [await issue(), await issue()]
    await writer.comesTo('accepted', kept)
    await writer.revocations.revoke(kept.claims)
    expect(await replica.command('XLEN', STREAM)).toBe(2)
    replica.pause()
    await expect(writer.revocations.revoke(unconfirmed.claims)).rejects.toMatchObject({
      reason: 'unreplicated',
    })
    expect(await writer.verdict(unconfirmed)).toBe('revoked')
    expect(await primary.command('XLEN', STREAM)).toBe(3)
    replica.resume()
    await copied(replica, 3)
  })

  test.concurrent('a sentinel that hangs and one that is gone: a process that starts finds the primary by the third', async () => {
    await using watched = await createWatched()
    await watched.sentinels.kill(0)
    watched.sentinels.pause(1)
    await using newcomer = watched.follow()
    const valid = await issue()
    await newcomer.comesTo('accepted', valid)
    // On a busy machine the one that hangs may have been its own for longer than it trusts a primary.
    await watched.reader.comesTo('accepted', valid)
    const [ours, theirs] = [newcomer, watched.reader].map((each) => each.revocations.status())
    expect(ours?.identity).toBe(theirs?.identity)
  })

  test.concurrent('all sentinels are gone: nothing is accepted after maxStaleness, though the primary answers; who starts says what is wrong', async () => {
    await using watched = await createWatched({ maxStaleness: SHORT_STALENESS })
    const { primary, reader } = watched
    const [revoked, valid] = [await issue(), await issue()]
    await append(primary, revoked)
    await reader.comesTo('revoked', revoked)
    for (const at of [0, 1, 2]) await watched.sentinels.kill(at)
    await using newcomer = watched.follow()
    await expect(newcomer.revocations.ready()).rejects.toThrow('ECONNREFUSED')
    const { reason, age } = await reader.acceptedUntil(valid)
    expect(reason).toBe('stale')
    expect(age).toBeLessThanOrEqual(SHORT_STALENESS)
    // It may be none any more.
    expect(await roleOf(primary)).toBe('master')
    expect(await reader.verdict(revoked)).toBe('revoked')
  })

  test.concurrent('all sentinels are gone: used proofs are refused after the longest silence, though the server answers', async () => {
    await using watched = await createWatched()
    const { option } = watched.sentinels
    await using replays = redisReplays({ url: NOWHERE, sentinel: option, timeout: 10 })
    const answer = async (jti: string) => {
      const now = Date.now() / 1000
      return await replays.remember({ jkt: 'key', jti, expires: now + 600 }, now)
    }
    expect(await answer('first')).toBe('new')
    for (const at of [0, 1, 2]) await watched.sentinels.kill(at)
    let asked = 0
    await until('refused', async () => (await answer(`proof ${(asked += 1)}`)) === 'unavailable')
    expect(await watched.primary.command('PING')).toBe('PONG')
    expect(await answer('first')).toBe('unavailable')
  })

  test.concurrent('an unknown name of the primary is said', async () => {
    await using watched = await createWatched()
    const sentinel = { ...watched.sentinels.option, primary: 'other' }
    await using member = join(NOWHERE, { sentinel })
    await expect(member.revocations.ready()).rejects.toThrow(
      'refused: no sentinel knows a primary of that name',
    )
  })

  test.concurrent('the program of an operator, and used proofs, find the primary as well', async () => {
    await using watched = await createWatched()
    const { option } = watched.sentinels
    const flags = option.urls.flatMap((url) => ['--sentinel', url])
    const outcome = await operate(NOWHERE, 'status', '--primary', option.primary, ...flags)
    expect(outcome).toMatchObject({ exitCode: 0, said: '' })
    expect(JSON.parse(outcome.printed)).toMatchObject({ identity: 'first' })
    await using replays = redisReplays({ url: NOWHERE, sentinel: option, timeout: 10 })
    const now = Date.now() / 1000
    const proof = { jkt: 'key', jti: 'one', expires: now + 60 }
    expect(await replays.remember(proof, now)).toBe('new')
    expect(await replays.remember(proof, now)).toBe('replayed')
  })

  test.concurrent('through TLS, with a user for the processes: the client states both, and the sentinels need neither', async ({
    onTestFinished,
  }) => {
    const certificate = createCertificate()
    onTestFinished(() => {
      certificate[Symbol.dispose]()
    })
    await using primary = await startRedis({ certificate })
    await createStream(primary)
    const rights = ['+multi', '+exec', '+xrange', '+xread', '+xinfo', '+xadd']
    await primary.command('ACL', 'SETUSER', 'api', 'on', '>secret', `~${STREAM}`, ...rights)
    await using sentinels = await startSentinels(primary, 0, { count: 1, certificate })
    const client = createClient({
      username: 'api',
      password: 'secret',
      socket: { host: 'redis.invalid', port: 1, tls: true, ca: certificate.cert },
    })
    await using member = join('', { client, sentinel: sentinels.option })
    const token = await issue()
    await member.comesTo('accepted', token)
    await member.revocations.revoke(token.claims)
    expect(await member.verdict(token)).toBe('revoked')
  })
})

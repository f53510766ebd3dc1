import { setTimeout as pause } from 'node:timers/promises'

import { expect, test } from 'vitest'

import { describeWithRedis } from './describe-with-redis.ts'
import { type RedisServer, startRedis } from './redis-server.ts'
import { append, appendMany, createStream, issue, type Issued, join, STREAM } from './scene.ts'
import { until } from './waiting.ts'

// The key of the stream is away for a moment while a process reads the whole stream: that must not look like its end.

const MANY = 40_000
const ELSEWHERE = `${STREAM}:elsewhere`
/** Milliseconds after the process has begun, and for how long. `AWAY_TRIALS=24` for as many as there may be. */
const TRIALS = Array.from({ length: Number(process.env['AWAY_TRIALS'] ?? 5) }, (_, at) => ({
  after: 10 + ((at * 37) % 150),
  away: 1 + ((at * 17) % 120),
}))

interface Filled extends AsyncDisposable {
  readonly server: RedisServer
  readonly last: Issued
}

/** A stream whose last entry is the one that would be missed. */
async function createFilled(): Promise<Filled> {
  const server = await startRedis()
  await createStream(server)
  await appendMany(server, MANY)
  const last = await issue()
  await append(server, last)
  return { server, last, [Symbol.asyncDispose]: async () => await server[Symbol.asyncDispose]() }
}

async function expectEverything({ server, last }: Filled, disturb: () => Promise<void>) {
  await using member = join(server.url)
  const { revocations } = member
  const verdicts = new Set<string>()
  const disturbing = disturb()
  await until('current', async () => {
    // A moment later it may be too old, or missing: only `accepted` is wrong.
    verdicts.add(await member.verdict(last))
    return revocations.status().state === 'current'
  })
  await disturbing
  await member.comesTo('revoked', last)
  await until('current again', () => revocations.status().state === 'current')
  expect(revocations.status()).toMatchObject({ entries: MANY + 1 })
  expect([...verdicts]).not.toContain('accepted')
}

describeWithRedis('the stream is away while a process reads it', () => {
  test('renamed away and back, at any moment and for any time: the process knows everything', async () => {
    await using filled = await createFilled()
    const connection = await filled.server.connect()
    for (const { after, away } of TRIALS) {
      await expectEverything(filled, async () => {
        await pause(after)
        await connection.command('RENAME', STREAM, ELSEWHERE)
        await pause(away)
        await connection.command('RENAME', ELSEWHERE, STREAM)
      })
    }
    connection.close()
  })

  test('away for each second page, as fast as a client can: nothing is accepted, and all is known in the end', async () => {
    await using filled = await createFilled()
    const connection = await filled.server.connect()
    await expectEverything(filled, async () => {
      for (let round = 0; round < 200; round += 1) {
        await connection.command('RENAME', STREAM, ELSEWHERE)
        await connection.command('RENAME', ELSEWHERE, STREAM)
        await pause(3)
      }
    })
    connection.close()
  })

  test('deleted and restored, with its entries: the process knows everything', async () => {
    await using filled = await createFilled()
    const { server } = filled
    const connection = await server.connect()
    await connection.command('COPY', STREAM, ELSEWHERE)
    await expectEverything(filled, async () => {
      await pause(40)
      await connection.command('DEL', STREAM)
      await pause(20)
      await connection.command('COPY', ELSEWHERE, STREAM)
    })
    connection.close()
  })
})

import { expect, test } from 'vitest'

import { describeWithRedis } from './describe-with-redis.ts'
import { operateHere as operate } from './operate.ts'
import { type Proxy, startProxy } from './proxy.ts'
import { startRedis } from './redis-server.ts'
import {
  createStream,
  issue,
  type Issued,
  join,
  MAX_STALENESS,
  type Member,
  STREAM,
} from './scene.ts'
import { until } from './waiting.ts'

// The network is parted, and what the page says of that: between a process and Redis, and between a primary and its replica.

const current = async ({ revocations }: Member) =>
  await until('current', () => revocations.status().state === 'current')

/** Empty: it has worked. */
async function messageOf(work: Promise<unknown>): Promise<string> {
  return await work.then(() => '', String)
}

describeWithRedis('a process that is parted from Redis, which loses everything meanwhile', () => {
  test.concurrent.each<[string, string, (proxy: Proxy) => void]>([
    [
      'connections stay half-open',
      'processes still write back what they know',
      (proxy) => {
        proxy.mode = 'swallow'
      },
    ],
    [
      'connections are reset',
      '1 of 2 processes are not connected',
      (proxy) => {
        proxy.mode = 'refuse'
        proxy.cut()
      },
    ],
  ])(
    '%s: nobody ends the restoration before it is back, and what it alone knew is refused by all',
    async (_, obstacle, part) => {
      await using server = await startRedis()
      const { data: made } = await operate(server, 'create')
      await using proxy = await startProxy(server.port)
      await using parted = join(proxy.url)
      await current(parted)
      const [revoked, valid] = [await issue(), await issue()]
      await parted.revocations.revoke(revoked.claims)

      part(proxy)
      await server.command('FLUSHALL')
      expect(await operate(server, `create --replaces ${String(made['id'])}`)).toMatchObject({
        code: 0,
      })
      await using newcomer = join(server.url)
      await until('read', () => newcomer.revocations.status().state === 'restoring')
      const { reason, age } = await parted.acceptedUntil(valid)
      expect(reason).toBe('stale')
      expect(age).toBeLessThanOrEqual(MAX_STALENESS)
      expect(await parted.verdict(revoked)).toBe('revoked')
      await until('said', async () => {
        const { code, said } = await operate(server, 'restore --finish --processes 2')
        expect(code).toBe(1)
        return said.includes(obstacle)
      })
      expect([await newcomer.verdict(revoked), await newcomer.verdict(valid)]).toEqual([
        'stale',
        'stale',
      ])

      proxy.mode = 'pass'
      let data: object = {}
      await until('ended', async () => {
        const ended = await operate(server, 'restore --finish --processes 2')
        data = ended.data
        return ended.code === 0
      })
      expect(data).toMatchObject({
        contributed: { processes: 1, entries: 1 },
        incomplete: [{ former: 'stale' }],
      })
      for (const each of [newcomer, parted]) {
        await each.comesTo('accepted', valid)
        expect(await each.verdict(revoked)).toBe('revoked')
      }
    },
  )
})

describeWithRedis('a primary that is parted from its replica', () => {
  test.concurrent('takes revocations for `min-replicas-max-lag`, which whoever has read them gives the promoted replica', async () => {
    const limits = ['--min-replicas-to-write', '1', '--min-replicas-max-lag', '4']
    await using primary = await startRedis({ settings: limits })
    await using link = await startProxy(primary.port)
    await using replica = await startRedis({ replicaOf: link.port })
    await until('made', async () => (await messageOf(createStream(primary))) === '')
    await using way = await startProxy(primary.port)
    const [writer, careful] = [join(way.url), join(way.url, { acknowledge: { replicas: 1 } })]
    await using reader = join(way.url)
    for (const each of [writer, careful, reader]) await current(each)
    // Connections that write are open then.
    for (const each of [writer, careful]) await each.revocations.revoke((await issue()).claims)
    const length = async () => await replica.command('XLEN', STREAM)
    await until('copied', async () => (await length()) === 3)

    const [unconfirmed, valid] = [await issue(), await issue()]
    link.mode = 'swallow'
    const confirmed = messageOf(careful.revocations.revoke(unconfirmed.claims))
    const acknowledged: Issued[] = []
    let why = ''
    await until('refused', async () => {
      const token = await issue()
      why = await messageOf(writer.revocations.revoke(token.claims))
      if (why === '') acknowledged.push(token)
      return why !== ''
    })
    expect(why).toContain('NOREPLICAS, it has too few replicas')
    expect(await confirmed).toContain('too few replicas of the store have confirmed')
    expect([acknowledged.length > 0, await length()]).toEqual([true, 3])
    // It was recorded all the same.
    const lost = [...acknowledged, unconfirmed]
    for (const token of lost) await reader.comesTo('revoked', token)

    await writer[Symbol.asyncDispose]()
    await careful[Symbol.asyncDispose]()
    await primary.kill()
    await replica.command('REPLICAOF', 'NO', 'ONE')
    way.target = replica.port
    await using newcomer = join(way.url)
    for (const token of lost) await newcomer.comesTo('revoked', token)
    await newcomer.comesTo('accepted', valid)
  })
})

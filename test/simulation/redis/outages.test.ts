import { RevocationStoreError } from '@portcullis/redis'
import { expect, test } from 'vitest'

import { describeWithRedis } from './describe-with-redis.ts'
import {
  append,
  createScene,
  ISSUER,
  issue,
  join,
  MAX_STALENESS,
  type Scene,
  STREAM,
} from './scene.ts'
import { until } from './waiting.ts'

interface Outage {
  readonly name: string
  readonly strike: (scene: Scene) => unknown
  readonly heal: (scene: Scene) => unknown
}

const OUTAGES: readonly Outage[] = [
  {
    name: 'killed, and restarted with its data',
    strike: ({ server }) => server.kill(),
    heal: ({ server }) => server.restart(),
  },
  {
    name: 'stopped, and continued',
    strike: ({ server }) => server.pause(),
    heal: ({ server }) => server.resume(),
  },
  {
    name: 'out of reach: connections are reset',
    strike({ proxy }) {
      proxy.mode = 'refuse'
      proxy.cut()
    },
    heal({ proxy }) {
      proxy.mode = 'pass'
    },
  },
  {
    name: 'behind half-open connections',
    strike({ proxy }) {
      proxy.mode = 'swallow'
    },
    heal({ proxy }) {
      proxy.mode = 'pass'
    },
  },
]

describeWithRedis('a store that does not answer', () => {
  test.concurrent.each(OUTAGES)(
    '$name: what is revoked stays so, valid tokens are accepted for maxStaleness and again afterwards',
    async ({ strike, heal }) => {
      await using scene = await createScene({ isPersistent: true })
      const { proxy, reader, revoked, valid } = scene
      await strike(scene)
      const { reason, age } = await reader.acceptedUntil(valid)
      expect(reason).toBe('stale')
      expect(age).toBeLessThanOrEqual(MAX_STALENESS)
      expect(await reader.verdict(revoked)).toBe('revoked')

      await using newcomer = join(proxy.url)
      expect(await newcomer.verdict(valid)).toBe('stale')
      const fresh = await issue()
      await expect(reader.revocations.revoke(fresh.claims)).rejects.toThrow(RevocationStoreError)
      expect(await reader.verdict(revoked)).toBe('revoked')

      await heal(scene)
      await reader.comesTo('accepted', valid)
      await newcomer.comesTo('accepted', valid)
      expect(await newcomer.verdict(revoked)).toBe('revoked')
      await newcomer.revocations.revoke(fresh.claims)
      await reader.comesTo('revoked', fresh)
      await reader.comesTo('accepted', valid)
    },
  )

  test.concurrent('with whenStale: accept, only what is known to be revoked is refused', async () => {
    await using scene = await createScene({}, { whenStale: 'accept' })
    const { proxy, reader, revoked, valid } = scene
    proxy.mode = 'refuse'
    proxy.cut()
    await until('stale', () => reader.revocations.status().state === 'stale')
    expect(await reader.verdict(valid)).toBe('accepted')
    expect(await reader.verdict(revoked)).toBe('revoked')
    await using newcomer = join(proxy.url, { whenStale: 'accept' })
    await newcomer.verifier.ready()
    expect(await newcomer.verdict(revoked)).toBe('accepted')
    proxy.mode = 'pass'
    await newcomer.comesTo('revoked', revoked)
  })

  test.concurrent('slow by two seconds: who allows so much goes on, who does not accepts nothing', async () => {
    await using scene = await createScene()
    const { server, proxy, reader, revoked, valid } = scene
    await using patient = join(proxy.url, { maxStaleness: 40 })
    await patient.comesTo('accepted', valid)
    proxy.delay = 1
    const { reason, age } = await reader.acceptedUntil(valid)
    expect(reason).toBe('stale')
    expect(age).toBeLessThanOrEqual(MAX_STALENESS)
    const fresh = await issue()
    await append(server, fresh)
    await patient.comesTo('revoked', fresh)
    await patient.comesTo('accepted', valid)
    expect(await reader.verdict(revoked)).toBe('revoked')
    proxy.delay = 0
    await reader.comesTo('accepted', valid)
    expect(await reader.verdict(fresh)).toBe('revoked')
  })

  test.concurrent('a connection that is cut in the middle of a reply: what was in it is read again', async () => {
    await using scene = await createScene()
    const { server, proxy, reader, valid } = scene
    for (let round = 0; round < 5; round += 1) {
      const fresh = await issue()
      const cut = proxy.cutNextReply(100)
      await append(server, fresh)
      await cut
      await reader.comesTo('revoked', fresh)
    }
    await reader.comesTo('accepted', valid)
    expect(reader.revocations.status().state).toBe('current')
  })

  test.concurrent('very many revocations at once: all are recorded, or all are refused in time', async () => {
    await using scene = await createScene()
    const { server, proxy, reader } = scene
    const tokens = Array.from({ length: 1500 }, (_, index) => ({
      iss: ISSUER,
      jti: `many ${index}`,
    }))
    await Promise.all(tokens.map(async (token) => await reader.revocations.revoke(token)))
    expect(await server.command('XLEN', STREAM)).toBe(2 + tokens.length)
    proxy.mode = 'swallow'
    const settled = await Promise.allSettled(
      tokens.map(async (token) => await reader.revocations.revoke(token)),
    )
    expect(settled.every(({ status }) => status === 'rejected')).toBe(true)
  })
})

import { RevocationStoreError } from '@portcullis/redis'
import { expect, test } from 'vitest'

import { describeWithRedis } from './describe-with-redis.ts'
import { type Proxy, startProxy } from './proxy.ts'
import { type RedisServer, startRedis } from './redis-server.ts'
import { append, createStream, issue, join, type Member, STREAM } from './scene.ts'
import { until } from './waiting.ts'

// Two regions: the primary is in the first, a replica of it in the second, and processes in both. All of them follow the primary;
// the replica is there for the day when the first region is lost.

/** Seconds, one way: across an ocean. */
const FAR = 0.075
/** Seconds. With the round trip above, and as short as a busy machine allows. */
const STALENESS = 4

interface Regions extends AsyncDisposable {
  readonly primary: RedisServer
  readonly replica: RedisServer
  /** The way of the second region to whatever is the primary. */
  readonly ocean: Proxy
  readonly near: Member
  readonly far: Member
}

async function createRegions(): Promise<Regions> {
  const primary = await startRedis()
  await createStream(primary)
  const replica = await startRedis({ replicaOf: primary.port })
  const ocean = await startProxy(primary.port)
  ocean.delay = FAR
  const [near, far] = [primary.url, ocean.url].map((url) =>
    join(url, { maxStaleness: STALENESS }),
  ) as [Member, Member]
  const valid = await issue()
  for (const member of [near, far]) await member.comesTo('accepted', valid)
  return {
    primary,
    replica,
    ocean,
    near,
    far,
    async [Symbol.asyncDispose]() {
      for (const each of [near, far, ocean, replica, primary]) await each[Symbol.asyncDispose]()
    },
  }
}

describeWithRedis('two regions', () => {
  test('what is revoked in one is refused in the other, and look-ups there wait for nothing', async () => {
    await using regions = await createRegions()
    const { near, far } = regions
    const [one, other, valid] = [await issue(), await issue(), await issue()]
    await near.revocations.revoke(one.claims)
    await far.comesTo('revoked', one)
    const began = performance.now()
    await far.revocations.revoke(other.claims)
    // To write is a round trip, and the connection of the first time several.
    expect((performance.now() - began) / 1000).toBeGreaterThan(2 * FAR)
    await near.comesTo('revoked', other)
    const { revocations } = far
    const { iss, jti, exp } = valid.claims
    // No promise: it is said at once, so nothing goes across the ocean for it.
    expect(revocations.statusOf({ iss, jti, exp }, Date.now() / 1000)).toBe('valid')
  })

  test('the way between them is cut: the far one accepts for maxStaleness, the near one all the time', async () => {
    await using regions = await createRegions()
    const { ocean, near, far } = regions
    const [revoked, fresh, valid] = [await issue(), await issue(), await issue()]
    await near.revocations.revoke(revoked.claims)
    await far.comesTo('revoked', revoked)
    ocean.mode = 'swallow'
    await near.revocations.revoke(fresh.claims)
    const { reason, age } = await far.acceptedUntil(valid)
    expect(reason).toBe('stale')
    expect(age).toBeLessThanOrEqual(STALENESS)
    expect(await near.verdict(valid)).toBe('accepted')
    expect(await far.verdict(revoked)).toBe('revoked')
    await expect(far.revocations.revoke(valid.claims)).rejects.toThrow(RevocationStoreError)
    ocean.mode = 'pass'
    ocean.cut()
    await far.comesTo('revoked', fresh)
    await far.comesTo('accepted', valid)
  })

  test('the first region is lost, and an operator promotes the replica: both follow it, and lose nothing that they have read', async () => {
    await using regions = await createRegions()
    const { primary, replica, ocean, near, far } = regions
    const [revoked, last, valid] = [await issue(), await issue(), await issue()]
    await near.revocations.revoke(revoked.claims)
    await until('copied', async () => (await replica.command('XLEN', STREAM)) === 2)
    await replica.command('REPLICAOF', 'NO', 'ONE')
    await append(primary, last)
    for (const member of [near, far]) await member.comesTo('revoked', last)
    await primary.kill()
    // The address of the primary leads to the second region now.
    ocean.target = replica.port
    ocean.delay = 0
    ocean.cut()
    await far.comesTo('accepted', valid)
    expect(await far.verdict(revoked)).toBe('revoked')
    expect(await far.verdict(last)).toBe('revoked')
    const fresh = await issue()
    await far.revocations.revoke(fresh.claims)
    expect(await replica.command('XLEN', STREAM)).toBe(3)
  })
})

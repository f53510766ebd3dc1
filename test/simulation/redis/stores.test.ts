import { expect, test } from 'vitest'

import { describeWithRedis } from './describe-with-redis.ts'
import { startRedis } from './redis-server.ts'
import {
  append,
  createScene,
  createStream,
  issue,
  join,
  MAX_STALENESS,
  type Scene,
  STREAM,
} from './scene.ts'
import { until } from './waiting.ts'

// The store answers, but it is another one, or it has lost something.

/** Valid tokens are refused in time and revoked ones all the time, here and in a process that starts now. */
async function expectRefusal({ proxy, reader, revoked, valid }: Scene): Promise<void> {
  const { reason, age } = await reader.acceptedUntil(valid)
  expect(reason).toBe('stale')
  expect(age).toBeLessThanOrEqual(MAX_STALENESS)
  expect(await reader.verdict(revoked)).toBe('revoked')
  await using newcomer = join(proxy.url)
  const start = performance.now()
  await until('looked at', async () => {
    expect(await newcomer.verdict(valid)).toBe('stale')
    return performance.now() - start > MAX_STALENESS * 1000
  })
  expect(await reader.verdict(valid)).toBe('stale')
}

describeWithRedis('a store that has forgotten', () => {
  test.concurrent('restarted without its data: nothing is accepted until an operator has confirmed', async () => {
    await using scene = await createScene({ isPersistent: true })
    const { server, reader, revoked, valid, proxy } = scene
    await server.restart({ withData: false })
    await expectRefusal(scene)
    const fresh = await issue()
    await expect(reader.revocations.revoke(fresh.claims)).rejects.toThrow('does not exist')
    expect(await server.command('EXISTS', STREAM)).toBe(0)

    await createStream(server, { id: 'second', replaces: 'first' })
    await reader.comesTo('accepted', valid)
    expect(await reader.verdict(revoked)).toBe('revoked')
    await using newcomer = join(proxy.url)
    await newcomer.comesTo('accepted', valid)
    await newcomer.revocations.revoke(fresh.claims)
    await reader.comesTo('revoked', fresh)
  })

  test.concurrent('replaced by an empty one: nothing is accepted, and it is accepted again when the first is back', async () => {
    await using scene = await createScene()
    await using empty = await startRedis()
    const { server, proxy, reader, valid, revoked } = scene
    proxy.target = empty.port
    proxy.cut()
    await expectRefusal(scene)
    expect(await empty.command('DBSIZE')).toBe(0)
    proxy.target = server.port
    proxy.cut()
    await reader.comesTo('accepted', valid)
    expect(await reader.verdict(revoked)).toBe('revoked')
  })

  test.concurrent('replaced by one with another identity: who knows the first accepts nothing', async () => {
    await using scene = await createScene()
    await using other = await startRedis()
    const { proxy, reader, valid, revoked } = scene
    await createStream(other, { id: 'other' })
    proxy.target = other.port
    proxy.cut()
    const { reason, age } = await reader.acceptedUntil(valid)
    expect(reason).toBe('stale')
    expect(age).toBeLessThanOrEqual(MAX_STALENESS)
    expect(await reader.verdict(revoked)).toBe('revoked')
    // Who has never seen the first cannot know.
    await using newcomer = join(proxy.url)
    await newcomer.comesTo('accepted', valid)
    expect(await reader.verdict(valid)).toBe('stale')
  })

  test.concurrent('trimmed by somebody: nothing is accepted', async () => {
    await using scene = await createScene()
    await scene.server.command('XTRIM', STREAM, 'MAXLEN', 1)
    await expectRefusal(scene)
  })

  test.concurrent('deleted by somebody: nothing is accepted', async () => {
    await using scene = await createScene()
    await scene.server.command('DEL', STREAM)
    await expectRefusal(scene)
  })

  test.concurrent('memory full: writers are told, readers go on', async () => {
    await using scene = await createScene()
    const { server, reader, revoked, valid } = scene
    await server.command('CONFIG', 'SET', 'maxmemory', 1)
    const fresh = await issue()
    await expect(reader.revocations.revoke(fresh.claims)).rejects.toThrow('OOM')
    const start = performance.now()
    const elapsed = () => (performance.now() - start) / 1000
    await until('asked again', () => (reader.revocations.status().age ?? Infinity) < elapsed())
    await reader.comesTo('accepted', valid)
    expect(await reader.verdict(revoked)).toBe('revoked')
    await server.command('CONFIG', 'SET', 'maxmemory', 0)
    await reader.revocations.revoke(fresh.claims)
    await reader.comesTo('revoked', fresh)
  })
})

describeWithRedis('a failover to a replica', () => {
  test.concurrent('the last writes are missing there: who has read them goes on refusing', async () => {
    await using scene = await createScene()
    const { server, proxy, reader, revoked, valid } = scene
    await using replica = await startRedis({ replicaOf: server.port })
    await until('copied', async () => (await replica.command('XLEN', STREAM)) === 2)
    await replica.command('REPLICAOF', 'NO', 'ONE')
    const lost = await issue()
    await append(server, lost)
    await reader.comesTo('revoked', lost)

    proxy.target = replica.port
    await server.kill()
    proxy.cut()
    const fresh = await issue()
    await append(replica, fresh)
    await reader.comesTo('revoked', fresh)
    await reader.comesTo('accepted', valid)
    expect(await reader.verdict(lost)).toBe('revoked')
    expect(await reader.verdict(revoked)).toBe('revoked')
  })

  test.concurrent('a primary that becomes a replica is left, by readers and writers', async () => {
    await using scene = await createScene()
    const { server, proxy, reader, revoked, valid } = scene
    await using replica = await startRedis({ replicaOf: server.port })
    await until('copied', async () => (await replica.command('XLEN', STREAM)) === 2)
    await replica.command('REPLICAOF', 'NO', 'ONE')
    // New connections lead to the new primary, those that are open stay with the one that copies it now.
    proxy.target = replica.port
    await server.command('REPLICAOF', '127.0.0.1', replica.port)
    const fresh = await issue()
    await reader.revocations.revoke(fresh.claims)
    expect(await replica.command('XLEN', STREAM)).toBe(3)
    await server.kill()
    await reader.comesTo('accepted', valid)
    expect(await reader.verdict(revoked)).toBe('revoked')
    expect(await reader.verdict(fresh)).toBe('revoked')
  })

  test.concurrent('a replica does not serve: nobody knows how far it lags', async () => {
    await using scene = await createScene()
    const { server, proxy, valid, revoked, reader } = scene
    await using replica = await startRedis({ replicaOf: server.port })
    await until('copied', async () => (await replica.command('XLEN', STREAM)) === 2)
    proxy.target = replica.port
    proxy.cut()
    const { reason, age } = await reader.acceptedUntil(valid)
    expect(reason).toBe('stale')
    expect(age).toBeLessThanOrEqual(MAX_STALENESS)
    expect(await reader.verdict(revoked)).toBe('revoked')
    await replica.command('REPLICAOF', 'NO', 'ONE')
    await reader.comesTo('accepted', valid)
  })

  test.concurrent('its clock is behind, and its ids have overtaken: what lies between is read', async () => {
    await using scene = await createScene()
    const { server, proxy, reader, valid } = scene
    await using replica = await startRedis({ replicaOf: server.port })
    await until('copied', async () => (await replica.command('XLEN', STREAM)) === 2)
    await replica.command('REPLICAOF', 'NO', 'ONE')
    const [lost, between, later] = [await issue(), await issue(), await issue()]
    const ahead = Date.now() + 60_000
    await append(server, lost, `${ahead}-0`)
    await reader.comesTo('revoked', lost)

    await append(replica, between, `${ahead - 10}-0`)
    await append(replica, later, `${ahead + 10}-0`)
    proxy.target = replica.port
    await server.kill()
    proxy.cut()
    await reader.comesTo('revoked', later)
    await reader.comesTo('accepted', valid)
    expect(await reader.verdict(between)).toBe('revoked')
    expect(await reader.verdict(lost)).toBe('revoked')
  })
})

import { expect, test } from 'vitest'

import { describeWithRedis } from './describe-with-redis.ts'
import { PROGRAM, startRedis } from './redis-server.ts'
import { append, createScene, issue, join, STREAM } from './scene.ts'
import { until } from './waiting.ts'

// A server is upgraded: in its place, with its files, or by a newer one that copies it first. There is one version on this
// machine; with `VALKEY_SERVER` the second one is a Valkey.

const OLD = 'redis-server'

describeWithRedis('an upgrade of the server', () => {
  test('in its place: shut down, and started again with its files', async () => {
    await using scene = await createScene({ isPersistent: true, program: OLD })
    const { server, reader, revoked, valid } = scene
    const { identity } = reader.revocations.status()
    // It saves its data, and ends: nobody answers that.
    await server.command('SHUTDOWN').catch(() => undefined)
    expect(await reader.verdict(revoked)).toBe('revoked')
    await server.restart({ program: PROGRAM })
    const fresh = await issue()
    await append(server, fresh)
    await reader.comesTo('revoked', fresh)
    await reader.comesTo('accepted', valid)
    expect(reader.revocations.status()).toMatchObject({ identity, foreign: 0, unreadable: 0 })
    await using newcomer = join(scene.proxy.url)
    await newcomer.comesTo('revoked', revoked)
    await newcomer.comesTo('accepted', valid)
  })

  test('by a newer server that has copied it: nothing is missing, and the old one is left', async () => {
    await using scene = await createScene({ isPersistent: true, program: OLD })
    const { server, proxy, reader, revoked, valid } = scene
    await using newer = await startRedis({ isPersistent: true, replicaOf: server.port })
    await until('copied', async () => (await newer.command('XLEN', STREAM)) === 2)
    await newer.command('REPLICAOF', 'NO', 'ONE')
    proxy.target = newer.port
    await server.kill()
    const fresh = await issue()
    await append(newer, fresh)
    await reader.comesTo('revoked', fresh)
    await reader.comesTo('accepted', valid)
    expect(await reader.verdict(revoked)).toBe('revoked')
  })
})

import { receiveLogout } from '@portcullis/events'
import { redisRevocations } from '@portcullis/redis'
import { createTestIssuer, eventTransmitter } from '@portcullis/testing'
import { expect, test } from 'vitest'

import { describeWithRedis } from './describe-with-redis.ts'
import { startRedis } from './redis-server.ts'
import { createStream, STREAM } from './scene.ts'
import { until } from './waiting.ts'

const ISSUER = 'https://login.test'

describeWithRedis('acknowledge: a log-out that a provider tells of', () => {
  test('is answered 503 while no replica has it, so that the provider repeats it, and 200 when one has', async () => {
    await using server = await startRedis()
    await createStream(server)
    const issuer = await createTestIssuer({ issuer: ISSUER, algorithm: 'ES256' })
    const transmitter = eventTransmitter(issuer, { audience: 'client' })
    await using revocations = redisRevocations({ url: server.url, acknowledge: { replicas: 1 } })
    const receiver = receiveLogout({
      keys: issuer.verifierOptions.keys,
      issuer: ISSUER,
      clientId: 'client',
      revocations,
      revokes: 'session',
    })
    const token = await transmitter.logoutToken({ sid: 'one' })
    const send = async () => {
      const body = new URLSearchParams({ logout_token: token })
      const { status } = await receiver.fetch(
        new Request('https://api.test/', { method: 'POST', body }),
      )
      return status
    }
    expect(await send()).toBe(503)
    // It was recorded all the same: to be refused too early does no harm.
    expect(await server.command('XLEN', STREAM)).toBe(2)
    await using replica = await startRedis({ replicaOf: server.port })
    await until('copied', async () => (await replica.command('XLEN', STREAM)) === 2)
    expect(await send()).toBe(200)
    await until('copied', async () => (await replica.command('XLEN', STREAM)) === 3)
  })
})

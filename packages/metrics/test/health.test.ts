import { createVerifier, remoteKeys } from '@portcullis/core'
import { createTestIssuer, manualClock, tokenService } from '@portcullis/testing'
import { expect, test, vi } from 'vitest'

import { createHealth } from '../src/health.ts'

async function setUp() {
  const clock = manualClock()
  const issuer = await createTestIssuer({ clock })
  const service = tokenService(issuer)
  const keys = remoteKeys(service.keyUrl, { fetch: service.fetch, clock })
  const verifier = createVerifier({ keys, issuer: null, audience: null, clock })
  return { clock, issuer, keys, health: createHealth(verifier) }
}

test('ready once the keys have been fetched; alive before that', async () => {
  const { health } = await setUp()
  expect([health.live(), health.ready()]).toEqual([200, 503])
  await vi.waitFor(() => {
    expect(health.ready()).toBe(200)
  }, 60_000)
})

test('a start while the key endpoint is down: not ready, alive, and ready soon after it is back', async () => {
  const { clock, issuer, keys, health } = await setUp()
  const outage = issuer.outage(503)
  for (let probe = 0; probe < 10; probe++) {
    expect([health.live(), health.ready()]).toEqual([200, 503])
    await clock.advance(10)
  }
  outage.restore()
  await clock.advance(keys.status().nextAttemptIn)
  health.ready()
  await vi.waitFor(() => {
    expect(health.ready()).toBe(200)
  }, 60_000)
})

test('100 probes while the key endpoint is down cost it few requests', async () => {
  const { clock, issuer, health } = await setUp()
  issuer.outage(503)
  for (let probe = 0; probe < 100; probe++) {
    health.ready()
    await clock.advance(1)
  }
  expect(issuer.requests().length).toBeLessThanOrEqual(10)
})

test('a process that was ready stays ready through an outage of any length', async () => {
  const { clock, issuer, keys, health } = await setUp()
  health.ready()
  await vi.waitFor(() => {
    expect(health.ready()).toBe(200)
  }, 60_000)
  issuer.outage(503)
  await clock.advance(86_400)
  expect(keys.status().freshness).toBe('empty')
  expect([health.live(), health.ready()]).toEqual([200, 200])
})

test('a process that is told to end is not ready any more, and alive', async () => {
  const { health } = await setUp()
  health.ready()
  await vi.waitFor(() => {
    expect(health.ready()).toBe(200)
  }, 60_000)
  health.drain()
  expect([health.live(), health.ready()]).toEqual([200, 503])
})

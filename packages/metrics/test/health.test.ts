import { channel, hasSubscribers } from 'node:diagnostics_channel'

import { byIssuer, createVerifier, localRevocations, remoteKeys } from '@portcullis/core'
import { introspected } from '@portcullis/introspection'
import {
  createTestIssuer,
  introspectionService,
  manualClock,
  tokenService,
} from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { createHealth, type HealthOptions } from '../src/health.ts'

/** Lets promises go on that wait for nothing else. */
const settled = async () => await new Promise((resolve) => void setImmediate(resolve))

async function setUp(options: HealthOptions = {}) {
  const clock = manualClock()
  const issuer = await createTestIssuer({ clock, algorithm: 'ES256' })
  const service = tokenService(issuer)
  const keys = remoteKeys(service.keyUrl, { fetch: service.fetch, clock })
  const rules = { issuer: null, audience: null, algorithms: ['ES256'] } as const
  const verifier = createVerifier({ keys, ...rules, clock })
  return {
    clock,
    issuer,
    keys,
    rules,
    verifier,
    health: createHealth(verifier, { clock, ...options }),
  }
}

/** A verifier whose preparation ends when a test says so. */
function slowVerifier() {
  const asked: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = []
  return {
    asked,
    ready: async () =>
      await new Promise<void>((resolve, reject) => {
        asked.push({ resolve, reject })
      }),
  }
}

describe('the first probe', () => {
  test('before the first request: it waits for the keys, and is 200', async () => {
    const { issuer, health } = await setUp()
    expect(health.live()).toBe(200)
    expect(await health.ready()).toBe(200)
    expect(issuer.requests()).toHaveLength(1)
  })

  test('after requests that were accepted: 200, and nothing is fetched for it', async () => {
    const { issuer, verifier, health } = await setUp()
    await verifier.verify(await issuer.token())
    expect(await health.ready()).toBe(200)
    expect(issuer.requests()).toHaveLength(1)
  })

  test.each([undefined, null, 'accepted', 7, {}, { code: undefined }, { verifier: undefined }, []])(
    'what others publish on the channel of verdicts shows nothing, and does no harm: %j',
    async (message) => {
      const verifier = slowVerifier()
      const clock = manualClock()
      const health = createHealth(verifier, { clock })
      channel('portcullis:verify').publish(message)
      const probe = health.ready()
      await clock.advance(1)
      expect(await probe).toBe(503)
    },
  )

  test('after a request that was accepted, hours of idleness and in an outage: 200 all the same', async () => {
    const { clock, issuer, keys, verifier, health } = await setUp()
    await verifier.verify(await issuer.token())
    issuer.outage(503)
    await clock.advance(86_400)
    expect(keys.status().freshness).toBe('empty')
    expect(await health.ready()).toBe(200)
    expect(issuer.requests()).toHaveLength(1)
  })

  test('after a request that was refused, hours later and in an outage: 503, since nothing shows that it can accept one', async () => {
    const { clock, issuer, verifier, health } = await setUp()
    await expect(verifier.verify('canary')).rejects.toMatchObject({ reason: 'malformed' })
    issuer.outage(503)
    expect(await health.ready()).toBe(503)
    await clock.advance(86_400)
    expect(await health.ready()).toBe(503)
  })
})

describe('a start in an outage', () => {
  test('not ready, alive, and ready at the first probe after it', async () => {
    const { clock, issuer, keys, health } = await setUp()
    const outage = issuer.outage(503)
    for (let probe = 0; probe < 10; probe++) {
      expect([health.live(), await health.ready()]).toEqual([200, 503])
      await clock.advance(10)
    }
    outage.restore()
    await clock.advance(keys.status().nextAttemptIn)
    expect(await health.ready()).toBe(200)
  })

  test('100 probes cost the key endpoint few requests', async () => {
    const { clock, issuer, health } = await setUp()
    issuer.outage(503)
    for (let probe = 0; probe < 100; probe++) {
      expect(await health.ready()).toBe(503)
      await clock.advance(1)
    }
    expect(issuer.requests().length).toBeLessThanOrEqual(10)
  })
})

describe('a preparation that goes on', () => {
  test('a probe waits for it for a second, and the next one is 200 once it has ended', async () => {
    const clock = manualClock()
    const verifier = slowVerifier()
    const health = createHealth(verifier, { clock })
    const first = health.ready()
    await clock.advance(1)
    expect(await first).toBe(503)
    verifier.asked[0]?.resolve()
    await settled()
    expect(await health.ready()).toBe(200)
    expect(verifier.asked).toHaveLength(1)
  })

  test('two probes at once wait for the same one', async () => {
    const verifier = slowVerifier()
    const health = createHealth(verifier, { clock: manualClock() })
    const probes = [health.ready(), health.ready()]
    verifier.asked[0]?.resolve()
    expect(await Promise.all(probes)).toEqual([200, 200])
    expect(verifier.asked).toHaveLength(1)
  })

  test('a probe that comes while it goes on waits for as long as it may itself', async () => {
    const clock = manualClock()
    const verifier = slowVerifier()
    const health = createHealth(verifier, { clock, timeout: 2 })
    const probes = [health.ready()]
    await clock.advance(1.5)
    probes.push(health.ready())
    await clock.advance(1)
    expect(await probes[0]).toBe(503)
    verifier.asked[0]?.resolve()
    expect(await probes[1]).toBe(200)
    expect(verifier.asked).toHaveLength(1)
  })

  test('one that fails ends the wait of all at once, and the next probe begins another', async () => {
    const verifier = slowVerifier()
    const health = createHealth(verifier, { clock: manualClock() })
    const probes = [health.ready(), health.ready()]
    verifier.asked[0]?.reject(new Error('down'))
    expect(await Promise.all(probes)).toEqual([503, 503])
    const next = health.ready()
    verifier.asked[1]?.resolve()
    expect(await next).toBe(200)
  })

  test('a token that is accepted meanwhile ends the wait', async () => {
    const { clock, issuer, verifier } = await setUp()
    const slow = { ...verifier, ready: slowVerifier().ready }
    const health = createHealth(slow, { clock, verifiers: [verifier] })
    const probe = health.ready()
    await verifier.verify(await issuer.token())
    expect(await probe).toBe(200)
  })

  test('the end of the process ends the wait', async () => {
    const health = createHealth(slowVerifier(), { clock: manualClock() })
    const probe = health.ready()
    health.drain()
    expect(await probe).toBe(503)
  })

  test('one that never ends is begun again after half a minute', async () => {
    const clock = manualClock()
    const verifier = slowVerifier()
    const health = createHealth(verifier, { clock })
    for (let probe = 0; probe < 4; probe++) {
      const answer = health.ready()
      await clock.advance(10)
      expect(await answer).toBe(503)
    }
    expect(verifier.asked).toHaveLength(2)
    // The end of the first one says nothing against the second.
    verifier.asked[0]?.reject(new Error('late'))
    await settled()
    const last = health.ready()
    verifier.asked[1]?.resolve()
    expect(await last).toBe(200)
    expect(verifier.asked).toHaveLength(2)
  })

  test('a verifier that throws at once is not ready, and asked again', async () => {
    let asked = 0
    const health = createHealth(
      {
        ready() {
          asked += 1
          throw new Error('a fault')
        },
      },
      { clock: manualClock() },
    )
    expect([await health.ready(), await health.ready()]).toEqual([503, 503])
    expect(asked).toBe(2)
  })
})

test('a process that was ready stays ready through an outage of any length', async () => {
  const { clock, issuer, keys, health } = await setUp()
  expect(await health.ready()).toBe(200)
  issuer.outage(503)
  await clock.advance(86_400)
  expect(keys.status().freshness).toBe('empty')
  expect([health.live(), await health.ready()]).toEqual([200, 200])
})

test('a process that is told to end is not ready any more, and alive', async () => {
  const { health } = await setUp()
  expect(await health.ready()).toBe(200)
  health.drain()
  expect([health.live(), await health.ready()]).toEqual([200, 503])
})

describe('several verifiers', () => {
  test('of another one nothing is taken over', async () => {
    const { clock, issuer, rules, verifier } = await setUp()
    const other = await createTestIssuer({ clock, algorithm: 'ES256' })
    other.outage(503)
    const service = tokenService(other)
    const keys = remoteKeys(service.keyUrl, { fetch: service.fetch, clock })
    const health = createHealth(createVerifier({ keys, ...rules, clock }), { clock })
    await verifier.verify(await issuer.token())
    expect(await health.ready()).toBe(503)
  })

  test('of byIssuer with one issuer in an outage: ready once a token of the other was accepted', async () => {
    const clock = manualClock()
    const [up, down] = await Promise.all(
      ['https://up.test', 'https://down.test'].map(async (issuer) => {
        const made = await createTestIssuer({ clock, issuer, algorithm: 'ES256' })
        const service = tokenService(made)
        const keys = remoteKeys(service.keyUrl, { fetch: service.fetch, clock })
        return {
          issuer: made,
          verifier: createVerifier({ keys, issuer, audience: null, algorithms: ['ES256'], clock }),
        }
      }),
    )
    if (up === undefined || down === undefined) throw new Error('there are two')
    down.issuer.outage(503)
    const members = { 'https://up.test': up.verifier, 'https://down.test': down.verifier }
    const both = byIssuer(members, { remember: false })
    const health = createHealth(both, { clock, verifiers: Object.values(members) })
    expect(await health.ready()).toBe(503)
    await both.verify(await up.issuer.token())
    expect(await health.ready()).toBe(200)
  })

  test('one whose revocations know nothing is not ready, also if it has refused a genuine token', async () => {
    const { clock, issuer, keys, rules } = await setUp()
    const revocations = {
      ...localRevocations(),
      statusOf: () => 'unknown' as const,
      ready: async () => {
        throw new Error('not read')
      },
    }
    const verifier = createVerifier({ keys, ...rules, clock, revocations })
    const health = createHealth(verifier, { clock })
    await expect(verifier.verify(await issuer.token({ expiresIn: -60 }))).rejects.toMatchObject({
      reason: 'expired',
    })
    expect(await health.ready()).toBe(503)
  })

  test('one of introspection: ready without a token, since its endpoint is known, and through an outage', async () => {
    const clock = manualClock()
    const service = introspectionService(await createTestIssuer({ clock }))
    const health = createHealth(
      introspected({
        endpoint: service.introspectionUrl,
        issuer: null,
        audience: null,
        clientId: 'api',
        clientSecret: 'secret',
        fetch: service.fetch,
        clock,
      }),
      { clock },
    )
    expect(await health.ready()).toBe(200)
    await clock.advance(86_400)
    expect(await health.ready()).toBe(200)
  })
})

test('it listens to verdicts until it is ready, so that they cost no more afterwards', async () => {
  const before = hasSubscribers('portcullis:verify')
  const { health } = await setUp()
  expect(hasSubscribers('portcullis:verify')).toBe(true)
  expect(await health.ready()).toBe(200)
  expect(hasSubscribers('portcullis:verify')).toBe(before)
})

test.each<[string, unknown, string]>([
  ['a timeout of a millisecond', { timeout: 0.001 }, 'timeout'],
  ['a misspelt option', { timeOut: 1 }, 'timeOut'],
  ['verifiers that are no list', { verifiers: {} }, 'verifiers'],
  ['a verifier that is none', { verifiers: [1] }, 'verifiers'],
])('%s is a TypeError', (_title, options, name) => {
  const verifier = slowVerifier()
  expect(() => createHealth(verifier, options as HealthOptions)).toThrow(
    expect.objectContaining({
      name: 'TypeError',
      message: expect.stringContaining(name) as string,
    }),
  )
})

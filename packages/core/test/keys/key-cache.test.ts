import { setImmediate as nextIteration } from 'node:timers/promises'

import { LONGEST_PAUSE } from '@portcullis/kit/pace'
import { manualClock, type TestIssuer, type TokenOptions } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { createVerifier, type RemoteKeysOptions, type VerifierOptions } from '../../src/index.ts'
import { followKeys } from '../../src/keys/key-cache.ts'
import { emptyThreadPool } from '../token/thread-pool.ts'
import {
  A,
  B,
  C,
  forged,
  forgery,
  issuer,
  newToken,
  oldToken,
  stranger,
  tokenOf,
  world,
} from './world.ts'

type PublicJwk = TestIssuer['publicJwk']

// The sequences of events that could break the cache, each by its name. Time is virtual, and so is the endpoint.

describe('a cold start', () => {
  test('1,000 concurrent verifications: 1 request, and all are accepted', async () => {
    const { endpoint, verdict } = world()
    const verdicts = await Promise.all(
      Array.from({ length: 1000 }, async () => await verdict(oldToken)),
    )
    expect(new Set(verdicts)).toEqual(new Set(['accepted']))
    expect(endpoint.requests).toHaveLength(1)
  })

  test('1,000 requests to a dead endpoint: one attempt for those who wait, then 503', async () => {
    const { clock, endpoint, refusal, keys } = world()
    endpoint.mode = 'hanging'
    const waiting = Array.from({ length: 1000 }, async () => await refusal(oldToken))
    await clock.advance(5)
    expect(new Set(await Promise.all(waiting)).size).toBe(1)
    expect(await waiting[0]).toMatch(/^503 Retry-After,[12]$/)
    expect(endpoint.requests).toHaveLength(1)
    expect(keys.status()).toMatchObject({ freshness: 'empty', lastFailure: { reason: 'timeout' } })
  })

  test('an attempt that hung longer than the pause: the next caller starts another at once', async () => {
    const { clock, endpoint, verdict } = world()
    endpoint.mode = 'hanging'
    const first = verdict(oldToken)
    await clock.advance(5)
    expect(await first).toBe('timeout')
    endpoint.mode = 'up'
    expect(await verdict(oldToken)).toBe('accepted')
    expect(endpoint.requests).toEqual([0, 5])
  })

  test('an endpoint that stays dead: once the pause is longer than the deadline, 503 at once', async () => {
    const { clock, endpoint, verdict, refusal } = world()
    endpoint.mode = 'hanging'
    // Of the fourth attempt the pause is 8 s, give or take a fifth.
    for (let count = 0; count < 4; count++) {
      const waiting = verdict(oldToken)
      await clock.advance(5)
      expect(await waiting).toBe('timeout')
    }
    expect(await refusal(oldToken)).toMatch(/^503 Retry-After,[2345]$/)
    expect(endpoint.requests).toEqual([0, 5, 10, 15])
  })

  test('a dead endpoint that comes back is used with the first attempt after', async () => {
    const { clock, endpoint, verdict } = world()
    endpoint.mode = 'down'
    expect(await verdict(oldToken)).toBe('unreachable')
    endpoint.mode = 'up'
    await clock.advance(2)
    expect(await verdict(oldToken)).toBe('accepted')
  })

  test('a forged token that starts the cold fetch is answered by it', async () => {
    const { endpoint, verdict } = world()
    expect(await verdict(forged)).toBe('signature')
    expect(endpoint.requests).toHaveLength(1)
  })
})

function withKid(jwk: PublicJwk, kid: string | undefined): PublicJwk {
  const { kid: own, ...rest } = jwk
  if (kid === undefined || own === undefined) return rest
  return { ...rest, kid: kid === 'own' ? own : kid }
}

test('a verifier is ready after one request, and asks for nothing more while it is', async () => {
  const { clock, endpoint, keys } = world()
  const verifier = createVerifier({ keys, issuer: null, audience: null })
  await verifier.ready()
  await clock.advance(10)
  await verifier.ready()
  expect(endpoint.requests).toEqual([0])
})

describe('a rotation', () => {
  test.each<[string, (jwk: PublicJwk) => unknown, string | undefined]>([
    ['bare key, new kid', (jwk) => jwk, 'own'],
    ['bare key, same kid', (jwk) => withKid(jwk, 'k'), 'k'],
    ['bare key, no kid', (jwk) => withKid(jwk, undefined), undefined],
    ['set, new kid', (jwk) => ({ keys: [jwk] }), 'own'],
    ['set, same kid', (jwk) => ({ keys: [withKid(jwk, 'k')] }), 'k'],
    ['set, no kid', (jwk) => ({ keys: [withKid(jwk, undefined)] }), undefined],
  ])(
    '%s: the first new token is accepted, with 1 request, and old ones are not',
    async (_title, documentOf, kid) => {
      const { clock, endpoint, verdict } = world()
      const tokenWith = async (from: TestIssuer) =>
        await from.token(
          kid === undefined ? { omit: ['kid'] } : kid === 'own' ? {} : { header: { kid } },
        )
      endpoint.document = documentOf(A.publicJwk)
      const old = await tokenWith(A)
      expect(await verdict(old)).toBe('accepted')
      await clock.advance(60)
      endpoint.document = documentOf(B.publicJwk)
      expect(await verdict(await tokenWith(B))).toBe('accepted')
      expect(endpoint.requests).toHaveLength(2)
      expect(await verdict(old)).toMatch(/^(?:signature|unknown_key)$/)
      expect(endpoint.requests).toHaveLength(2)
    },
  )

  test('an older flight lands with the old key while a new-key token waits: one further attempt', async () => {
    const { clock, endpoint, verdict } = world()
    await verdict(oldToken)
    await clock.advance(400)
    endpoint.mode = 'hanging'
    expect(await verdict(oldToken)).toBe('accepted') // stale: the refresh is under way behind it
    await clock.advance(0.5)
    const waiting = verdict(newToken)
    endpoint.document = B.publicJwk
    await clock.advance(0.1)
    endpoint.release(A.publicJwk)
    endpoint.mode = 'up'
    await clock.advance(1)
    expect(await waiting).toBe('accepted')
    expect(endpoint.requests).toEqual([0, 400, 401])
  })

  test('an older flight that brings the new key is enough', async () => {
    const { clock, endpoint, verdict } = world()
    await verdict(oldToken)
    await clock.advance(400)
    endpoint.mode = 'hanging'
    await verdict(oldToken)
    await clock.advance(0.5)
    const waiting = verdict(newToken)
    await clock.advance(0.1)
    endpoint.release(B.publicJwk)
    expect(await waiting).toBe('accepted')
    expect(endpoint.requests).toHaveLength(2)
  })

  test('a stray forged token half a second before: the first new-key token waits for the next attempt', async () => {
    const { clock, endpoint, verdict } = world()
    await verdict(oldToken)
    await clock.advance(60)
    expect(await verdict(forged)).toBe('signature')
    await clock.advance(0.5)
    endpoint.document = B.publicJwk
    await clock.advance(0.1)
    const waiting = verdict(newToken)
    await clock.advance(0.39)
    expect(endpoint.requests).toHaveLength(2)
    await clock.advance(0.02)
    expect(await waiting).toBe('accepted')
    expect(endpoint.requests).toHaveLength(3)
  })

  test('3,000 waiting requests at a rotation: 1 request, and all are accepted', async () => {
    const { clock, endpoint, verdict } = world()
    await verdict(oldToken)
    await clock.advance(60)
    endpoint.mode = 'hanging'
    const waiting = Array.from({ length: 3000 }, async () => await verdict(newToken))
    await clock.advance(0.1)
    endpoint.release(B.publicJwk)
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['accepted']))
    expect(endpoint.requests).toHaveLength(2)
  })

  test('a refresh that lands between the keys and the check of one token is not missed, even when it may not ask', async () => {
    const { clock, endpoint, verdict, keys } = world()
    await verdict(oldToken)
    await clock.advance(60)
    for (const count of [1, 2, 3]) {
      await verdict(forgery())
      await clock.advance(2 ** count)
    }
    await verdict(forgery())
    endpoint.mode = 'hanging'
    await clock.advance(1)
    const refreshed = keys.refresh()
    await clock.advance(0.1)
    endpoint.release(B.publicJwk)
    const racing = verdict(newToken) // the ring it takes is the old one; the new one lands before it is tried
    await refreshed
    expect(await racing).toBe('accepted')
    expect(await verdict(oldToken)).toBe('signature')
  })

  test('a key that is published 2 s late: the same token is refused at 0 s and accepted at 4 s', async () => {
    const { clock, endpoint, verdict } = world()
    await verdict(oldToken)
    await clock.advance(60)
    expect(await verdict(newToken)).toBe('signature')
    await clock.advance(2)
    endpoint.document = B.publicJwk
    await clock.advance(1.9)
    expect(await verdict(newToken)).toBe('signature')
    expect(endpoint.requests).toEqual([0, 60])
    await clock.advance(0.1)
    expect(await verdict(newToken)).toBe('accepted')
    expect(endpoint.requests).toHaveLength(3)
  })

  test('a key that is published 2 s late: another token is accepted from then on', async () => {
    const { clock, endpoint, verdict } = world()
    await verdict(oldToken)
    await clock.advance(60)
    expect(await verdict(newToken)).toBe('signature')
    await clock.advance(2)
    endpoint.document = B.publicJwk
    expect(await verdict(await tokenOf(B))).toBe('accepted')
    expect(await verdict(newToken)).toBe('accepted')
    expect(endpoint.requests).toEqual([0, 60, 62])
  })
})

test.each<[string, Partial<VerifierOptions>, wanted: string, other: string]>([
  ['a type of token', { type: 'at+jwt' }, 'at+jwt', 'JWT'],
  ['one of two types', { type: ['at+jwt', 'txntoken+jwt'] }, 'txntoken+jwt', 'logout+jwt'],
  ['no other kind of token', {}, 'JWT', 'logout+jwt'],
])(
  'a rotation, where the verifier wants %s: the first new token is accepted',
  async (_, rules, wanted, other) => {
    const { clock, endpoint, verdict } = world({}, rules)
    const typed = { header: { typ: wanted } }
    expect(await verdict(await tokenOf(A, typed))).toBe('accepted')
    await clock.advance(60)
    endpoint.document = B.publicJwk
    expect(await verdict(await tokenOf(B, { header: { typ: other } }))).toBe('signature')
    expect(endpoint.requests).toHaveLength(1)
    expect(await verdict(await tokenOf(B, typed))).toBe('accepted')
    expect(endpoint.requests).toHaveLength(2)
  },
)

describe('forged tokens', () => {
  test('10,000 with random kids, then 10,000 with a known one: a few requests, and nobody genuine waits', async () => {
    const { clock, endpoint, verdict } = world()
    endpoint.document = { keys: [A.publicJwk] }
    await verdict(oldToken)
    await clock.advance(60)
    const [, payload, signature] = forged.split('.')
    const known = A.publicJwk.kid
    const forgedWith = (kid: string | undefined) =>
      [
        Buffer.from(JSON.stringify({ alg: 'RS512', kid })).toString('base64url'),
        payload,
        signature,
      ].join('.')
    const verdicts: Promise<string>[] = []
    const genuine: string[] = []
    for (let second = 0; second < 100; second++) {
      for (let count = 0; count < 200; count++) {
        verdicts.push(verdict(forgedWith(second < 50 ? String(Math.random()) : known)))
      }
      genuine.push(await verdict(oldToken))
      // Signatures are checked in real time, which virtual time must not outrun.
      await emptyThreadPool()
      await clock.advance(1)
    }
    expect(new Set(genuine)).toEqual(new Set(['accepted']))
    await clock.advance(20)
    expect(new Set(await Promise.all(verdicts))).toEqual(new Set(['unknown_key', 'signature']))
    const asked = endpoint.requests.filter((time) => time >= 60)
    expect(asked.filter((time) => time < 61)).toHaveLength(1)
    expect(asked.filter((time) => time < 61.5).length).toBeLessThanOrEqual(2)
    expect(asked.filter((time) => time >= 90 && time < 150).length).toBeLessThanOrEqual(5)
  })

  test('a rotation in the middle of a flood heals within 15 s, with no old-key token refused before', async () => {
    const { clock, endpoint, verdict } = world()
    await verdict(oldToken)
    const flood = async (seconds: number) => {
      for (let step = 0; step < seconds * 4; step++) {
        void verdict(forgery())
        await clock.advance(0.25)
      }
    }
    await flood(60)
    expect(await verdict(oldToken)).toBe('accepted')
    endpoint.document = B.publicJwk
    await flood(15.5)
    expect(await verdict(newToken)).toBe('accepted')
  })

  test('for 10 minutes: 4 requests at first, then 4 or 5 a minute', async () => {
    const { clock, endpoint, verdict } = world({ maxAge: 3600 })
    await verdict(oldToken)
    await clock.advance(60)
    const verdicts: Promise<string>[] = []
    for (let step = 0; step < 10 * 60 * 4; step++) {
      verdicts.push(verdict(forgery()))
      await clock.advance(0.25)
    }
    await clock.advance(20)
    expect(new Set(await Promise.all(verdicts))).toEqual(new Set(['signature']))
    const asked = endpoint.requests.slice(1)
    const between = (from: number, to: number) =>
      asked.filter((time) => time >= 60 + from && time < 60 + to).length
    expect(between(0, 9)).toBe(4)
    for (let minute = 1; minute < 10; minute++) {
      expect(between(60 * minute, 60 * minute + 60)).toBeGreaterThanOrEqual(4)
      expect(between(60 * minute, 60 * minute + 60)).toBeLessThanOrEqual(5)
    }
  })

  test('a rotation in a flood, with an endpoint that takes 4.9 s: heals within 15 s and a round trip', async () => {
    const { clock, endpoint, verdict } = world({ maxAge: 3600 })
    await verdict(oldToken)
    endpoint.delay = 4.9
    const flood = async (seconds: number) => {
      for (let step = 0; step < seconds * 4; step++) {
        void verdict(forgery())
        await clock.advance(0.25)
      }
    }
    await flood(60)
    endpoint.document = B.publicJwk
    await flood(20)
    expect(await verdict(newToken)).toBe('accepted')
    const gaps = endpoint.requests
      .slice(5)
      .map((time, at) => time - (endpoint.requests[at + 4] ?? 0))
    // As often as without the delay.
    expect(Math.max(...gaps)).toBeLessThan(15)
  })

  test('one each 15 s for 10 minutes, then a rotation: the first new token is accepted at once', async () => {
    const { clock, endpoint, verdict } = world()
    await verdict(oldToken)
    for (let count = 0; count < 40; count++) {
      await clock.advance(15)
      expect(await verdict(forgery())).toBe('signature')
    }
    await clock.advance(1)
    endpoint.document = B.publicJwk
    const requests = endpoint.requests.length
    expect(await verdict(newToken)).toBe('accepted')
    expect(endpoint.requests).toHaveLength(requests + 1)
  })

  test.each<[string, Partial<VerifierOptions>, TokenOptions]>([
    ['expired', {}, { expiresIn: -600 }],
    ['not yet valid', {}, { notBefore: 600 }],
    ['of a wrong issuer', { issuer: 'https://issuer.test' }, {}],
    ['of a wrong audience', { audience: 'api' }, {}],
    ['of a wrong type', { type: 'at+jwt' }, {}],
    ['of no type of a list', { type: ['at+jwt', 'txntoken+jwt'] }, {}],
    ['of another kind, without a stated type', {}, { header: { typ: 'logout+jwt' } }],
    ['with a payload that is no JSON', {}, { payload: 'text' }],
    ['of an algorithm that is not listed', { algorithms: ['RS256'] }, {}],
  ])('a token %s asks for nothing, however often', async (_title, rules, options) => {
    const { clock, endpoint, verdict, keys } = world({}, rules)
    await keys.refresh()
    for (let count = 0; count < 20; count++) {
      await clock.advance(1)
      expect(
        await verdict(
          await stranger.token({ ...options, header: { ...options.header, n: count } }),
        ),
      ).not.toBe('accepted')
    }
    expect(endpoint.requests).toHaveLength(1)
  })

  test('a stray one every 20 s does not delay a rotation', async () => {
    const { clock, endpoint, verdict } = world()
    await verdict(oldToken)
    for (let count = 0; count < 30; count++) {
      await clock.advance(20)
      expect(await verdict(forgery())).toBe('signature')
    }
    await clock.advance(0.5)
    endpoint.document = B.publicJwk
    const pending = verdict(newToken)
    await clock.advance(1)
    expect(await pending).toBe('accepted')
  })

  test('small ones take up more room than their octets', async () => {
    const { clock, endpoint, verdict } = world()
    await verdict(oldToken)
    await clock.advance(60)
    endpoint.mode = 'hanging'
    const [header, payload] = forged.split('.')
    const small = `${header}.${payload}.AAAA`
    const waiting = Array.from({ length: 8000 }, async () => await verdict(small))
    await clock.advance(0.1)
    endpoint.release()
    const verdicts = await Promise.all(waiting)
    const room = Math.floor((24 * 1024 * 1024) / (small.length + 6 * 1024))
    expect(verdicts.filter((word) => word === 'signature')).toHaveLength(room)
    expect(verdicts.filter((word) => word === 'timeout')).toHaveLength(8000 - room)
  })

  test('the same one asks again after 4 s, then at intervals that double', async () => {
    const { clock, endpoint, verdict } = world({ maxAge: 3600 })
    await verdict(oldToken)
    await clock.advance(9)
    for (let count = 0; count < 300; count++) {
      await clock.advance(1)
      expect(await verdict(forged)).toBe('signature')
    }
    expect(endpoint.requests).toEqual([0, 10, 14, 22, 38, 70, 134, 262])
  })

  test('a client that polls with a token of another environment does not delay a rotation', async () => {
    const { clock, endpoint, verdict } = world()
    await verdict(oldToken)
    for (let count = 0; count < 60; count++) {
      await clock.advance(10)
      expect(await verdict(forged)).toBe('signature')
    }
    await clock.advance(5)
    endpoint.document = B.publicJwk
    const requests = endpoint.requests.length
    expect(await verdict(newToken)).toBe('accepted')
    expect(endpoint.requests.length - requests).toBe(1)
  })

  test('24 MiB of them wait, the next is told at once to come again', async () => {
    const { clock, endpoint, verdict, refusal } = world({}, { maxTokenSize: 65_536 })
    await verdict(oldToken)
    await clock.advance(60)
    endpoint.mode = 'hanging'
    const large = await tokenOf(stranger, { claims: { filler: 'x'.repeat(40_000) } })
    const fit = Math.floor((24 * 1024 * 1024) / (large.length + 6 * 1024))
    const waiting: Promise<string>[] = []
    for (let count = 0; count < fit; count++) {
      // Each in an iteration of its own, so that no signature is checked on another thread, which no clock waits for.
      waiting.push(verdict(large))
      await nextIteration()
    }
    await clock.advance(0.1)
    expect(await refusal(large)).toBe('503 Retry-After,1')
    expect(await verdict(oldToken)).toBe('accepted')
    endpoint.release()
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['signature']))
    await clock.advance(60)
    endpoint.mode = 'up'
    expect(await verdict(newToken)).toBe('signature') // there is room again
  })
})

describe('what a fetch may do', () => {
  test.each<[string, () => unknown]>([
    ['answers with nothing', () => undefined],
    [
      'answers with headers that are numbers',
      () => ({ status: 503, url: '', redirected: false, headers: { get: () => 7 }, body: null }),
    ],
    [
      'throws before it promises anything',
      () => {
        throw new Error('a fault')
      },
    ],
  ])('one that %s is a failed attempt, and the next one starts', async (_title, answer) => {
    let calls = 0
    const { clock, verdict, keys } = world({
      fetch: (async () => {
        calls += 1
        return await answer()
      }) as RemoteKeysOptions['fetch'],
    })
    expect(await verdict(oldToken)).toBe('unreachable')
    expect(keys.status()).toMatchObject({
      isFetching: false,
      lastFailure: { reason: 'unreachable' },
    })
    await clock.advance(2)
    expect(await verdict(oldToken)).toBe('unreachable')
    expect(calls).toBe(2)
  })

  test('headers that throw where nobody expects it do not stop the cache', async () => {
    let calls = 0
    const { clock, verdict } = world({
      fetch: (async () => {
        calls += 1
        const document = Response.json(A.publicJwk)
        return {
          status: 200,
          url: '',
          redirected: false,
          headers: { get: () => ['max-age'] },
          body: document.body,
        }
      }) as unknown as RemoteKeysOptions['fetch'],
    })
    expect(await verdict(oldToken)).toBe('accepted')
    await clock.advance(700)
    expect(await verdict(oldToken)).toBe('accepted')
    expect(calls).toBe(2)
  })
})

test('a document that cannot be loaded at all is a failed attempt, and the next one starts', async () => {
  const clock = manualClock()
  const options = {
    maxAge: undefined,
    staleWhileRevalidate: 300,
    staleIfError: 3600,
    overlap: 0,
    timeout: 5,
    clock,
    url: 'https://auth.test/key',
  }
  let calls = 0
  const keys = followKeys(async () => {
    calls++
    throw new Error('a fault')
  }, options)
  for (const count of [1, 2]) {
    await expect(keys.refresh()).rejects.toMatchObject({ reason: 'bad_document' })
    expect(keys.status()).toMatchObject({ isFetching: false })
    expect(calls).toBe(count)
    await clock.advance(2)
  }
})

describe('tokens of an old key', () => {
  test.each([
    ['with iat', {}],
    ['without iat', { omit: ['iat'] }],
  ])(
    '%s, for an hour after the rotation: hardly a request beyond the regular ones',
    async (_title, options) => {
      const { clock, endpoint, verdict } = world()
      await verdict(oldToken)
      await clock.advance(60)
      endpoint.document = B.publicJwk
      expect(await verdict(newToken)).toBe('accepted')
      const before = endpoint.requests.length
      for (let count = 0; count < 360; count++) {
        await clock.advance(10)
        expect(await verdict(await A.token({ ...options, claims: { jti: String(count) } }))).toBe(
          'signature',
        )
        expect(await verdict(newToken)).toBe('accepted')
      }
      const regular = Math.ceil(3600 / 270)
      expect(endpoint.requests.length - before).toBeLessThanOrEqual(regular + 5)
    },
  )
})

/** A world in which A was replaced by B at 60 s, with what tokens of A do from then on. */
async function rotated(more: RemoteKeysOptions = {}) {
  const { clock, endpoint, verdict, ...rest } = world({ maxAge: 3600, ...more })
  await verdict(oldToken)
  await clock.advance(60)
  endpoint.document = B.publicJwk
  expect(await verdict(newToken)).toBe('accepted')
  /** Presents new tokens of A each second, and answers with the seconds since the rotation when one is accepted. */
  async function firstAccepted(
    seconds: number,
    options: TokenOptions,
  ): Promise<number | undefined> {
    for (let second = 0; second <= seconds; second++) {
      if ((await verdict(await tokenOf(A, options))) === 'accepted') return clock.monotonic() - 60
      await clock.advance(1)
    }
    return undefined
  }
  const issuedNow = () => tokenOf(A, { claims: { iat: clock.now() } })
  return { clock, endpoint, verdict, firstAccepted, issuedNow, ...rest }
}

describe('a roll-back', () => {
  test('within 15 s: a token that was issued after it is accepted at once, with 1 request', async () => {
    const { clock, endpoint, verdict, issuedNow } = await rotated()
    await clock.advance(10)
    endpoint.document = A.publicJwk
    expect(await verdict(await issuedNow())).toBe('accepted')
    expect(endpoint.requests).toEqual([0, 60, 70])
    expect(await verdict(oldToken)).toBe('accepted')
    expect(endpoint.requests).toHaveLength(3)
  })

  test.each<[string, TokenOptions]>([
    ['without iat', { omit: ['iat'] }],
    ['with an old iat', {}],
  ])('within 15 s: tokens %s are accepted after 15 s', async (_title, options) => {
    const { clock, endpoint, firstAccepted } = await rotated()
    await clock.advance(5)
    endpoint.document = A.publicJwk
    expect(await firstAccepted(60, options)).toBe(15)
    expect(endpoint.requests).toEqual([0, 60, 75])
  })

  test('a token that was issued within the tolerance of the clocks is an old one', async () => {
    const { clock, endpoint, verdict, issuedNow } = await rotated()
    endpoint.document = A.publicJwk
    await clock.advance(5)
    expect(await verdict(await issuedNow())).toBe('signature')
    await clock.advance(1)
    expect(await verdict(await issuedNow())).toBe('accepted')
    expect(endpoint.requests).toEqual([0, 60, 66])
  })

  test('after 10 minutes of old tokens: the first that was issued after it is accepted, with 1 request', async () => {
    const { clock, endpoint, verdict, firstAccepted, issuedNow } = await rotated()
    expect(await firstAccepted(599, {})).toBeUndefined()
    endpoint.document = A.publicJwk
    const before = endpoint.requests.length
    expect(await verdict(oldToken)).toBe('signature')
    expect(endpoint.requests).toHaveLength(before)
    expect(await verdict(await issuedNow())).toBe('accepted')
    expect(endpoint.requests).toHaveLength(before + 1)
    expect(clock.monotonic()).toBe(660)
    expect(await verdict(oldToken)).toBe('accepted')
  })

  test('after 10 minutes of old tokens: those are accepted when their key may be asked for again', async () => {
    const { endpoint, firstAccepted } = await rotated()
    expect(await firstAccepted(599, {})).toBeUndefined()
    const sinceRotation = () => endpoint.requests.slice(2).map((time) => time - 60)
    expect(sinceRotation()).toEqual([15, 45, 105, 225, 465])
    endpoint.document = A.publicJwk
    expect(await firstAccepted(600, {})).toBe(945)
    expect(sinceRotation()).toEqual([15, 45, 105, 225, 465, 945])
  })

  test('the intervals end at maxAge', async () => {
    const { endpoint, firstAccepted, keys } = await rotated({ maxAge: 200 })
    expect(await firstAccepted(599, {})).toBeUndefined()
    endpoint.document = A.publicJwk
    const accepted = await firstAccepted(600, {})
    expect(accepted).toBeLessThanOrEqual(600 + (keys.status().maxAge ?? 0) + 1)
  })

  test('a replica that lags and serves the old key once: new tokens are accepted again within 15 s', async () => {
    const { clock, endpoint, verdict } = await rotated()
    await clock.advance(60)
    endpoint.document = A.publicJwk
    expect(await verdict(forgery())).toBe('signature')
    expect(await verdict(oldToken)).toBe('accepted')
    endpoint.document = B.publicJwk
    for (let second = 0; second < 15; second++) {
      expect(await verdict(newToken)).toBe('signature')
      await clock.advance(1)
    }
    expect(await verdict(newToken)).toBe('accepted')
    expect(endpoint.requests).toEqual([0, 60, 120, 135])
    expect(await verdict(oldToken)).toBe('signature')
  })

  test('tokens that were issued after the key left and ask in vain do not make old ones wait', async () => {
    const { clock, endpoint, verdict, firstAccepted, issuedNow } = await rotated()
    await clock.advance(6)
    for (let count = 0; count < 3; count++) {
      await clock.advance(1)
      expect(await verdict(await issuedNow())).toBe('signature')
    }
    endpoint.document = A.publicJwk
    await clock.advance(4)
    expect(await firstAccepted(60, {})).toBe(15)
  })

  test('our clock was an hour fast when the key left: tokens issued after the roll-back count as old ones', async () => {
    const { clock, endpoint, verdict } = world({ maxAge: 3600 })
    await verdict(oldToken)
    const right = clock.now()
    await clock.advance(60)
    clock.set(right + 3660)
    endpoint.document = B.publicJwk
    expect(await verdict(newToken)).toBe('accepted')
    clock.set(right + 60)
    endpoint.document = A.publicJwk
    await clock.advance(14)
    const token = await tokenOf(A, { claims: { iat: clock.now() } })
    expect(await verdict(token)).toBe('signature')
    await clock.advance(1)
    expect(await verdict(token)).toBe('accepted')
  })

  test('a replica that lags: a token that was issued after it is accepted at once', async () => {
    const { clock, endpoint, verdict } = await rotated()
    await clock.advance(60)
    endpoint.document = A.publicJwk
    expect(await verdict(forgery())).toBe('signature')
    endpoint.document = B.publicJwk
    await clock.advance(6)
    expect(await verdict(await tokenOf(B, { claims: { iat: clock.now() } }))).toBe('accepted')
    expect(endpoint.requests).toEqual([0, 60, 120, 126])
  })
})

describe('two keys', () => {
  test('served in turn, without overlap: each document decides', async () => {
    const { clock, endpoint, verdict } = world()
    for (const [document, good, bad] of [
      [A.publicJwk, oldToken, newToken],
      [B.publicJwk, newToken, oldToken],
      [A.publicJwk, oldToken, newToken],
    ] as const) {
      await clock.advance(400)
      endpoint.document = document
      await verdict(good)
      await clock.advance(0)
      expect(await verdict(good)).toBe('accepted')
      expect(await verdict(bad)).toBe('signature')
    }
  })

  test('served in turn, with overlap: both are trusted', async () => {
    const { clock, endpoint, verdict, keys } = world({ overlap: 600 })
    for (const document of [A.publicJwk, B.publicJwk, A.publicJwk, B.publicJwk]) {
      endpoint.document = document
      await keys.refresh()
      await clock.advance(100)
    }
    const requests = endpoint.requests.length
    expect(await verdict(oldToken)).toBe('accepted')
    expect(await verdict(newToken)).toBe('accepted')
    expect(endpoint.requests).toHaveLength(requests)
  })

  test('a set that becomes bare: the token that asks is tried again, whatever its kid', async () => {
    const { clock, endpoint, verdict } = world()
    endpoint.document = { keys: [A.publicJwk] }
    await verdict(oldToken)
    await clock.advance(10)
    endpoint.document = A.publicJwk
    expect(await verdict(await A.token({ header: { kid: 'another' } }))).toBe('accepted')
    expect(endpoint.requests).toHaveLength(2)
  })

  test('an outage longer than every limit ends an overlap before it begins', async () => {
    const { clock, endpoint, verdict } = world({ overlap: 86_400 })
    await verdict(oldToken)
    endpoint.mode = 'down'
    await clock.advance(3 * 86_400)
    expect(await verdict(oldToken)).toBe('unreachable')
    endpoint.mode = 'up'
    endpoint.document = B.publicJwk
    await clock.advance(60)
    expect(await verdict(await B.token({ expiresIn: 1_000_000 }))).toBe('accepted')
    expect(await verdict(await A.token({ expiresIn: 1_000_000 }))).toBe('signature')
  })

  test('an overlap ends by the clock, not by the next document', async () => {
    const { clock, endpoint, verdict, keys } = world({ overlap: 60, maxAge: 3000 })
    await verdict(oldToken)
    await clock.advance(10)
    endpoint.document = B.publicJwk
    await keys.refresh()
    await clock.advance(59)
    expect(await verdict(oldToken)).toBe('accepted')
    await clock.advance(2)
    expect(await verdict(oldToken)).toBe('signature')
    expect(keys.status().retired).toEqual([A.publicJwk.kid])
    // The overlap is longer than tokens of a retired key have to wait before they may ask.
    expect(endpoint.requests).toEqual([0, 10, 71])
    expect(await verdict(oldToken)).toBe('signature')
    expect(endpoint.requests).toHaveLength(3)
  })

  test('a balancer that goes back to the old key: it is trusted again, and the other is not', async () => {
    const { clock, endpoint, verdict, keys } = world()
    await verdict(oldToken)
    for (const document of [B.publicJwk, A.publicJwk]) {
      await clock.advance(10)
      endpoint.document = document
      await keys.refresh()
    }
    expect(await verdict(oldToken)).toBe('accepted')
    expect(await verdict(newToken)).toBe('signature')
  })
})

describe('documents', () => {
  test.each([
    ['a set without keys', { keys: [] }],
    ['the same modulus, re-published with use: enc', { ...A.publicJwk, use: 'enc' }],
    ['an empty object', {}],
  ])('%s is a failed attempt: the ring in use stays', async (_title, document) => {
    const { clock, endpoint, verdict, keys } = world()
    await verdict(oldToken)
    await clock.advance(400)
    endpoint.document = document
    await verdict(oldToken)
    await clock.advance(0)
    expect(keys.status()).toMatchObject({
      freshness: 'stale',
      lastFailure: { reason: 'bad_document' },
    })
    expect(await verdict(oldToken)).toBe('accepted')
    expect(await verdict(newToken)).toBe('bad_document')
  })

  test('a key that a set re-publishes for encryption has left', async () => {
    const { clock, endpoint, verdict, keys } = world()
    await verdict(oldToken)
    await clock.advance(10)
    endpoint.document = { keys: [{ ...A.publicJwk, use: 'enc' }, B.publicJwk] }
    await keys.refresh()
    expect(await verdict(oldToken)).toBe('unknown_key')
    expect(keys.status()).toMatchObject({ retired: [A.publicJwk.kid], skippedKeys: 1 })
  })

  test('one modulus listed twice for two algorithms is trusted for both', async () => {
    const { endpoint, verdict } = world({}, { algorithms: ['RS256', 'RS512'] })
    endpoint.document = {
      keys: [
        { ...A.publicJwk, kid: '256', alg: 'RS256' },
        { ...A.publicJwk, kid: '512', alg: 'RS512' },
      ],
    }
    expect(await verdict(await A.token({ header: { kid: '512' } }))).toBe('accepted')
    expect(await verdict(await A.token({ header: { kid: '256' } }))).toBe('unknown_key')
  })

  test('max-age=60 with Age: 4000 is fresh for a minute', async () => {
    const { clock, endpoint, verdict, keys } = world()
    endpoint.headers = { 'cache-control': 'max-age=60', age: '4000' }
    await verdict(oldToken)
    expect(keys.status().freshness).toBe('fresh')
    await clock.advance(53)
    expect(keys.status().freshness).toBe('fresh')
    await clock.advance(14)
    expect(keys.status().freshness).toBe('stale')
  })

  test('more keys than are tried are reported', async () => {
    const { endpoint, keys } = world()
    const many = await Promise.all(
      Array.from({ length: 10 }, async () => (await issuer()).publicJwk),
    )
    endpoint.document = { keys: many }
    await keys.refresh()
    expect(keys.status()).toMatchObject({ untriedKeys: 2, skippedKeys: 0 })
  })
})

describe('clocks', () => {
  test('a wall clock an hour fast at the fetch, and corrected after, makes no key look younger', async () => {
    const { clock, verdict, keys } = world()
    const right = clock.now()
    clock.set(right + 3600)
    await verdict(oldToken)
    clock.set(right)
    await clock.advance(331)
    expect(keys.status().freshness).toBe('stale')
  })

  test('a laptop that slept asks before it trusts', async () => {
    const { clock, endpoint, verdict } = world()
    await verdict(oldToken)
    await clock.advance(10)
    clock.set(clock.now() + 8 * 3600)
    endpoint.document = B.publicJwk
    expect(await verdict(oldToken)).toBe('signature')
    expect(endpoint.requests).toEqual([0, 10])
  })

  test('a wall clock that is set during the first fetch: its keys are used all the same', async () => {
    const { clock, endpoint, verdict } = world()
    endpoint.mode = 'hanging'
    const pending = verdict(oldToken)
    await clock.advance(0.1)
    clock.set(clock.now() + 7200)
    const token = await A.token({ claims: { iat: clock.now() }, expiresIn: 90_000 })
    endpoint.release()
    expect(await pending).toBe('accepted')
    endpoint.mode = 'up'
    await clock.advance(1)
    expect(await verdict(token)).toBe('accepted')
    expect(endpoint.requests).toHaveLength(2)
  })

  test('one that steps right after a fetch, with an endpoint that hangs: 503, and the old ring once that has failed', async () => {
    const { clock, endpoint, verdict } = world()
    await verdict(oldToken)
    endpoint.mode = 'hanging'
    clock.set(clock.now() + 1000)
    const pending = verdict(oldToken)
    await clock.advance(5)
    expect(await pending).toBe('timeout') // it waited 1 s before the attempt could start
    await clock.advance(1)
    expect(await verdict(oldToken)).toBe('accepted')
    expect(endpoint.requests.slice(0, 2)).toEqual([0, 1])
  })

  test('a laptop that slept right after the fetch waits for the next attempt', async () => {
    const { clock, endpoint, verdict } = world()
    await verdict(oldToken)
    clock.set(clock.now() + 8 * 3600)
    const pending = Promise.all([verdict(oldToken), verdict(oldToken)])
    await clock.advance(1)
    expect(await pending).toEqual(['accepted', 'accepted'])
    expect(endpoint.requests).toEqual([0, 1])
  })
})

describe('an endpoint that is down, with keys known', () => {
  test.each(['down', 'hanging'] as const)(
    '%s for an hour: every genuine token is accepted at once',
    async (mode) => {
      const { clock, endpoint, verdict, refusal } = world()
      await verdict(oldToken)
      endpoint.mode = mode
      const start = clock.monotonic()
      const waits: number[] = []
      while (clock.monotonic() < start + 3600) {
        const asked = clock.monotonic()
        let answered: number | undefined
        const pending = verdict(oldToken).then((word) => {
          answered = clock.monotonic()
          expect(word).toBe('accepted')
        })
        await clock.advance(1)
        if (answered === undefined) await clock.advance(5)
        await pending
        waits.push((answered ?? Infinity) - asked)
      }
      // A ring that is stale has seen the failure already; nobody waits, not even at the expiry.
      expect(Math.max(...waits)).toBe(0)
      const attempts = endpoint.requests.slice(1)
      const settled = attempts.filter((time) => time > start + 500)
      const gaps = settled.slice(1).map((time, at) => time - (settled[at] ?? 0))
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(24)
      expect(attempts.length).toBeLessThanOrEqual(160)
      const pending = refusal(newToken)
      await clock.advance(6)
      expect(await pending).toMatch(/^503 Retry-After,\d+$/)
    },
  )

  test('an expired ring waits for one attempt, and for no second one', async () => {
    const { clock, endpoint, verdict } = world()
    await verdict(oldToken)
    await clock.advance(1000)
    endpoint.mode = 'hanging'
    let answers = 0
    const pending = verdict(oldToken).then((word) => {
      answers += 1
      return word
    })
    await clock.advance(4.9)
    expect(answers).toBe(0)
    await clock.advance(0.2)
    expect(await pending).toBe('accepted')
    await clock.advance(60)
    expect(await verdict(oldToken)).toBe('accepted')
    expect(endpoint.requests).toHaveLength(3)
  })

  test('an expired ring waits for one attempt, also while time goes on between two looks at the clock', async () => {
    const manual = manualClock()
    let looks = 0
    const monotonic = () => manual.monotonic() + ++looks * 1e-5
    const { endpoint, verdict } = world({ clock: { ...manual, monotonic } })
    await verdict(oldToken)
    await manual.advance(1000)
    endpoint.mode = 'hanging'
    const pending = verdict(oldToken)
    await manual.advance(5.1)
    expect(await pending).toBe('accepted')
  })

  test.each([
    ['while stale', 400],
    ['after the expiry', 700],
  ])(
    'a blip %s, then an idle hour and a rotation: the first request is not judged by the old ring',
    async (_title, blip) => {
      const { clock, endpoint, verdict, keys } = world()
      await verdict(oldToken)
      await clock.advance(blip)
      endpoint.mode = 'down'
      expect(await verdict(oldToken)).toBe('accepted')
      await clock.advance(3800 - blip)
      expect(keys.status()).toMatchObject({
        freshness: 'expired',
        lastFailure: { reason: 'unreachable' },
      })
      endpoint.mode = 'up'
      endpoint.document = B.publicJwk
      expect(await verdict(oldToken)).toBe('signature')
      expect(endpoint.requests).toEqual([0, blip, 3800])
      expect(await verdict(newToken)).toBe('accepted')
    },
  )

  test('a blip, then an idle hour, and a full waiting room: 503, never the old ring', async () => {
    const { clock, endpoint, verdict, refusal, keys } = world({}, { maxTokenSize: 65_536 })
    await verdict(oldToken)
    await clock.advance(400)
    endpoint.mode = 'down'
    await verdict(oldToken)
    await clock.advance(3400)
    endpoint.mode = 'hanging'
    endpoint.document = B.publicJwk
    const large = await tokenOf(stranger, { claims: { filler: 'x'.repeat(40_000) } })
    const fit = Math.floor((24 * 1024 * 1024) / (large.length + 6 * 1024))
    const waiting = Array.from({ length: fit }, async () => await verdict(large))
    expect(await refusal(large)).toBe('503 Retry-After,1')
    // What is left has no room for as many small ones as this.
    const small = Array.from({ length: 10 }, async () => await verdict(oldToken))
    await clock.advance(0)
    expect(keys.status().freshness).toBe('expired')
    expect(await refusal(oldToken)).toBe('503 Retry-After,1')
    endpoint.release()
    expect(new Set(await Promise.all(small))).toEqual(new Set(['signature', 'timeout']))
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['signature']))
  })

  test('longer than maxAge + staleIfError: 503 for all, and the first good answer heals', async () => {
    const { clock, endpoint, verdict, refusal } = world()
    await verdict(oldToken)
    endpoint.mode = 'down'
    for (let count = 0; count < 66; count++) {
      await clock.advance(60)
      await verdict(oldToken)
    }
    expect(await refusal(oldToken)).toMatch(/^503 Retry-After,\d+$/)
    endpoint.mode = 'up'
    await clock.advance(LONGEST_PAUSE)
    expect(await verdict(oldToken)).toBe('accepted')
  })

  test('new-key tokens are told 503, old-key tokens of a retired key 401', async () => {
    const { clock, endpoint, verdict, keys } = world()
    await verdict(oldToken)
    await clock.advance(10)
    endpoint.document = B.publicJwk
    await keys.refresh()
    endpoint.mode = 'down'
    await clock.advance(10)
    const newest = await tokenOf(C)
    expect(await verdict(newest)).toBe('unreachable')
    expect(await verdict(newest)).toBe('unreachable')
    expect(await verdict(oldToken)).toBe('signature')
    endpoint.mode = 'up'
    endpoint.document = C.publicJwk
    await clock.advance(10)
    expect(await verdict(newest)).toBe('accepted') // that it has asked in vain is not held against it
  })
})

describe('a slow endpoint', () => {
  test('while stale, no verification waits', async () => {
    const { clock, endpoint, verdict } = world()
    await verdict(oldToken)
    await clock.advance(400)
    endpoint.mode = 'hanging'
    for (let count = 0; count < 20; count++) {
      expect(await verdict(oldToken)).toBe('accepted')
      await clock.advance(0.1)
    }
    endpoint.release()
    expect(endpoint.requests).toHaveLength(2)
  })

  test('a caller who gives up leaves the others waiting, and gets its own reason', async () => {
    const { clock, endpoint, verdict } = world()
    endpoint.mode = 'hanging'
    const controller = new AbortController()
    const impatient = createVerdict(controller.signal)
    const patient = verdict(oldToken)
    await clock.advance(0.1)
    controller.abort(new Error('gone'))
    await expect(impatient).resolves.toBe(undefined)
    endpoint.release()
    expect(await patient).toBe('accepted')
    expect(endpoint.requests).toHaveLength(1)

    async function createVerdict(signal: AbortSignal): Promise<string | undefined> {
      return await verdict(oldToken, signal)
    }
  })

  test('a caller who has given up before does not wait at all', async () => {
    const { clock, endpoint, keys } = world()
    endpoint.mode = 'hanging'
    const verifier = createVerifier({ keys, issuer: null, audience: null, clock })
    const gone = new Error('gone')
    await expect(verifier.verify(oldToken, { signal: AbortSignal.abort(gone) })).rejects.toBe(gone)
    await expect(
      verifier.verify(await tokenOf(A), { signal: AbortSignal.abort(gone) }),
    ).rejects.toBe(gone)
  })

  test('a cold start and a suspicion together wait no longer than the timeout', async () => {
    const { clock, endpoint, verdict } = world()
    endpoint.mode = 'hanging'
    void verdict(oldToken)
    await clock.advance(2)
    const start = clock.monotonic()
    const pending = verdict(forged).then((word) => [word, clock.monotonic() - start])
    await clock.advance(2.9)
    endpoint.release()
    await clock.advance(9)
    expect(await pending).toEqual(['timeout', 5])
  })

  test('a suspicion waits no longer than the timeout', async () => {
    const { clock, endpoint, verdict, refusal } = world()
    await verdict(oldToken)
    await clock.advance(400)
    endpoint.mode = 'hanging'
    await verdict(oldToken)
    await clock.advance(3)
    const pending = refusal(newToken)
    await clock.advance(5)
    expect(await pending).toMatch(/^503 Retry-After,[12]$/)
  })
})

/** A world that loses the timers of its cache, as long as it is told to. */
function losing() {
  const clock = manualClock()
  const timers = { areLost: true }
  const keys = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    after: (seconds: number, fn: () => void) =>
      timers.areLost ? () => {} : clock.after(seconds, fn),
  }
  return {
    ...world({ clock: keys }),
    timers,
    elapse: async (s: number) => await clock.advance(s),
  }
}

/** A world that counts its timers. */
function watched() {
  const clock = manualClock()
  const timers = new Set<object>()
  const counting = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    after(seconds: number, fn: () => void) {
      const timer = {}
      timers.add(timer)
      const cancel = clock.after(seconds, () => {
        timers.delete(timer)
        fn()
      })
      return () => {
        timers.delete(timer)
        cancel()
      }
    },
  }
  return { ...world({ clock: counting }), clock, timersOf: () => timers.size }
}

describe('an attempt that never settles, since its platform has stopped the timers of a request', () => {
  test('is given up a second after its deadline, and the next caller starts another', async () => {
    const { endpoint, verdict, keys, timers, elapse } = losing()
    endpoint.mode = 'hanging'
    void verdict(oldToken)
    await elapse(5.9)
    expect(keys.status().isFetching).toBe(true)
    await elapse(0.2)
    expect(keys.status().isFetching).toBe(false)
    endpoint.mode = 'up'
    timers.areLost = false
    expect(await verdict(oldToken)).toBe('accepted')
    expect(endpoint.requests).toHaveLength(2)
  })

  test('changes nothing if it settles after all, before or after the one that followed it', async () => {
    const { endpoint, verdict, keys, timers, elapse } = losing()
    endpoint.mode = 'hanging'
    const lost = verdict(oldToken)
    await elapse(7)
    timers.areLost = false
    const waiting = verdict(newToken)
    endpoint.release(A.publicJwk)
    await elapse(0)
    expect(keys.status()).toMatchObject({ freshness: 'empty', isFetching: true })
    endpoint.release(B.publicJwk)
    expect(await waiting).toBe('accepted')
    expect(await lost).not.toBe('accepted')
    expect(endpoint.requests).toHaveLength(2)
  })

  test('those who joined it go on when it is given up: with an attempt of their own', async () => {
    const { endpoint, verdict, keys, timers, elapse } = losing()
    endpoint.mode = 'hanging'
    void verdict(oldToken)
    await elapse(3)
    endpoint.mode = 'up'
    timers.areLost = false
    const joined = [verdict(oldToken), verdict(oldToken)]
    const refreshed = keys.refresh()
    await elapse(3)
    expect(await Promise.all(joined)).toEqual(['accepted', 'accepted'])
    await elapse(1)
    await refreshed
    expect(endpoint.requests.length).toBeLessThanOrEqual(3)
  })

  test('who joined one that settles leaves no timer behind', async () => {
    const { clock, endpoint, verdict, timersOf } = watched()
    endpoint.mode = 'hanging'
    const waiting = [verdict(oldToken), verdict(oldToken)]
    await clock.advance(1)
    endpoint.release(A.publicJwk)
    expect(await Promise.all(waiting)).toEqual(['accepted', 'accepted'])
    expect(timersOf()).toBe(0)
  })

  test('behind requests: known keys are used, and an expired ring waits for an attempt of its own', async () => {
    const { endpoint, verdict, timers, elapse } = losing()
    expect(await verdict(oldToken)).toBe('accepted')
    endpoint.mode = 'hanging'
    await elapse(400)
    expect(await verdict(oldToken)).toBe('accepted')
    await elapse(400)
    endpoint.mode = 'up'
    timers.areLost = false
    expect(await verdict(oldToken)).toBe('accepted')
    expect(endpoint.requests).toHaveLength(3)
  })
})

describe('refresh', () => {
  test('from a webhook during a flight: it is followed by one more', async () => {
    const { clock, endpoint, verdict, keys } = world()
    await verdict(oldToken)
    await clock.advance(400)
    endpoint.mode = 'hanging'
    await verdict(oldToken)
    await clock.advance(0.2)
    endpoint.document = B.publicJwk
    const calls = Promise.all([keys.refresh(), keys.refresh()])
    endpoint.release(A.publicJwk)
    endpoint.mode = 'up'
    await clock.advance(1)
    await calls
    expect(endpoint.requests).toEqual([0, 400, 401])
    expect(await verdict(newToken)).toBe('accepted')
    expect(endpoint.requests).toHaveLength(3)
  })

  test('rejects when the attempt fails, and at once while the endpoint is left alone', async () => {
    const { clock, endpoint, keys } = world()
    endpoint.mode = 'down'
    await expect(keys.refresh()).rejects.toMatchObject({ code: 'keys_unavailable' })
    await clock.advance(2)
    await expect(keys.refresh()).rejects.toMatchObject({ reason: 'unreachable' })
    await expect(keys.refresh()).rejects.toMatchObject({ code: 'keys_unavailable' })
    expect(endpoint.requests).toHaveLength(2)
  })
})

describe('status', () => {
  test('says what there is before, during and after the first attempt', async () => {
    const { clock, endpoint, verdict, keys } = world()
    expect(keys.status()).toMatchObject({
      freshness: 'empty',
      thumbprints: [],
      isFetching: false,
      nextAttemptIn: 0,
    })
    endpoint.mode = 'hanging'
    const pending = verdict(oldToken)
    await clock.advance(0)
    expect(keys.status()).toMatchObject({ freshness: 'empty', isFetching: true })
    endpoint.release()
    await pending
    const { maxAge = 0, ...status } = keys.status()
    expect(status).toMatchObject({
      freshness: 'fresh',
      age: 0,
      thumbprints: [A.publicJwk.kid],
      retired: [],
      isFetching: false,
      lastFailure: undefined,
      withdrawnKeyTrust: { endpointUp: maxAge + 300, endpointDown: maxAge + 3600 },
    })
    expect(maxAge).toBeGreaterThanOrEqual(270)
    expect(maxAge).toBeLessThanOrEqual(330)
  })

  test('names the last failure, and never the URL', async () => {
    const { clock, endpoint, verdict, keys } = world()
    endpoint.mode = 'down'
    await verdict(oldToken)
    await clock.advance(0.5)
    const status = keys.status()
    expect(status.lastFailure).toEqual({
      reason: 'unreachable',
      detail: 'the key URL answered 500',
      age: 0.5,
    })
    expect(status.nextAttemptIn).toBeGreaterThan(0.2)
    expect(JSON.stringify(status)).not.toContain('auth.test')
  })
})

describe('what a refused caller is told', () => {
  test('when the next attempt may start, and privately why the last one failed', async () => {
    const { clock, endpoint, keys } = world()
    endpoint.mode = 'down'
    for (const pause of [2, 3, 0]) {
      await keys.refresh().catch(() => {})
      await clock.advance(pause)
    }
    await clock.advance(0.1)
    await expect(keys.refresh()).rejects.toMatchObject({
      headers: { 'Retry-After': expect.stringMatching(/^[345]$/) as string },
      cause: { message: 'the key URL answered 500' },
    })
    expect(endpoint.requests).toHaveLength(3)
  })

  test('that there is no usable key in the document', async () => {
    const { endpoint, keys } = world()
    endpoint.document = { keys: [] }
    await expect(keys.refresh()).rejects.toMatchObject({ reason: 'bad_document' })
    expect(keys.status().lastFailure?.detail).toBe('the document has no usable key')
  })

  test('the reason of its own signal, even where old keys could be used', async () => {
    const { clock, endpoint, keys, verdict } = world()
    await keys.refresh()
    endpoint.mode = 'hanging'
    await clock.advance(1000)
    const controller = new AbortController()
    const waiting = verdict(oldToken, controller.signal)
    await clock.advance(1)
    controller.abort({ reason: 'no patience' })
    expect(await waiting).toBe('no patience')
  })
})

describe('status of a cache with an overlap', () => {
  test('counts the overlap among what a withdrawn key is trusted for', async () => {
    const { keys } = world({ overlap: 60, maxAge: 300 })
    await keys.refresh()
    const { maxAge = 0, withdrawnKeyTrust } = keys.status()
    expect(withdrawnKeyTrust).toEqual({ endpointUp: maxAge + 360, endpointDown: maxAge + 3660 })
  })

  test('says how long it is until an attempt that age alone causes', async () => {
    const { clock, keys } = world()
    await clock.advance(100)
    await keys.refresh()
    await clock.advance(0.25)
    expect(keys.status().nextAttemptIn).toBe(0.75)
  })
})

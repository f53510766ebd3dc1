import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { getEventListeners } from 'node:events'

import { createVerifier, remoteKeys } from '@portcullis/core'
import { createTestIssuer, manualClock, tokenService } from '@portcullis/testing'
import { describe, expect, onTestFinished, test, vi } from 'vitest'

import { createTokenClient, type LoginMessage, TokenClientError } from '../../src/index.ts'
import {
  createClient,
  createLoginService,
  failureOf,
  hang,
  httpDate,
  jws,
  late,
  type LoginService,
  stateOf,
} from '../login-service.ts'

function setUp(options: Parameters<typeof createClient>[1] = {}) {
  const service = createLoginService()
  return { service, clock: service.clock, client: createClient(service, options) }
}

const down = () => new Response(null, { status: 503 })
const refusing = () => new Response(null, { status: 401 })
const within = (min: number, max: number) =>
  expect.toSatisfy((value: number) => value > min - 0.001 && value < max + 0.001) as unknown
/** A pause that is up to a tenth longer. */
const spread = (seconds: number) => within(seconds, 1.1 * seconds)

/** A login at time 0, with the renewal at least 30 s before the end of its 300. */
async function loggedIn(options: Parameters<typeof createClient>[1] = {}) {
  const scene = setUp(options)
  const token = await scene.client.get()
  return { ...scene, token }
}

describe('one login', () => {
  test('1,000 callers at once cost one, and have the same token', async () => {
    const { client, service } = setUp()
    const tokens = await Promise.all(Array.from({ length: 1000 }, async () => await client.get()))
    expect(new Set(tokens)).toEqual(new Set(service.tokens))
    expect(service.requests).toHaveLength(1)
  })

  test('a thousand requests a second for eleven minutes, each login taking 20 s: nobody waits', async () => {
    const { client, service, clock } = setUp({ timeout: 30 })
    service.answer = late(service, 20, () => service.token(320))
    const first = client.get()
    await clock.advance(20)
    await first
    const expiries = [340]
    const waits: number[] = []
    for (let step = 0; step < 6600; step++) {
      for (let call = 0; call < 100; call++) {
        const calledAt = clock.monotonic()
        void client.get().then(() => waits.push(clock.monotonic() - calledAt))
      }
      await clock.advance(0.1)
    }
    expect(waits).toHaveLength(660_000)
    // A caller who waits for nothing has the answer before the clock moves on.
    expect(waits.filter((wait) => wait > 0)).toEqual([])
    expect(service.requests).toHaveLength(1 + 2)
    expect(service.tokens).toHaveLength(service.requests.length)
    for (const { time } of service.requests.slice(1)) {
      const expiry = expiries.at(-1) ?? 0
      expect(expiry - time).toBeGreaterThan(31.8)
      expect(expiry - time).toBeLessThan(40.2)
      expiries.push(time + 20 + 320)
    }
  })

  test('nothing is sent before the first use, nor while a token is fresh', async () => {
    const { client, service, clock } = setUp()
    await clock.advance(3600)
    expect(service.requests).toHaveLength(0)
    await client.get()
    await clock.advance(260)
    await client.get()
    expect(service.requests).toHaveLength(1)
  })

  test('getAuthorization has the scheme in front', async () => {
    const { client, token } = await loggedIn()
    await expect(client.getAuthorization()).resolves.toBe(`Bearer ${token}`)
  })
})

describe('a renewal', () => {
  test('runs behind its users, once, and its token replaces the old one', async () => {
    const { client, service, clock, token } = await loggedIn()
    service.answer = late(service, 5, () => service.token())
    await clock.advance(271)
    await expect(Promise.all([client.get(), client.get()])).resolves.toEqual([token, token])
    await clock.advance(5)
    expect(await client.get()).toBe(service.tokens[1])
    expect(service.requests).toHaveLength(2)
  })

  test('with less than 10 s left is waited for', async () => {
    const { client, service, clock } = await loggedIn()
    service.answer = late(service, 5, () => service.token())
    await clock.advance(291)
    const waiting = client.get()
    expect(await stateOf(waiting)).toBe('pending')
    await clock.advance(5)
    expect(await waiting).toBe(service.tokens[1])
  })

  test('that fails with less than 10 s left: the token that works is used', async () => {
    const { client, service, clock, token } = await loggedIn()
    service.answer = late(service, 2, down)
    await clock.advance(291)
    const waiting = client.get()
    await clock.advance(2)
    expect(await waiting).toBe(token)
    expect(await stateOf(client.get())).toBe(token)
    expect(service.requests).toHaveLength(2)
  })

  test('that outlasts the token: who waited for it is told how it failed', async () => {
    const { client, service, clock } = await loggedIn()
    service.answer = late(service, 9, refusing)
    await clock.advance(295)
    const failure = failureOf(client.get())
    await clock.advance(9)
    expect(await failure).toMatchObject({ code: 'credentials_rejected', retryAfter: 30 })
  })

  test('that fails after the token was invalidated: who waited is told how it failed', async () => {
    const { client, service, clock, token } = await loggedIn()
    service.answer = late(service, 2, down)
    await clock.advance(291)
    const failure = failureOf(client.get())
    client.invalidate(token)
    await clock.advance(2)
    expect(await failure).toMatchObject({ code: 'service_unavailable', responseStatus: 503 })
  })

  test('with less than 10 s left is waited for until the caller aborts', async () => {
    const { client, service, clock } = await loggedIn()
    service.answer = hang
    await clock.advance(291)
    const controller = new AbortController()
    const failure = failureOf(client.get({ signal: controller.signal }))
    controller.abort()
    expect(await failure).toMatchObject({ code: 'aborted' })
  })

  test('is not retried while nobody needs it', async () => {
    const { client, service, clock } = await loggedIn()
    service.answer = down
    await clock.advance(271)
    await client.get()
    await clock.advance(0)
    expect(service.requests).toHaveLength(2)
    expect(client.status()).toMatchObject({ isLoggingIn: false, failures: 1 })
  })

  test('is retried from when somebody needs it', async () => {
    const { client, service, clock } = await loggedIn()
    service.answer = late(service, 3, down)
    await clock.advance(271)
    await client.get()
    const waiting = client.get({ minValidity: 60 })
    await clock.advance(3)
    service.answer = () => service.token()
    await clock.advance(2)
    expect(await waiting).toBe(service.tokens[1])
    expect(service.requests).toHaveLength(3)
  })

  test('backs off 3 s doubling to 60 s while it fails, and nobody notices', async () => {
    const { client, service, clock } = setUp()
    service.answer = () => service.token(3600)
    const token = await client.get()
    service.answer = down
    await clock.advance(3300)
    for (let tenth = 0; tenth < 2900; tenth++) {
      expect(await client.get()).toBe(token)
      await clock.advance(0.1)
    }
    const times = service.requests.slice(1).map(({ time }) => time)
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0))
    expect(gaps.length).toBeGreaterThanOrEqual(7)
    for (const [index, gap] of gaps.entries()) {
      const pause = Math.min(60, 3 * 2 ** index)
      expect(gap).toBeGreaterThan(pause - 0.01)
      expect(gap).toBeLessThan(1.1 * pause + 0.2)
    }
    await clock.advance(9)
    expect(await client.get()).toBe(token)
  })

  test('never asks the service in a loop for the token that it hands out again', async () => {
    const { client, service, clock } = setUp()
    const token = service.token(300)
    const body = await token.text()
    service.answer = () => new Response(body, { headers: { date: httpDate(service.clock.now()) } })
    for (let tenth = 0; tenth < 2999; tenth++) {
      expect(await client.get()).toBe(body)
      await clock.advance(0.1)
    }
    expect(service.requests.length).toBeLessThanOrEqual(6)
  })

  test('that brings a token which lasts less long uses it, and asks again when that is due', async () => {
    const { client, service, clock } = await loggedIn()
    service.answer = () => service.token(20)
    await clock.advance(271)
    await client.get()
    await clock.advance(1)
    expect(await client.get()).toBe(service.tokens[1])
    await clock.advance(16.4)
    await client.get()
    expect(service.requests).toHaveLength(2)
    await clock.advance(1)
    await client.get()
    await clock.advance(0)
    expect(service.requests).toHaveLength(3)
  })

  test('that brings an expired token keeps the one that works', async () => {
    const { client, service, clock, token } = await loggedIn()
    service.answer = () => service.token(-1)
    await clock.advance(271)
    await client.get()
    await clock.advance(1)
    expect(await client.get()).toBe(token)
    expect(client.status()).toMatchObject({ lastFailure: 'token_unusable', freshness: 'due' })
  })

  test('of a token without expiry comes within a minute', async () => {
    const { client, service, clock } = setUp()
    service.answer = () => new Response(jws({ jti: service.requests.length }))
    const first = await client.get()
    await clock.advance(52)
    expect(await client.get()).toBe(first)
    expect(service.requests).toHaveLength(1)
    await clock.advance(8)
    expect(await client.get()).not.toBe(first)
    expect(service.requests).toHaveLength(2)
  })
})

describe('minValidity', () => {
  test('a caller who needs more than is left waits for another token', async () => {
    const { client, service, clock, token } = await loggedIn()
    await clock.advance(100)
    await expect(client.get({ minValidity: 200 })).resolves.toBe(token)
    await clock.advance(1)
    expect(await client.get({ minValidity: 200 })).toBe(service.tokens[1])
    expect(service.requests).toHaveLength(2)
  })

  test('a caller who needs more than the service gives fails, without a login each time', async () => {
    const { client, service, clock, token } = await loggedIn()
    for (let call = 0; call < 10; call++) {
      await clock.advance(1)
      expect(await failureOf(client.get({ minValidity: 600 }))).toMatchObject({
        code: 'token_unusable',
        message:
          'minValidity is more than nine tenths of the lifetime that the token service gives its tokens',
      })
    }
    expect(await client.get()).toBe(token)
    expect(service.requests).toHaveLength(1)
  })

  test('of up to nine tenths of the lifetime costs a login for each tenth of it, at most', async () => {
    const { client, service, clock } = setUp()
    for (let second = 0; second < 600; second++) {
      await client.get({ minValidity: 270 })
      await clock.advance(1)
    }
    expect(service.requests.length).toBeLessThanOrEqual(20)
  })

  test('of more than nine tenths of the lifetime costs one login, and fails', async () => {
    const { client, service, clock } = setUp()
    for (let second = 0; second < 250; second++) {
      expect(await failureOf(client.get({ minValidity: 270.1 }))).toMatchObject({
        code: 'token_unusable',
      })
      await clock.advance(1)
    }
    expect(service.requests).toHaveLength(1)
  })

  test('of more than the lifetime was, once the service gives longer tokens: there is one', async () => {
    const { client, service, clock } = await loggedIn()
    service.answer = () => service.token(3600)
    await clock.advance(271)
    expect(await client.get({ minValidity: 600 })).toBe(service.tokens[1])
  })

  test('cold, the login is what says that the tokens do not last', async () => {
    const { client, service } = setUp()
    expect(await failureOf(client.get({ minValidity: 600 }))).toMatchObject({
      code: 'token_unusable',
    })
    expect(service.requests).toHaveLength(1)
  })

  test('a login that fails leaves others their token', async () => {
    const { client, service, clock, token } = await loggedIn()
    service.answer = refusing
    await clock.advance(200)
    expect(await failureOf(client.get({ minValidity: 150 }))).toMatchObject({
      code: 'credentials_rejected',
    })
    expect(await client.get()).toBe(token)
    expect(await failureOf(client.get({ minValidity: 150 }))).toMatchObject({
      code: 'credentials_rejected',
      retryAfter: 30,
    })
    expect(service.requests).toHaveLength(2)
  })

  test('of 0 never waits while the token works', async () => {
    const { client, service, clock, token } = await loggedIn()
    service.answer = hang
    await clock.advance(299)
    expect(await stateOf(client.get({ minValidity: 0 }))).toBe(token)
  })
})

describe('an outage', () => {
  test('cold: who waits gets a token from a later attempt', async () => {
    const { client, service, clock } = setUp()
    service.answer = down
    const waiting = client.get()
    await clock.advance(2)
    service.answer = () => service.token()
    await clock.advance(3)
    expect(await waiting).toBe(service.tokens[0])
  })

  test('cold: after a failure the next caller waits a second, later ones are told when to come back', async () => {
    const { client, service, clock } = setUp()
    service.answer = () => service.token(-1)
    expect(await failureOf(client.get())).toMatchObject({
      code: 'token_unusable',
      retryAfter: spread(1),
    })
    const second = failureOf(client.get())
    await clock.advance(0.9)
    expect(service.requests).toHaveLength(1)
    await clock.advance(0.2)
    expect(await second).toMatchObject({ code: 'token_unusable', retryAfter: spread(2) })
    expect(service.requests).toHaveLength(2)
    expect(await failureOf(client.get())).toMatchObject({
      code: 'token_unusable',
      message: 'no token is asked for yet, since the last attempt failed (see retryAfter)',
      // Up to a tenth of a second has passed since.
      retryAfter: within(1.9, 2.2),
    })
    expect(service.requests).toHaveLength(2)
  })

  test('that is over heals, however short the timeout', async () => {
    const { client, service, clock } = setUp({ timeout: 0.5 })
    service.answer = () => {
      throw new Error('no connection')
    }
    await failureOf(client.get())
    service.answer = () => service.token()
    const calls: Promise<unknown>[] = []
    for (let call = 0; call < 20; call++) {
      calls.push(client.get().catch((error: unknown) => error))
      await clock.advance(0.1)
    }
    expect(await calls.at(-1)).toBe(service.tokens[0])
    expect(service.requests).toHaveLength(2)
  })

  test('callers without a token, without end: at most one login in ten seconds', async () => {
    const { client, service, clock } = setUp()
    service.answer = () => service.token(-1)
    for (let second = 0; second < 600; second++) {
      void client.get().catch(() => undefined)
      await clock.advance(1)
    }
    expect(service.requests.length).toBeGreaterThanOrEqual(54)
    expect(service.requests.length).toBeLessThanOrEqual(66)
  })

  test('in which nothing answers: at most one login in a minute, besides its deadline', async () => {
    const { client, service, clock } = setUp()
    service.answer = hang
    for (let second = 0; second < 900; second++) {
      void client.get().catch(() => undefined)
      await clock.advance(1)
    }
    const times = service.requests.map(({ time }) => time)
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0))
    expect(gaps.length).toBeGreaterThanOrEqual(13)
    for (const [index, gap] of gaps.entries()) {
      expect(gap).toBeGreaterThan(10 + Math.min(60, 2 ** index) - 0.01)
    }
  })

  test('a token that expires while its renewal hangs: the deadline, then a new login', async () => {
    const { client, service, clock } = await loggedIn()
    service.answer = hang
    await clock.advance(295)
    const short = failureOf(client.get())
    await clock.advance(6)
    const without = failureOf(client.get())
    await clock.advance(4)
    for (const failure of await Promise.all([short, without])) {
      expect(failure).toMatchObject({ code: 'timeout', retryAfter: spread(1) })
    }
    service.answer = () => service.token()
    const waiting = client.get()
    await clock.advance(1.1)
    expect(await waiting).toBe(service.tokens[1])
  })

  test('a Retry-After is kept to by later logins', async () => {
    const { client, service, clock } = setUp()
    const headers = { 'retry-after': '30' }
    service.answer = () => new Response(null, { status: 429, headers })
    expect(await failureOf(client.get())).toMatchObject({
      responseStatus: 429,
      retryAfter: spread(30),
    })
    service.answer = () => service.token()
    await clock.advance(28)
    expect(await failureOf(client.get())).toMatchObject({ code: 'service_unavailable' })
    await clock.advance(5)
    expect(await client.get()).toBe(service.tokens[0])
    expect(service.requests).toHaveLength(2)
  })

  test('a credential function that fails is called again for the next login', async () => {
    const password = vi.fn<() => string>(() => {
      throw new Error('vault sealed')
    })
    const { client, service, clock } = setUp({ password })
    expect(await failureOf(client.get())).toMatchObject({ code: 'service_unavailable' })
    password.mockReturnValue('secret')
    const waiting = client.get()
    await clock.advance(1.1)
    expect(await waiting).toBe(service.tokens[0])
  })
})

describe('an answer that is no token, and that the service may count as a wrong password', () => {
  test.each<[string, () => Response]>([
    ['200 without a token', () => Response.json({ error: 'bad credentials' })],
    ...[302, 404, 422, 423].map((status): [string, () => Response] => [
      String(status),
      () => new Response(null, { status }),
    ]),
    [
      '200 with a token whose payload cannot be read',
      () => new Response(jws({}).replace(/\.[^.]+\./, '.WzEsWzEsIng.')),
    ],
  ])(
    '%s: not tried again for 30 s doubling to 5 minutes, and get fails at once',
    async (_title, answer) => {
      const { client, service, clock } = setUp()
      service.answer = answer
      for (let second = 0; second < 800; second++) {
        expect(await failureOf(client.get())).toMatchObject({ code: 'unexpected_response' })
        await clock.advance(1)
      }
      expect(service.requests.map(({ time }) => time)).toEqual([0, 30, 90, 210, 450, 750])
    },
  )
})

describe('rejected credentials', () => {
  test('are not tried again for 30 s doubling to 5 minutes, and get fails at once', async () => {
    const { client, service, clock } = setUp()
    service.answer = refusing
    for (let second = 0; second < 1500; second++) {
      expect(await failureOf(client.get())).toMatchObject({ code: 'credentials_rejected' })
      await clock.advance(1)
    }
    expect(service.requests.map(({ time }) => time)).toEqual([0, 30, 90, 210, 450, 750, 1050, 1350])
  })

  test('a thousand callers cost one try', async () => {
    const { client, service } = setUp()
    service.answer = refusing
    const failures = await Promise.all(
      Array.from({ length: 1000 }, async () => await failureOf(client.get())),
    )
    expect(new Set(failures.map((failure) => (failure as TokenClientError).code))).toEqual(
      new Set(['credentials_rejected']),
    )
    expect(service.requests).toHaveLength(1)
  })

  test('leave a token that works in use, until it expires', async () => {
    const { client, service, clock, token } = await loggedIn()
    service.answer = refusing
    await clock.advance(271)
    for (let second = 0; second < 29; second++) {
      expect(await client.get()).toBe(token)
      await clock.advance(1)
    }
    expect(service.requests).toHaveLength(2)
    expect(client.status()).toMatchObject({ lastFailure: 'credentials_rejected' })
    expect(await failureOf(client.get())).toMatchObject({ code: 'credentials_rejected' })
    expect(service.requests).toHaveLength(2)
  })

  test('are read anew for the next login', async () => {
    const password = vi.fn<() => string>(() => 'old')
    const { client, service, clock } = setUp({ password })
    service.answer = refusing
    await failureOf(client.get())
    password.mockReturnValue('new')
    service.answer = ({ init }) =>
      init.body === 'loginId=demo&password=new' ? service.token() : refusing()
    await clock.advance(30)
    expect(await client.get()).toBe(service.tokens[0])
  })
})

describe('an invalidated token', () => {
  test('is dropped, with or without the scheme in front', async () => {
    for (const scheme of ['', 'Bearer ', 'bearer ']) {
      const { client, service, token } = await loggedIn()
      client.invalidate(scheme + token)
      expect(client.status().freshness).toBe('none')
      expect(await client.get()).toBe(service.tokens[1])
    }
  })

  test('costs one login, however many report it', async () => {
    const { client, service, token } = await loggedIn()
    for (let call = 0; call < 10; call++) {
      client.invalidate(token)
      expect(await client.get()).toBe(service.tokens[1])
    }
    expect(service.requests).toHaveLength(2)
  })

  test('while its renewal is under way: the callers wait for that one', async () => {
    const { client, service, clock, token } = await loggedIn()
    service.answer = late(service, 5, () => service.token())
    await clock.advance(271)
    await client.get()
    client.invalidate(token)
    const waiting = client.get()
    expect(await stateOf(waiting)).toBe('pending')
    await clock.advance(5)
    expect(await waiting).toBe(service.tokens[1])
    expect(service.requests).toHaveLength(2)
  })

  test('that has been renewed meanwhile: the new one stays', async () => {
    const { client, service, clock, token } = await loggedIn()
    await clock.advance(295)
    await client.get()
    client.invalidate(token)
    expect(await client.get()).toBe(service.tokens[1])
    expect(service.requests).toHaveLength(2)
  })

  test('that the service hands out again is kept for a while, and is not asked for in a loop', async () => {
    const { client, service, clock } = setUp()
    const body = await service.token(3600).text()
    service.answer = () => new Response(body)
    for (let second = 0; second < 60; second++) {
      client.invalidate(await client.get())
      await clock.advance(1)
    }
    expect(service.requests.map(({ time }) => time)).toEqual([0, 1, 5, 12, 25, 50])
  })
})

describe('a caller who aborts', () => {
  test('before the call: at once, without a login', async () => {
    const { client, service } = setUp()
    expect(await failureOf(client.get({ signal: AbortSignal.abort() }))).toMatchObject({
      code: 'aborted',
      message: 'the wait was aborted',
    })
    expect(service.requests).toHaveLength(0)
  })

  test.each<[string, Parameters<typeof createClient>[1], LoginService['answer']]>([
    ['in the request', {}, hang],
    ['in the body', {}, () => new Response(new ReadableStream({ pull: hang }))],
    ['between attempts', {}, down],
    ['in a credential function', { password: hang }, down],
    ['in the verifier', { verifier: { verify: hang } }, () => new Response(jws({}))],
  ])('%s: alone, others go on waiting', async (_title, options, answer) => {
    const { client, service } = setUp(options)
    service.answer = answer
    const controller = new AbortController()
    const aborting = failureOf(client.get({ signal: controller.signal }))
    const staying = failureOf(client.get({ signal: new AbortController().signal }))
    expect(await stateOf(aborting)).toBe('pending')
    controller.abort(new Error('secret reason'))
    expect(await aborting).toMatchObject({ code: 'aborted', message: 'the wait was aborted' })
    expect(await stateOf(staying)).toBe('pending')
    expect(client.status().isLoggingIn).toBe(true)
    await client.close()
    await staying
  })

  test('and was the last: the attempt under way goes on, no further one is made', async () => {
    const { client, service, clock } = setUp()
    service.answer = late(service, 3, down)
    const controller = new AbortController()
    const aborting = failureOf(client.get({ signal: controller.signal }))
    controller.abort()
    await aborting
    await clock.advance(9)
    expect(service.requests).toHaveLength(1)
    expect(client.status()).toMatchObject({ isLoggingIn: false, failures: 1 })
  })

  test('whose signal lives on has no listener left on it', async () => {
    const { client } = setUp()
    const { signal } = new AbortController()
    const added = vi.spyOn(signal, 'addEventListener')
    await client.get({ signal })
    // It listens at a signal of its own, which follows this one.
    expect(added).not.toHaveBeenCalled()
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })
})

describe('close', () => {
  test('ends the login under way, and everybody’s wait', async () => {
    const { client, service } = setUp()
    service.answer = hang
    const waiting = [failureOf(client.get()), failureOf(client.fetch('https://api.test'))]
    await stateOf(Promise.resolve())
    await client.close()
    for (const failure of await Promise.all(waiting)) {
      expect(failure).toMatchObject({
        code: 'aborted',
        message: 'the client was closed',
        retryAfter: undefined,
      })
    }
  })

  test('ends a wait for a renewal, though the token works', async () => {
    const { client, service, clock } = await loggedIn()
    service.answer = hang
    await clock.advance(291)
    const failure = failureOf(client.get())
    await client.close()
    expect(await failure).toMatchObject({ code: 'aborted', message: 'the client is closed' })
  })

  test('forgets the token, and nothing brings another', async () => {
    const { client, service } = await loggedIn()
    await client.close()
    expect(client.status()).toMatchObject({ freshness: 'none', isClosed: true, isLoggingIn: false })
    for (const call of [
      client.get(),
      client.getAuthorization(),
      client.fetch('https://api.test'),
    ]) {
      expect(await failureOf(call)).toMatchObject({ code: 'aborted' })
    }
    expect(service.requests).toHaveLength(1)
  })

  test('a login that ends at the same time does not bring its token back', async () => {
    const { client, service } = setUp()
    let verified: (() => void) | undefined
    const { client: verifying } = setUp({
      verifier: { verify: async () => await new Promise<void>((resolve) => (verified = resolve)) },
    })
    await client.close()
    expect(service.requests).toHaveLength(0)
    const waiting = stateOf(verifying.get())
    await waiting
    verified?.()
    await verifying.close()
    expect(verifying.status().freshness).toBe('none')
  })

  test('twice, or without a login, is as good as once', async () => {
    const { client } = setUp()
    await Promise.all([client.close(), client.close()])
    await expect(client.close()).resolves.toBeUndefined()
  })

  test('is what await using does', async () => {
    const { service } = setUp()
    let left
    {
      await using client = createClient(service)
      left = client
    }
    expect(left.status().isClosed).toBe(true)
  })
})

describe('time', () => {
  test('a wall clock set back does not make the token last longer', async () => {
    const { client, service, clock } = await loggedIn()
    clock.set(clock.now() - 86_400)
    await clock.advance(301)
    expect(await client.get()).toBe(service.tokens[1])
  })

  test('a machine that was suspended asks for a new token', async () => {
    const { client, service, clock } = await loggedIn()
    clock.set(clock.now() + 3600)
    expect(await client.get()).toBe(service.tokens[1])
    expect(service.requests).toHaveLength(2)
  })

  test('a pause after a failure is not skipped by setting the clock', async () => {
    const { client, service, clock } = setUp()
    service.answer = refusing
    await failureOf(client.get())
    clock.set(clock.now() + 86_400)
    expect(await failureOf(client.get())).toMatchObject({ code: 'credentials_rejected' })
    expect(service.requests).toHaveLength(1)
  })

  test.each([-240, 240])(
    'a service whose clock is %i s ahead: its tokens last as they should',
    async (skew) => {
      const { client, service, clock } = setUp()
      service.answer = () =>
        new Response(jws({ exp: clock.now() + skew + 300, jti: service.requests.length }), {
          headers: { date: httpDate(clock.now() + skew) },
        })
      const first = await client.get()
      expect(Math.abs((client.status().clockSkew ?? 0) - skew)).toBeLessThanOrEqual(0.5)
      await clock.advance(260)
      expect(await client.get()).toBe(first)
      await clock.advance(41)
      expect(await client.get()).not.toBe(first)
    },
  )

  test.each([
    ['4 minutes ahead, which leaves the token a minute', 240, 59],
    ['6 minutes ahead', 360, 299],
    ['an hour ahead', 3600, 299],
    ['20 hours behind', -72_000, 299],
  ])(
    'a Date %s, though the clocks agree: a token without iat is used while it lasts',
    async (...row) => {
      const [, skew, until] = row
      const { client, service, clock } = setUp()
      service.answer = dated(service, skew)
      const first = await client.get()
      expect(service.requests).toHaveLength(1)
      await clock.advance(until - 1)
      expect(await client.get({ minValidity: 0 })).toBe(first)
      await clock.advance(2)
      expect(await client.get({ minValidity: 0 })).not.toBe(first)
    },
  )

  test('a Date that is another with each answer: no token lasts longer for it', async () => {
    const { client, service, clock } = setUp()
    const given: string[] = []
    for (const skew of [3600, -72_000, 0, 360, -360, 1e9]) {
      service.answer = dated(service, skew)
      given.push(await client.get({ minValidity: 0 }))
      await clock.advance(301)
    }
    expect(new Set(given).size).toBe(6)
    expect(service.requests).toHaveLength(6)
  })

  test('a cache that repeats an old answer: its Date does not revive the token', async () => {
    const { client, service, clock } = setUp()
    const stored = jws({ exp: clock.now() + 300 })
    const date = httpDate(clock.now())
    await clock.advance(290)
    service.answer = () => new Response(stored, { headers: { date, age: '290' } })
    expect(await client.get()).toBe(stored)
    expect(client.status()).toMatchObject({ expiresIn: 10, clockSkew: undefined })
    await clock.advance(11)
    expect(await failureOf(client.get())).toMatchObject({ code: 'token_unusable' })
  })

  test('our clock 6 minutes ahead: the token looks expired, and the skew says why', async () => {
    const { client, service, clock } = setUp()
    service.answer = () => {
      const now = clock.now() - 360
      return new Response(jws({ exp: now + 300 }), { headers: { date: httpDate(now) } })
    }
    expect(await failureOf(client.get())).toMatchObject({ code: 'token_unusable' })
    expect(Math.abs((client.status().clockSkew ?? 0) + 360)).toBeLessThanOrEqual(0.5)
  })

  test('a wall clock that is stepped by an hour and back: one further login at most', async () => {
    const { client, service, clock } = setUp()
    service.answer = dated(service, 0)
    const first = await client.get()
    clock.set(clock.now() - 3600)
    expect(await client.get()).toBe(first)
    clock.set(clock.now() + 3600)
    expect(await client.get()).toBe(first)
    await clock.advance(301)
    expect(await client.get()).not.toBe(first)
    expect(service.requests).toHaveLength(2)
  })

  test.each([-90_000, 90_000])(
    'a skew of %i s, for which a login failed, is told',
    async (skew) => {
      const messages = observe()
      const { client, service, clock } = setUp()
      service.answer = () =>
        new Response(jws({ exp: clock.now() - 1 }), {
          headers: { date: httpDate(clock.now() + skew) },
        })
      expect(await failureOf(client.get())).toMatchObject({ code: 'token_unusable' })
      expect(client.status().clockSkew).toBe(skew + 0.5)
      expect(messages.find((message) => message.client === client)).toMatchObject({
        outcome: 'token_unusable',
        clockSkew: skew + 0.5,
      })
    },
  )

  test.each([
    [30, undefined],
    [31, 31],
    [-31, -31],
  ])('a skew of %i s is reported as %s', async (skew, reported) => {
    const { client, service, clock } = setUp()
    service.answer = () =>
      new Response(jws({}), { headers: { date: httpDate(clock.now() + skew - 0.5) } })
    clock.set(Math.floor(clock.now()) + 0.5)
    await client.get()
    expect(client.status().clockSkew).toBe(reported)
  })
})

/** Answers with a token for 300 s, without `iat`, and with a `Date` that is so many seconds ahead. */
function dated(service: LoginService, skew: number): LoginService['answer'] {
  return () => {
    const now = service.clock.now()
    const token = jws({ exp: now + 300, jti: service.requests.length })
    return new Response(token, { headers: { date: httpDate(now + skew) } })
  }
}

test('a polluted prototype sets no option of get', async () => {
  const { client, service } = setUp()
  const polluted: unknown = Object.create({ minValidity: 86_400, signal: AbortSignal.abort() })
  expect(await client.get(polluted as object)).toBe(service.tokens[0])
})

describe('what a client says of itself', () => {
  test('before, with, and without a token', async () => {
    const { client, service, clock } = setUp()
    expect(client.status()).toEqual({
      freshness: 'none',
      expiresIn: undefined,
      isLoggingIn: false,
      lastFailure: undefined,
      failures: 0,
      nextLoginIn: 0,
      clockSkew: undefined,
      isClosed: false,
    })
    await client.get()
    await clock.advance(100)
    expect(client.status()).toMatchObject({ freshness: 'fresh', expiresIn: 200 })
    await clock.advance(171)
    expect(client.status()).toMatchObject({ freshness: 'due', expiresIn: 29 })
    await clock.advance(20)
    expect(client.status()).toMatchObject({ freshness: 'short', expiresIn: 9 })
    await clock.advance(20)
    expect(client.status()).toMatchObject({ freshness: 'none', expiresIn: 0 })
    service.answer = refusing
    await failureOf(client.get())
    expect(client.status()).toMatchObject({
      lastFailure: 'credentials_rejected',
      failures: 1,
      nextLoginIn: 30,
    })
  })
})

function observe(): LoginMessage[] {
  const messages: LoginMessage[] = []
  const onMessage = (message: unknown) => {
    messages.push(message as LoginMessage /* what the channel carries */)
  }
  subscribe('portcullis:login', onMessage)
  onTestFinished(() => void unsubscribe('portcullis:login', onMessage))
  return messages
}

describe('the channel portcullis:login', () => {
  test('has one message for each settled login, and no secret', async () => {
    const messages = observe()
    const { client, service, clock } = setUp()
    service.answer = late(service, 2, down)
    const waiting = client.get()
    await clock.advance(2.5)
    service.answer = late(service, 1, () => service.token())
    await clock.advance(3)
    await waiting
    client.invalidate(await client.get())
    service.answer = refusing
    await failureOf(client.get())
    expect(messages.filter((message) => message.client === client)).toEqual([
      {
        client,
        kind: 'login',
        outcome: 'success',
        detail: undefined,
        requests: 2,
        duration: expect.closeTo(4.1, 0) as unknown,
        expiresIn: 300,
        clockSkew: undefined,
      },
      {
        client,
        kind: 'login',
        outcome: 'credentials_rejected',
        detail: 'the token service answered with status 401',
        requests: 1,
        duration: 0,
        expiresIn: undefined,
        clockSkew: undefined,
      },
    ])
  })
})

describe('with the verifier of @portcullis/core', () => {
  test('a token that the published key proves is used, another is not', async () => {
    const clock = manualClock()
    const [issuer, forger] = await Promise.all([
      createTestIssuer({ clock }),
      createTestIssuer({ clock }),
    ])
    const genuine = tokenService(issuer)
    const forged = tokenService(forger)
    const keys = remoteKeys(genuine.keyUrl, { fetch: genuine.fetch, clock })
    const verifier = createVerifier({ keys, issuer: null, audience: null, clock })
    const login = {
      authUrl: genuine.authUrl,
      loginId: 'demo',
      password: 'demo',
      origins: [],
      clock,
    }
    const client = createTokenClient({ ...login, fetch: genuine.fetch, verifier })
    await expect(verifier.verify(await client.get())).resolves.toMatchObject({
      claims: { sub: 'demo' },
    })
    const betrayed = createTokenClient({ ...login, fetch: forged.fetch, verifier })
    const failure = failureOf(betrayed.get())
    for (let second = 0; second < 5; second++) await clock.advance(1)
    expect(await failure).toMatchObject({
      code: 'token_unusable',
      message: 'the verifier refused the new token: signature',
    })
  })
})

test('the platform’s fetch is looked up when it is used', async () => {
  const service = createLoginService()
  const replaced = vi.spyOn(globalThis, 'fetch').mockImplementation(async (url, init) => {
    return await service.fetch(url instanceof Request ? url.url : String(url), init)
  })
  onTestFinished(() => {
    replaced.mockRestore()
  })
  const client = createTokenClient({
    authUrl: 'https://auth.test',
    loginId: 'demo',
    password: 'secret',
    origins: [],
  })
  service.clock.set(Date.now() / 1000)
  expect(await client.get()).toBe(service.tokens[0])
})

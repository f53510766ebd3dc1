import { createTestIssuer, manualClock } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import {
  type AuthError,
  type Clock,
  createVerifier,
  discoverKeys,
  type FetchResponse,
} from '../../src/index.ts'

const issuer = 'https://auth.test'
const OPENID = `${issuer}/.well-known/openid-configuration`
const OAUTH = `${issuer}/.well-known/oauth-authorization-server`
const KEYS = 'https://keys.test/jwks'
const NEW_KEYS = 'https://keys.test/new'
const HOUR = 3600
const DAY = 24 * HOUR
const TIMEOUT = 5

const signer = await createTestIssuer({ clock: manualClock(), issuer, lifetime: 30 * DAY })
const token = await signer.token()
const metadata = { issuer, jwks_uri: KEYS }
const moved = { issuer, jwks_uri: NEW_KEYS }
const jwks = { keys: [signer.publicJwk] }

/** What a URL answers with. */
type Endpoint = (clock: Clock) => Promise<FetchResponse>

const never = new Promise<never>(() => {
  // It hangs.
})

function response(body: AsyncIterable<Uint8Array> | null, status = 200): FetchResponse {
  return { status, redirected: false, url: '', headers: new Headers(), body }
}

async function* octetsOf(document: unknown) {
  yield Buffer.from(JSON.stringify(document))
}

function serve(document: unknown): Endpoint {
  return async () => response(octetsOf(document))
}

/** Answers so many seconds later. */
function slow(document: unknown, seconds: number): Endpoint {
  return async (clock) => {
    await pause(clock, seconds)
    return response(octetsOf(document))
  }
}

async function pause(clock: Clock, seconds: number): Promise<void> {
  await new Promise<void>((resolve) => {
    clock.after(seconds, resolve)
  })
}

const absent: Endpoint = async () => response(null, 404)
const hanging: Endpoint = async () => await never

async function* hangingBody() {
  yield Buffer.from('{"issuer":')
  await never
}

async function* drips(clock: Clock) {
  for (;;) {
    yield Buffer.from(' ')
    await pause(clock, 0.5)
  }
}

/** In none of them does the injected `fetch` look at its signal. */
const hangs: readonly (readonly [string, Endpoint])[] = [
  ['before the headers', hanging],
  ['in the body', async () => response(hangingBody())],
  ['octet by octet', async (clock) => response(drips(clock))],
]

function world(endpoints: Readonly<Record<string, Endpoint>>) {
  const clock = manualClock()
  const timers = new Set<() => void>()
  const after: Clock['after'] = (seconds, fn) => {
    const cancel = clock.after(seconds, () => {
      timers.delete(end)
      fn()
    })
    const end = () => {
      timers.delete(end)
      cancel()
    }
    timers.add(end)
    return end
  }
  const served = new Map(Object.entries(endpoints))
  const requests: string[] = []
  const keys = discoverKeys(issuer, {
    clock: { ...clock, after },
    async fetch(url) {
      requests.push(url)
      return await (served.get(url) ?? absent)(clock)
    },
  })
  const verifier = createVerifier({ keys, issuer, audience: null, clock })

  /** The verdict on a genuine token, and how long it took. */
  async function verdict() {
    const start = clock.monotonic()
    let took = 0
    const word = verifier
      .verify(token)
      .then(
        () => 'accepted',
        (error: unknown) => (error as AuthError).reason,
      )
      .finally(() => {
        took = clock.monotonic() - start
      })
    await clock.advance(TIMEOUT)
    return { word: await word, took }
  }

  return { clock, keys, served, requests, verdict, timers }
}

const count = (requests: readonly string[], url: string) =>
  requests.filter((each) => each === url).length

describe('a cold start', () => {
  test.each(hangs)(
    'openid-configuration hangs %s while the RFC 8414 document works: keys in one attempt',
    async (_title, hang) => {
      const { requests, verdict, timers } = world({
        [OPENID]: hang,
        [OAUTH]: serve(metadata),
        [KEYS]: serve(jwks),
      })
      expect(await verdict()).toEqual({ word: 'accepted', took: 1 })
      expect(requests).toEqual([OPENID, OAUTH, KEYS])
      expect(timers.size).toBe(0)
    },
  )

  test('the RFC 8414 document hangs while openid-configuration is slow: keys in one attempt', async () => {
    const { verdict } = world({
      [OPENID]: slow(metadata, 3),
      [OAUTH]: hanging,
      [KEYS]: slow(jwks, 1.5),
    })
    expect(await verdict()).toEqual({ word: 'accepted', took: 4.5 })
  })

  test('all metadata hang: 503 when the deadline ends, and keys with the next attempt', async () => {
    const { clock, served, verdict, timers } = world({ [OPENID]: hanging, [OAUTH]: hanging })
    expect(await verdict()).toEqual({ word: 'timeout', took: TIMEOUT })
    expect(timers.size).toBe(0)
    served.set(OPENID, serve(metadata)).set(KEYS, serve(jwks))
    await clock.advance(2)
    expect(await verdict()).toEqual({ word: 'accepted', took: 0 })
  })

  test('an answer that comes after the deadline causes no request', async () => {
    const { clock, requests, verdict } = world({
      [OPENID]: slow(metadata, TIMEOUT + 1),
      [OAUTH]: slow(metadata, TIMEOUT + 1),
      [KEYS]: serve(jwks),
    })
    expect(await verdict()).toEqual({ word: 'timeout', took: TIMEOUT })
    await clock.advance(10)
    expect(requests).toEqual([OPENID, OAUTH])
  })
})

describe('the metadata are read again', () => {
  test.each(hangs)(
    'the daily reading hangs %s while the key URL is well: nobody gets 503, for days',
    async (_title, hang) => {
      const { clock, keys, requests, served, verdict, timers } = world({
        [OPENID]: serve(metadata),
        [KEYS]: serve(jwks),
      })
      await verdict()
      served.set(OPENID, hang).set(OAUTH, hang)
      const slowVerdicts: number[] = []
      for (let elapsed = 0; elapsed < 5 * DAY; elapsed += 10 * 60) {
        await clock.advance(10 * 60 - TIMEOUT)
        const { word, took } = await verdict()
        expect(word).toBe('accepted')
        if (took > 0) slowVerdicts.push(took)
      }
      expect(keys.status()).toMatchObject({ freshness: 'fresh', lastFailure: undefined })
      // Once an hour from the second day on, of which each costs whoever waits two shares of the deadline.
      expect(count(requests, OPENID)).toBeGreaterThan(90)
      expect(count(requests, OPENID)).toBeLessThan(100)
      expect(Math.max(0, ...slowVerdicts)).toBeLessThanOrEqual(2)
      expect(timers.size).toBe(0)
    },
  )

  test('the key URL fails and then the metadata hang: known keys for as long as staleIfError', async () => {
    const { clock, keys, requests, served, verdict } = world({
      [OPENID]: serve(metadata),
      [KEYS]: serve(jwks),
    })
    await verdict()
    served.set(KEYS, absent).set(OPENID, hanging).set(OAUTH, hanging)
    await clock.advance(500)
    expect(await verdict()).toEqual({ word: 'accepted', took: 0 })
    expect(requests.slice(2)).toEqual([KEYS, OPENID, OAUTH])
    expect(keys.status().lastFailure).toMatchObject({
      reason: 'unreachable',
      detail: 'the key URL answered 404',
    })
    await clock.advance(3000)
    expect((await verdict()).word).toBe('accepted')
    served.set(KEYS, serve(jwks))
    await clock.advance(60)
    expect((await verdict()).word).toBe('accepted')
    expect(keys.status()).toMatchObject({ freshness: 'fresh', lastFailure: undefined })
  })

  test('the pause that the key URL asked for is kept, though the metadata hang', async () => {
    const { clock, keys, served, verdict } = world({
      [OPENID]: serve(metadata),
      [KEYS]: serve(jwks),
    })
    await verdict()
    const headers = new Headers({ 'retry-after': '50' })
    served.set(KEYS, async () => ({ ...response(null, 503), headers }))
    served.set(OPENID, hanging)
    await clock.advance(500)
    await verdict()
    expect(keys.status().nextAttemptIn).toBeGreaterThan(40)
  })

  test.each<[string, Endpoint]>([
    ['hangs', hanging],
    ['fails', absent],
    ['serves no usable key', serve({ keys: [] })],
    ['serves no key document', serve({ error: 'sign in' })],
  ])(
    'they name another key URL, which %s, while the known one is well: its keys go on being used',
    async (_title, other) => {
      const { clock, keys, requests, served, verdict } = world({
        [OPENID]: serve(metadata),
        [KEYS]: serve(jwks),
      })
      await verdict()
      served.set(OPENID, serve(moved)).set(NEW_KEYS, other)
      for (let elapsed = 0; elapsed < 3 * DAY; elapsed += HOUR) {
        await clock.advance(HOUR - TIMEOUT)
        expect((await verdict()).word).toBe('accepted')
      }
      expect(keys.status()).toMatchObject({ freshness: 'fresh', lastFailure: undefined })
      expect(count(requests, NEW_KEYS)).toBeGreaterThan(40)

      served.set(NEW_KEYS, serve(jwks))
      await clock.advance(HOUR)
      await verdict()
      requests.length = 0
      await clock.advance(HOUR)
      await verdict()
      expect(requests).toEqual([NEW_KEYS])
    },
  )

  test('the known key URL hangs and they name a new one: keys in one attempt', async () => {
    const { clock, requests, served, verdict } = world({
      [OPENID]: serve(metadata),
      [KEYS]: serve(jwks),
    })
    await verdict()
    served.set(KEYS, hanging).set(OPENID, serve(moved)).set(NEW_KEYS, serve(jwks))
    await clock.advance(2 * HOUR)
    expect(await verdict()).toEqual({ word: 'accepted', took: 1 })
    expect(requests.slice(2)).toEqual([KEYS, OPENID, NEW_KEYS])
    await clock.advance(HOUR)
    expect(await verdict()).toEqual({ word: 'accepted', took: 0 })
    expect(requests.slice(5)).toEqual([NEW_KEYS])
  })

  test('the known key URL and openid-configuration hang, RFC 8414 names a new one: keys in one attempt', async () => {
    const { clock, served, verdict } = world({ [OPENID]: serve(metadata), [KEYS]: serve(jwks) })
    await verdict()
    served.set(KEYS, hanging).set(OPENID, hanging)
    served.set(OAUTH, serve(moved)).set(NEW_KEYS, slow(jwks, 1))
    await clock.advance(2 * HOUR)
    expect(await verdict()).toEqual({ word: 'accepted', took: 3 })
  })

  test('a key URL that is slow, but within the deadline, brings its keys', async () => {
    const { clock, served, verdict } = world({ [OPENID]: serve(metadata), [KEYS]: serve(jwks) })
    await verdict()
    served.set(KEYS, slow(jwks, 4.5)).set(OPENID, hanging).set(OAUTH, hanging)
    await clock.advance(2 * HOUR)
    expect(await verdict()).toEqual({ word: 'accepted', took: 4.5 })
  })

  test('keys of another URL that come after the attempt is over change nothing', async () => {
    const { clock, requests, served, verdict } = world({
      [OPENID]: serve(metadata),
      [KEYS]: serve(jwks),
    })
    await verdict()
    served.set(OPENID, serve(moved)).set(NEW_KEYS, slow(jwks, 4))
    await clock.advance(DAY)
    expect(await verdict()).toEqual({ word: 'accepted', took: 2 })
    served.set(NEW_KEYS, hanging)
    await clock.advance(HOUR / 2)
    requests.length = 0
    expect((await verdict()).word).toBe('accepted')
    expect(requests).toEqual([KEYS])
  })
})

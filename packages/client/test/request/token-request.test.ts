import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'

import { systemClock } from '@portcullis/kit/time'
import { describe, expect, test, vi } from 'vitest'

import { TokenClientError } from '../../src/answer/errors.ts'
import type { ResponseFormat } from '../../src/answer/token-response.ts'
import { loginExchange, type LoginOptions } from '../../src/login/login-exchange.ts'
import { createRetry } from '../../src/request/retry.ts'
import {
  type ClientFetch,
  type LoginProgress,
  requestToken,
  sleep,
  type TokenEndpoint,
} from '../../src/request/token-request.ts'
import {
  createLoginService,
  failureOf,
  hang,
  httpDate,
  jws,
  late,
  stateOf,
} from '../login-service.ts'
import { serve } from '../serve.ts'

const URL_ASKED = 'https://auth.test/tokenservice/token/api'
const KIB = 1024
const token = jws({ exp: 4_102_444_800 })
const padded = (octets: number) => token.padEnd(octets, ' ')
const platformFetch: ClientFetch = async (...args) => await globalThis.fetch(...args)
const nobody: LoginProgress = {
  isAwaited: () => false,
  onRequest: () => undefined,
  onClockSkew: () => undefined,
}
const awaited: LoginProgress = { ...nobody, isAwaited: () => true }

type Overrides = Partial<Omit<TokenEndpoint, 'exchange'> & LoginOptions>

function setUp(overrides: Overrides = {}, progress = awaited) {
  const service = createLoginService()
  const { clock, fetch } = service
  const controller = new AbortController()
  const login = {
    url: URL_ASKED,
    loginId: 'demo',
    password: 'secret',
    response: 'auto' as const,
    ...overrides,
  }
  const shared = { fetch, clock, retry: createRetry() }
  const endpoint: TokenEndpoint = { ...shared, ...overrides, exchange: loginExchange(login) }
  const request = async () => await requestToken(endpoint, progress, 10, controller.signal)
  return { service, clock, controller, request }
}

/** What one answer comes to, when nobody waits. */
async function outcomeOf(response: Response, overrides: Overrides = {}) {
  const { request, service } = setUp(overrides, nobody)
  service.answer = () => response
  return await request().catch((error: unknown) => error)
}

describe('the request', () => {
  test('is the form of the contract, on the wire', async () => {
    let body = ''
    await using server = await serve(async (request, response) => {
      body = await text(request)
      response.end(token)
    })
    const { request } = setUp({
      url: `${server.url}/tokenservice/token/api`,
      loginId: 'ä&b=c',
      password: 'p w+%"\\',
      fetch: platformFetch,
      clock: systemClock,
    })
    await expect(request()).resolves.toMatchObject({ token })
    const [seen] = server.requests
    expect(seen).toMatchObject({ method: 'POST', url: '/tokenservice/token/api' })
    expect(seen?.headersDistinct).toMatchObject({
      'content-type': ['application/x-www-form-urlencoded'],
      'content-length': [String(body.length)],
      'user-agent': ['portcullis'],
    })
    expect(seen?.headers.authorization).toBeUndefined()
    expect(seen?.headers.cookie).toBeUndefined()
    expect(body).toBe('loginId=%C3%A4%26b%3Dc&password=p+w%2B%25%22%5C')
  })

  test('reads the credentials at each login, and once for all its attempts', async () => {
    const loginId = vi.fn<() => string>(() => 'demo')
    const password = vi.fn<() => Promise<string>>().mockResolvedValue('first')
    const { request, service, clock } = setUp({ loginId, password })
    service.answer = () => new Response(null, { status: 503 })
    const login = request()
    await clock.advance(2)
    service.answer = () => service.token()
    await clock.advance(4)
    await login
    expect(service.requests).toHaveLength(3)
    expect([loginId, password].map(({ mock }) => mock.calls.length)).toEqual([1, 1])
    password.mockResolvedValue('second')
    await request()
    expect(service.requests.at(-1)?.init.body).toBe('loginId=demo&password=second')
  })

  test.each<[string, () => unknown, string]>([
    ['throws', failing, 'the function password failed'],
    ['rejects', async () => await Promise.reject(new Error('no')), 'the function password failed'],
    ['gives an empty text', () => '', 'the function password gave no text'],
    ['gives no text', () => 1, 'the function password gave no text'],
  ])('is not made if a credential function %s', async (_title, password, message) => {
    // The types forbid what plain JavaScript can do.
    const { request, service } = setUp({ password: password as () => string })
    await expect(request()).rejects.toMatchObject({ code: 'service_unavailable', message })
    expect(service.requests).toEqual([])
  })

  test('forbids redirects and carries the signal', async () => {
    const { request, service } = setUp()
    await request()
    expect(service.requests[0]?.init).toMatchObject({
      redirect: 'manual',
      credentials: 'omit',
    })
    expect(service.requests[0]?.init.signal).toBeInstanceOf(AbortSignal)
  })
})

describe('the status', () => {
  test.each([200, 201, 203])('%i with a token is a token', async (status) => {
    expect(await outcomeOf(new Response(token, { status }))).toMatchObject({ token })
  })

  test.each([
    [400, 'credentials_rejected'],
    [401, 'credentials_rejected'],
    [403, 'credentials_rejected'],
    [429, 'service_unavailable'],
    [500, 'service_unavailable'],
    [502, 'service_unavailable'],
    [503, 'service_unavailable'],
    [599, 'service_unavailable'],
    [301, 'unexpected_response'],
    [302, 'unexpected_response'],
    [304, 'unexpected_response'],
    [307, 'unexpected_response'],
    [308, 'unexpected_response'],
    [404, 'unexpected_response'],
    [405, 'unexpected_response'],
    [415, 'unexpected_response'],
    [422, 'unexpected_response'],
  ])('%i is %s', async (status, code) => {
    const message = `the token service answered with status ${status}`
    const error = await outcomeOf(new Response(null, { status }))
    expect(error).toBeInstanceOf(TokenClientError)
    expect(error).toMatchObject({ code, message, responseStatus: status })
  })

  test('200 from another URL is a redirect that was followed, or the answer of another host', async () => {
    const elsewhere = Object.defineProperty(new Response(token), 'url', { value: 'https://x.test' })
    const followed = Object.defineProperty(new Response(token), 'redirected', { value: true })
    const messages = [
      /^the answer of the token service has another url than was asked for: a fetch must follow no redirect, and one that /,
      /^the token service answered with a redirect/,
    ]
    for (const [at, response] of [elsewhere, followed].entries()) {
      expect(await outcomeOf(response)).toMatchObject({
        code: 'unexpected_response',
        message: expect.stringMatching(messages[at] ?? '') as unknown,
        responseStatus: 200,
      })
    }
  })

  test('a redirect costs the password nothing: it is not sent again', async () => {
    const seen: (string | undefined)[] = []
    await using server = await serve((request, response) => {
      seen.push(request.url)
      response.writeHead(307, { location: '/elsewhere' }).end()
    })
    const { request } = setUp({ url: `${server.url}/login`, fetch: platformFetch })
    await expect(request()).rejects.toMatchObject({
      code: 'unexpected_response',
      responseStatus: 307,
    })
    expect(seen).toEqual(['/login'])
  })

  test.each<[string, () => Promise<void>]>([
    ['fails', async () => await Promise.reject(new Error('reset'))],
    ['hangs', hang],
  ])('a refusal whose body %s when it is dropped is a refusal', async (_title, cancel) => {
    const body = new ReadableStream({ cancel })
    const { request, service } = setUp()
    service.answer = () => new Response(body, { status: 401 })
    await expect(request()).rejects.toMatchObject({ code: 'credentials_rejected' })
    expect(service.requests).toHaveLength(1)
  })

  test.each<[string, () => object]>([
    ['a stream of Node', () => Readable.from([Buffer.from('no')])],
    ['nothing but iterable', () => ({ [Symbol.asyncIterator]: hang })],
    [
      'a stream that cannot be cancelled',
      () => ({
        [Symbol.asyncIterator]: hang,
        cancel: () => {
          throw new Error('locked')
        },
      }),
    ],
  ])('a refusal whose body is %s is a refusal', async (_title, create) => {
    const body = create()
    const { request, service } = setUp()
    service.answer = () =>
      Object.defineProperty(new Response(null, { status: 401 }), 'body', { value: body })
    await expect(request()).rejects.toMatchObject({ code: 'credentials_rejected' })
    expect(service.requests).toHaveLength(1)
  })

  test('a stream of Node is a body', async () => {
    const body = Readable.from([Buffer.from(token)])
    const response = Object.defineProperty(new Response(), 'body', { value: body })
    expect(await outcomeOf(response)).toMatchObject({ token })
  })
})

describe('the body', () => {
  test('may have 64 KiB', async () => {
    expect(await outcomeOf(new Response(padded(64 * KIB)))).toMatchObject({ token })
  })

  test('of more is not read to its end', async () => {
    const cancel = vi.fn<() => void>()
    const chunk = new Uint8Array(16 * KIB).fill(0x20)
    const body = new ReadableStream(
      {
        pull: (controller) => {
          controller.enqueue(chunk)
        },
        cancel,
      },
      { highWaterMark: 0 },
    )
    expect(await outcomeOf(new Response(body))).toMatchObject({
      code: 'unexpected_response',
      message: expect.stringMatching(/no media type, more than 65536 bytes$/) as unknown,
    })
    expect(cancel).toHaveBeenCalledOnce()
  })

  test('counts after decompression', async () => {
    await using server = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(padded(1024 * KIB)))
    })
    const { request } = setUp({ url: server.url, fetch: platformFetch, clock: systemClock })
    await expect(request()).rejects.toMatchObject({ code: 'unexpected_response' })
  })

  test.each<[string, string | URLSearchParams | null, string]>([
    ['null', null, 'no media type, 0 characters'],
    ['a page', '<p>', 'text/plain, 3 characters'],
    ['a form', new URLSearchParams({ a: 'b' }), 'application/x-www-form-urlencoded, 3 characters'],
  ])('that is no token, %s: named by type and length', async (_title, body, size) => {
    expect(await outcomeOf(new Response(body))).toMatchObject({
      code: 'unexpected_response',
      responseStatus: 200,
      message: `the answer of the token service has no token that can be found: ${size}`,
    })
  })

  test('with a content type that says more than a media type says no more', async () => {
    const headers = { 'content-type': 'text/html; boundary=hunter2' }
    const error = await outcomeOf(new Response('x', { headers }))
    expect(error).toMatchObject({
      message: expect.stringMatching(/: text\/html, 1 characters$/) as unknown,
    })
  })

  test.each([
    ['Application/JSON ; charset=utf-8', 'application/json'],
    ['hunter2/hunter2', 'another media type'],
    ['application/hunter2+json', 'another media type'],
    ['hunter2', 'another media type'],
    ['', 'another media type'],
  ])('of the content type %j is named as %s', async (contentType, name) => {
    const headers = { 'content-type': contentType }
    expect(await outcomeOf(new Response('x', { headers }))).toMatchObject({
      message: `the answer of the token service has no token that can be found: ${name}, 1 characters`,
    })
  })

  test('is not found by a function that gives a promise, which the error tells', async () => {
    // The types forbid what plain JavaScript can do.
    const response: unknown = promising
    expect(
      await outcomeOf(new Response('x'), { response: response as () => string }),
    ).toMatchObject({
      code: 'unexpected_response',
      message: 'the function response gave a promise: it must give the token at once',
    })
  })

  test('may be empty when the token is in a header', async () => {
    const headers = { 'X-Token': token }
    for (const status of [200, 204]) {
      expect(
        await outcomeOf(new Response(null, { status, headers }), { response: headerOf }),
      ).toMatchObject({
        token,
      })
    }
  })

  test('comes in pieces, which may part a character', async () => {
    const octets = Buffer.from(JSON.stringify({ name: 'ä', token }))
    const body = ReadableStream.from(Array.from(octets, (octet) => Uint8Array.of(octet)))
    expect(await outcomeOf(new Response(body))).toMatchObject({ token })
  })

  test('may begin with a byte order mark', async () => {
    expect(await outcomeOf(new Response(`\uFEFF${JSON.stringify({ token })}`))).toMatchObject({
      token,
    })
  })

  test('that breaks off is an outage', async () => {
    const body = new ReadableStream({
      pull: (controller) => {
        controller.error(new TypeError('terminated'))
      },
    })
    expect(await outcomeOf(new Response(body))).toMatchObject({
      code: 'service_unavailable',
      message: 'the token service could not be reached',
    })
  })
})

test.each<[string, unknown, string]>([
  ['nothing', undefined, 'fetch gave undefined: '],
  [
    'the usual mock',
    { ok: true, status: 200, json: async () => ({ token }) },
    'fetch gave an object without a url, headers.get, a body that is a stream or null: ',
  ],
  [
    'what axios gives',
    { status: 200, headers: { get: () => null }, data: { token } },
    'fetch gave an object without a url, a body that is a stream or null: ',
  ],
])('what is no answer is named, and not asked for again: %s', async (_title, given, message) => {
  const { request, service } = setUp()
  // The types forbid what plain JavaScript can do.
  service.answer = () => given as Response
  await expect(request()).rejects.toMatchObject({
    code: 'unexpected_response',
    message: `${message}it must give a Response, or an object with status, url, headers and body as a Response has them`,
  })
  expect(service.requests).toHaveLength(1)
})

describe('a network error', () => {
  test.each<[string, unknown, string]>([
    ['a code', Object.assign(new Error('no'), { code: 'ECONNRESET' }), ' (ECONNRESET)'],
    [
      'a code underneath',
      new TypeError('fetch failed', {
        cause: Object.assign(new Error('no'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }),
      }),
      ' (DEPTH_ZERO_SELF_SIGNED_CERT)',
    ],
    [
      'the innermost of two codes',
      Object.assign(
        new Error('no', { cause: Object.assign(new Error('no'), { code: 'ENOTFOUND' }) }),
        {
          code: 'ERR_FETCH',
        },
      ),
      ' (ENOTFOUND)',
    ],
    [
      'a port that fetch blocks',
      new TypeError('fetch failed', { cause: new Error('bad port') }),
      ': fetch refuses this port',
    ],
    [
      'a proxy that refuses',
      new TypeError('fetch failed', {
        cause: new Error('Proxy response (407) !== 200 when HTTP Tunneling'),
      }),
      ': the proxy answered 407',
    ],
    [
      'a mistake in the function',
      new TypeError("Cannot read properties of undefined (reading 'x')"),
      ': fetch threw a TypeError, as a mistake in its code does',
    ],
    ['no code', new TypeError('fetch failed'), ''],
    ['a code that is a sentence', Object.assign(new Error('no'), { code: 'Bad pass' }), ''],
    ['a code that is a number', Object.assign(new Error('no'), { code: 1 }), ''],
    ['no error', 'no', ''],
  ])('with %s', async (_title, reason, suffix) => {
    const { request } = setUp(
      {
        fetch: async () => {
          throw reason
        },
      },
      nobody,
    )
    await expect(request()).rejects.toMatchObject({
      code: 'service_unavailable',
      message: `the token service could not be reached${suffix}`,
    })
  })

  test('of a port where nobody listens', async () => {
    let url = ''
    {
      await using server = await serve((_request, response) => response.end())
      url = server.url
    }
    const { request } = setUp({ url, fetch: platformFetch }, nobody)
    await expect(request()).rejects.toMatchObject({
      code: 'service_unavailable',
      message: 'the token service could not be reached (ECONNREFUSED)',
    })
  })
})

describe('a further attempt', () => {
  test('comes after 1, 2 and 4 s, up to a quarter later, and never ends after the deadline', async () => {
    const { request, service, clock } = setUp()
    service.answer = () => new Response(null, { status: 503 })
    const failure = failureOf(request())
    await clock.advance(10)
    expect(await failure).toMatchObject({ code: 'service_unavailable', responseStatus: 503 })
    const times = service.requests.map(({ time }) => time)
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0))
    expect(gaps).toHaveLength(3)
    for (const [index, gap] of gaps.entries()) {
      expect(gap).toBeGreaterThanOrEqual(2 ** index)
      expect(gap).toBeLessThanOrEqual(1.25 * 2 ** index)
    }
  })

  test('is made while somebody waits', async () => {
    let isAwaited = true
    const onRequest = vi.fn<() => void>()
    const { request, service, clock } = setUp(
      {},
      { ...nobody, isAwaited: () => isAwaited, onRequest },
    )
    service.answer = () => new Response(null, { status: 500 })
    const failure = failureOf(request())
    await clock.advance(0.9)
    isAwaited = false
    await clock.advance(1)
    expect(await failure).toMatchObject({ responseStatus: 500 })
    expect(onRequest).toHaveBeenCalledTimes(2)
    expect(service.requests).toHaveLength(2)
  })

  test.each<[string, () => Response | Promise<Response>, number]>([
    ['a network error', failing, 2],
    ['429', () => new Response(null, { status: 429 }), 2],
    ['500', () => new Response(null, { status: 500 }), 2],
    ['400', () => new Response(null, { status: 400 }), 1],
    ['401', () => new Response(null, { status: 401 }), 1],
    ['403', () => new Response(null, { status: 403 }), 1],
    ['404', () => new Response(null, { status: 404 }), 1],
    ['no token', () => new Response('no'), 1],
  ])('after %s: %#', async (_title, answer, requests) => {
    const { request, service, clock } = setUp()
    service.answer = answer
    const login = request().catch(() => undefined)
    await clock.advance(0)
    service.answer = () => service.token()
    await clock.advance(2)
    await login
    expect(service.requests).toHaveLength(requests)
  })

  test.each<[string, (now: number) => string, number]>([
    ['in seconds', () => '5', 5],
    ['as a date', (now) => httpDate(now + 5), 5],
    ['of less than our own pause', () => '0', 1],
    ['in the past', (now) => httpDate(now - 5), 1],
    ['that says nothing', () => 'soon', 1],
    ['that is negative', () => '-5', 1],
  ])('waits for a Retry-After %s', async (_title, value, earliest) => {
    const { request, service, clock } = setUp()
    service.answer = () =>
      new Response(null, { status: 503, headers: { 'retry-after': value(clock.now()) } })
    const login = request()
    await clock.advance(0)
    service.answer = () => service.token()
    await clock.advance(9)
    await login
    const [, second] = service.requests
    expect(second?.time).toBeGreaterThanOrEqual(earliest)
    expect(second?.time).toBeLessThanOrEqual(Math.max(earliest, 1.25))
  })

  test('is not made for a Retry-After beyond the deadline, which the error tells', async () => {
    const { request, service } = setUp()
    service.answer = () => new Response(null, { status: 429, headers: { 'retry-after': '10' } })
    await expect(request()).rejects.toMatchObject({ responseStatus: 429, retryAfter: 10 })
    expect(service.requests).toHaveLength(1)
  })

  test('is not made once the login is over', async () => {
    const { request, service, controller, clock } = setUp()
    service.answer = () => new Response(null, { status: 503 })
    const login = request()
    await clock.advance(0.5)
    const reason = new TokenClientError('aborted', 'enough')
    controller.abort(reason)
    await expect(login).rejects.toBe(reason)
    await clock.advance(9)
    expect(service.requests).toHaveLength(1)
  })
})

async function answerAt(
  skew: number,
  roundTrip: number,
  { meanwhile, iat }: { meanwhile?: (now: number) => number; iat?: (now: number) => unknown } = {},
) {
  let clockSkew = NaN
  const onClockSkew = (seconds: number) => (clockSkew = seconds)
  const { request, service, clock } = setUp({}, { ...awaited, onClockSkew })
  service.answer = late(service, roundTrip, () => {
    const exp = clock.now() + skew + 300
    const issuedAt = iat?.(clock.now() + skew)
    const date = httpDate(clock.now() + skew - roundTrip / 2)
    if (meanwhile !== undefined) clock.set(meanwhile(clock.now()))
    return new Response(jws({ exp, iat: issuedAt }), { headers: { date } })
  })
  const login = request()
  await clock.advance(roundTrip)
  return { ...(await login), clockSkew }
}

describe('clock skew', () => {
  test.each([-240, -31, 31, 240])('of %i s corrects the lifetime', async (skew) => {
    const { clockSkew, lifetime = 0 } = await answerAt(skew, 0)
    expect(Math.abs(clockSkew - skew)).toBeLessThanOrEqual(0.5)
    expect(Math.abs(lifetime - 300)).toBeLessThanOrEqual(0.5)
  })

  test.each([-1, -0.5, 0, 0.5, 1])('of %d s is none: Date has whole seconds', async (skew) => {
    const { clockSkew, lifetime } = await answerAt(skew * 0.4, 0)
    expect(clockSkew).toBe(0)
    expect(lifetime).toBeCloseTo(300 + skew * 0.4)
  })

  test('that a slow answer explains is none', async () => {
    expect((await answerAt(3, 8)).clockSkew).toBe(0)
    expect(Math.abs((await answerAt(60, 8)).clockSkew - 60)).toBeLessThanOrEqual(0.5)
  })

  test.each<[step: number, lifetime: number, told: number]>([
    [-240, 300, 240],
    [-3600, 3900, 3600],
    // As if the machine had been suspended: our clock alone decides.
    [240, 60, 0],
    [3600, -3300, 0],
  ])(
    'a clock set by %i s while the answer was on its way: %i s are left, and %i s are told',
    async (step, left, told) => {
      const { lifetime = 0, clockSkew } = await answerAt(0, 4, { meanwhile: (now) => now + step })
      expect(Math.abs(lifetime - left)).toBeLessThanOrEqual(3)
      expect(Math.abs(clockSkew - told)).toBeLessThanOrEqual(3)
    },
  )

  test.each([
    ['no Date', {}],
    ['a Date that is none', { date: 'today' }],
    ['a Date without a zone', { date: '2025-12-31T00:00:00' }],
    ['the Date of a stored answer', { date: httpDate(1_767_225_400), age: '200' }],
  ])('%s: none', async (_title, headers) => {
    const { request, service, clock } = setUp()
    service.answer = () => new Response(jws({ exp: clock.now() + 300 }), { headers })
    await expect(request()).resolves.toMatchObject({ lifetime: 300 })
  })

  test.each([-360, 360, 3600, -72_000, 1e8])(
    'of %i s, more than five minutes, is told and corrects nothing',
    async (skew) => {
      const { clockSkew, lifetime } = await answerAt(skew, 0)
      expect(Math.abs(clockSkew - skew)).toBeLessThanOrEqual(0.5)
      expect(lifetime).toBe(300 + skew)
    },
  )

  test('of whatever size does not make a token last longer than from iat to exp', async () => {
    for (const skew of [3600, 86_402, 1e8]) {
      const { lifetime = 0 } = await answerAt(skew, 0, { iat: (now) => now })
      expect(lifetime).toBeGreaterThanOrEqual(299.5)
      expect(lifetime).toBeLessThanOrEqual(300)
    }
  })

  test.each(['0', null, undefined])(
    'an iat of %j, which is no number, says nothing',
    async (iat) => {
      expect(await answerAt(0, 0, { iat: () => iat })).toMatchObject({ lifetime: 300 })
    },
  )

  test.each([401, 503])('is told with an answer %i as well', async (status) => {
    const onClockSkew = vi.fn<(seconds: number) => void>()
    const { request, service, clock } = setUp({}, { ...nobody, onClockSkew })
    const headers = { date: httpDate(clock.now() + 3600) }
    service.answer = () => new Response(null, { status, headers })
    await failureOf(request())
    expect(onClockSkew).toHaveBeenCalledExactlyOnceWith(3600.5)
  })

  test('a token without expiry has no lifetime', async () => {
    const { request, service } = setUp()
    service.answer = () => new Response(jws({}))
    await expect(request()).resolves.toMatchObject({ lifetime: undefined })
  })
})

describe('sleep', () => {
  test('does not begin once it is over', async () => {
    const { clock } = createLoginService()
    const reason = new Error('over')
    await expect(sleep(clock, 1, AbortSignal.abort(reason))).rejects.toBe(reason)
  })

  test('leaves no timer behind when it is aborted', async () => {
    const cancel = vi.fn<() => void>()
    const controller = new AbortController()
    const sleeping = sleep({ ...systemClock, after: () => cancel }, 1, controller.signal)
    expect(await stateOf(sleeping)).toBe('pending')
    controller.abort(new Error('over'))
    await expect(sleeping).rejects.toThrow('over')
    expect(cancel).toHaveBeenCalledOnce()
  })
})

function failing(): never {
  throw new Error('no')
}

async function promising(): Promise<never> {
  return await Promise.reject(new Error('hunter2'))
}

const headerOf: ResponseFormat = (body, { headers }) =>
  body === '' ? headers.get('x-token') : undefined

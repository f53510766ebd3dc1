import { describe, expect, test } from 'vitest'

import { failureOf, hang, stateOf } from '../login-service.ts'
import { createClient, createServer, ENDPOINT, ISSUER, posts } from './server.ts'

const FIRST = '/.well-known/oauth-authorization-server'
const SECOND = '/.well-known/openid-configuration'

function setUp(options: Parameters<typeof createClient>[1] = {}) {
  const server = createServer()
  const client = createClient(server, { tokenEndpoint: undefined, issuer: ISSUER, ...options })
  return { server, clock: server.clock, client }
}

const of = (members: object) => () => Response.json({ issuer: ISSUER, ...members })
const usable = of({ token_endpoint: ENDPOINT })

/** An answer that breaks off. */
function broken(): Response {
  return new Response(
    new ReadableStream({
      pull(stream) {
        stream.error(new Error('canary'))
      },
    }),
  )
}

function reset(): Response {
  throw new TypeError('fetch failed')
}

test('the metadata are read once, before the first token', async () => {
  const { server, client, clock } = setUp()
  await client.get()
  await clock.advance(300)
  await client.get()
  expect(server.paths()).toEqual([FIRST, '/token', '/token'])
})

test('after an hour they are read again, while what is known serves', async () => {
  const { server, client, clock } = setUp()
  await client.get()
  await clock.advance(3600)
  const { answer } = server
  server.answer = (request) =>
    request.url === ENDPOINT ? server.grant() : new Response(null, { status: 500 })
  await client.get()
  expect(server.paths().filter((path) => path === FIRST)).toHaveLength(2)
  server.answer = answer
  await clock.advance(300)
  await client.get()
  expect(server.paths().filter((path) => path === FIRST)).toHaveLength(2)
})

test('a tenant’s are asked for as RFC 8414 says, then as OpenID Connect Discovery says', async () => {
  const issuer = `${ISSUER}/tenant/v2`
  const { server, client } = setUp({ issuer })
  server.answer = ({ url }) => {
    if (url === ENDPOINT) return server.grant()
    if (!url.endsWith(SECOND)) return new Response('<html>', { status: 200 })
    return Response.json({ issuer, token_endpoint: ENDPOINT })
  }
  await client.get()
  expect(server.paths()).toEqual([`${FIRST}/tenant/v2`, `/tenant/v2${SECOND}`, '/token'])
})

test('an issuer that has only the document of OpenID Connect is asked for that', async () => {
  const { server, client } = setUp()
  server.answer = ({ url }) => {
    if (url === ENDPOINT) return server.grant()
    if (!url.endsWith(SECOND)) return new Response(null, { status: 404 })
    return Response.json({ issuer: ISSUER, token_endpoint: ENDPOINT })
  }
  expect(await client.get()).toBe('opaque-0')
  expect(server.paths()).toEqual([FIRST, SECOND, '/token'])
})

test.each([
  ['of an issuer of this machine', 'http://127.0.0.1:3', {}],
  ['where http is permitted', ISSUER, { allowInsecure: true }],
])('an endpoint without TLS is used %s', async (_title, issuer, options) => {
  const { server, client } = setUp({ issuer, ...options })
  const endpoint = 'http://127.0.0.1:3/token'
  server.answer = ({ url }) =>
    url === endpoint ? server.grant() : Response.json({ issuer, token_endpoint: endpoint })
  expect(await client.get()).toBe('opaque-0')
})

describe('an issuer with an endpoint for certificates', () => {
  const mtls = 'https://mtls.as.test/token'
  const members = {
    issuer: ISSUER,
    token_endpoint: ENDPOINT,
    mtls_endpoint_aliases: { token_endpoint: mtls },
  }

  test.each<[string, Parameters<typeof setUp>[0], string]>([
    ['is asked there with a certificate', { certificate: true }, mtls],
    ['is asked at the other one without', {}, ENDPOINT],
  ])('%s', async (_title, options, endpoint) => {
    const { server, client } = setUp(options)
    server.answer = ({ url }) => (url === endpoint ? server.grant() : Response.json(members))
    expect(await client.get()).toBe('opaque-0')
    expect(server.forms()).toMatchObject([{ grant_type: 'client_credentials' }])
  })
})

describe('metadata that cannot be used', () => {
  const deep = '['.repeat(5000)
  const OTHER = 'the metadata are of another issuer'
  const PLACE = 'write it so in createOAuthClient'
  const NO_ENDPOINT = 'the metadata name no usable token endpoint'
  const NO_OBJECT = 'the metadata are no JSON object with each member once'
  test.each<[string, () => Response, string]>([
    ['of another issuer', of({ issuer: 'https://other.test', token_endpoint: ENDPOINT }), OTHER],
    ['of an issuer that is null', of({ issuer: null, token_endpoint: ENDPOINT }), OTHER],
    [
      'of the issuer with a slash',
      of({ issuer: `${ISSUER}/`, token_endpoint: ENDPOINT }),
      `the metadata write the issuer with a slash at the end: ${PLACE}`,
    ],
    ['without an endpoint', of({}), NO_ENDPOINT],
    ['with an endpoint that is null', of({ token_endpoint: null }), NO_ENDPOINT],
    ['with an endpoint that is no text', of({ token_endpoint: 1 }), NO_ENDPOINT],
    ['with an endpoint in a list', of({ token_endpoint: [ENDPOINT] }), NO_ENDPOINT],
    [
      'with an endpoint that is not https',
      of({ token_endpoint: 'http://as.test/token' }),
      NO_ENDPOINT,
    ],
    [
      'with an endpoint of this machine without TLS',
      of({ token_endpoint: 'http://127.0.0.1:6379/' }),
      'the metadata of an https issuer name a token endpoint that is not',
    ],
    [
      'with two endpoints',
      () =>
        new Response(
          `{"issuer":"${ISSUER}","token_endpoint":"https://other.test","token_endpoint":"${ENDPOINT}"}`,
        ),
      NO_OBJECT,
    ],
    ['that are no object', () => Response.json([]), NO_OBJECT],
    ['that are no JSON', () => new Response('canary'), NO_OBJECT],
    ['that are nested too deep', () => new Response(deep), NO_OBJECT],
    ['that are too long', () => new Response(' '.repeat(65_537)), NO_OBJECT],
    [
      'that redirect',
      () => new Response(null, { status: 302 }),
      'the metadata URL answered with status 302',
    ],
    [
      'with another status',
      () => Response.json({ issuer: ISSUER, token_endpoint: ENDPOINT }, { status: 203 }),
      'the metadata URL answered with status 203',
    ],
    [
      'that do not exist',
      () => new Response(null, { status: 404 }),
      'the metadata URL answered with status 404',
    ],
  ])('%s: no secret is sent, and the error says why', async (_title, answer, message) => {
    const { server, client } = setUp()
    server.answer = answer
    expect(await failureOf(client.get())).toMatchObject({
      code: 'unexpected_response',
      status: 502,
      message,
    })
    expect(server.paths()).toEqual([FIRST, SECOND])
    expect(posts(server)).toEqual([])
  })

  test('of the issuer without its slash', async () => {
    const { server, client } = setUp({ issuer: `${ISSUER}/` })
    server.answer = of({ token_endpoint: ENDPOINT })
    expect(await failureOf(client.get())).toMatchObject({
      message: `the metadata write the issuer without the slash at the end: ${PLACE}`,
    })
  })
})

describe('when the address of RFC 8414 gives no metadata, OpenID Connect Discovery is asked', () => {
  test.each<[string, () => Response | Promise<Response>]>([
    ['it answers 500', () => new Response(null, { status: 500 })],
    ['it answers 503', () => new Response(null, { status: 503 })],
    ['its connection is reset', reset],
    ['its answer breaks off', broken],
    ['it answers 403', () => new Response(null, { status: 403 })],
    ['it has a page', () => new Response('<html>')],
    ['it has metadata of another issuer', () => Response.json({ issuer: 'https://other.test' })],
  ])('%s', async (_title, first) => {
    const { server, client } = setUp()
    const { answer } = server
    server.answer = (request) => {
      if (request.url.endsWith(FIRST)) return first()
      return request.url.endsWith(SECOND) ? usable() : answer(request)
    }
    expect(await client.get()).toBe('opaque-0')
    expect(server.paths()).toEqual([FIRST, SECOND, '/token'])
  })

  test.each(['the second answers', 'the first answers after all'])(
    'it hangs for a third of the time, and %s',
    async (title) => {
      const { server, client, clock } = setUp({ timeout: 9 })
      const { answer } = server
      const isSecond = title === 'the second answers'
      server.answer = async (request) => {
        if (request.url.endsWith(isSecond ? SECOND : FIRST)) {
          if (!isSecond) await new Promise<void>((resolve) => void clock.after(5, resolve))
          return usable()
        }
        return request.url === ENDPOINT ? await answer(request) : await hang()
      }
      const token = client.get()
      await clock.advance(2.9)
      expect(server.paths()).toEqual([FIRST])
      await clock.advance(0.2)
      if (!isSecond) await clock.advance(2)
      expect(await token).toBe('opaque-0')
      expect(server.paths()).toEqual([FIRST, SECOND, '/token'])
    },
  )

  test('but not after 429, which wants a pause', async () => {
    const { server, client, clock } = setUp()
    server.answer = () => new Response(null, { status: 429, headers: { 'retry-after': '20' } })
    expect(await failureOf(client.get())).toMatchObject({
      code: 'service_unavailable',
      status: 503,
    })
    await clock.advance(19)
    const later = { token: 'later', claims: { exp: clock.now() + 600 } }
    expect(await failureOf(client.onBehalfOf(later).get())).toMatchObject({ status: 503 })
    expect(server.paths()).toEqual([FIRST])
  })

  test.each<[string, () => Response, () => Response, string]>([
    [
      'an outage beside what is not there',
      () => new Response(null, { status: 503 }),
      () => new Response(null, { status: 404 }),
      'service_unavailable',
    ],
    [
      'an outage beside a page',
      () => new Response('<html>'),
      () => new Response(null, { status: 503 }),
      'service_unavailable',
    ],
    [
      'metadata of another issuer beside an outage',
      () => Response.json({ issuer: `${ISSUER}/` }),
      () => new Response(null, { status: 503 }),
      'unexpected_response',
    ],
  ])('of two failures the one counts that explains more: %s', async (_title, first, next, code) => {
    const { server, client } = setUp()
    server.answer = ({ url }) => (url.endsWith(FIRST) ? first() : next())
    expect(await failureOf(client.get())).toMatchObject({ code })
  })
})

test.each([
  ['a fragment, which no request has', `${ENDPOINT}#x`, ENDPOINT],
  ['a host in upper case', 'https://AS.test/token', ENDPOINT],
  ['no path', 'https://as.test', 'https://as.test/'],
])('an endpoint with %s is asked', async (_title, written, asked) => {
  const { server, client } = setUp()
  server.answer = ({ url }) => {
    if (url !== asked) return Response.json({ issuer: ISSUER, token_endpoint: written })
    const answer = server.grant()
    // As the platform says from where an answer comes.
    return Object.defineProperty(answer, 'url', { value: asked })
  }
  expect(await client.get()).toBe('opaque-0')
  expect(posts(server).map(({ url }) => url)).toEqual([asked])
})

test('an alias for certificates that is null is none', async () => {
  const { server, client } = setUp({ certificate: true })
  const aliases = { mtls_endpoint_aliases: { token_endpoint: null } }
  server.answer = ({ url }) =>
    url === ENDPOINT
      ? server.grant()
      : Response.json({ issuer: ISSUER, token_endpoint: ENDPOINT, ...aliases })
  expect(await client.get()).toBe('opaque-0')
})

test('an outage is one: both documents are asked for, and none more', async () => {
  const { server, client, clock } = setUp({ timeout: 2 })
  server.answer = () => new Response(null, { status: 503 })
  const failure = failureOf(client.get())
  await clock.advance(4)
  expect(await failure).toMatchObject({ code: 'service_unavailable', status: 503 })
  expect(server.paths()).toEqual([FIRST, SECOND])
})

test('metadata that hang end with the deadline, and the next attempt reads them again', async () => {
  const { server, client, clock } = setUp()
  const { answer } = server
  server.answer = hang
  const failure = failureOf(client.get())
  await clock.advance(10)
  expect(await failure).toMatchObject({ code: 'timeout', status: 503 })
  expect(server.requests[0]?.init.signal?.aborted).toBe(true)
  server.answer = answer
  await clock.advance(15)
  expect(await client.get()).toBe('opaque-0')
})

test('an attempt leaves no timer, and its signal ends: nothing of it can go on', async () => {
  const server = createServer()
  const timers = new Set<object>()
  const clock = {
    ...server.clock,
    after(seconds: number, fn: () => void) {
      const timer = {}
      timers.add(timer)
      const cancel = server.clock.after(seconds, fn)
      return () => {
        timers.delete(timer)
        cancel()
      }
    },
  }
  await createClient(server, { tokenEndpoint: undefined, issuer: ISSUER, clock }).get()
  expect(server.requests[0]?.init.signal?.aborted).toBe(true)
  expect(timers.size).toBe(0)
})

test('the body of an answer without metadata is not left to come', async () => {
  const { server, client } = setUp()
  let cancelled = 0
  const body = () => new ReadableStream({ cancel: () => void (cancelled += 1) })
  server.answer = () => new Response(body(), { status: 503 })
  await failureOf(client.get())
  expect(cancelled).toBe(2)
})

test('whoever comes in the pause after a failure hears of it at once, with the time that is left', async () => {
  const { server, client, clock } = setUp()
  server.answer = () => new Response(null, { status: 503, headers: { 'retry-after': '20' } })
  const first = failureOf(client.get())
  await clock.advance(10)
  await first
  const exp = clock.now() + 600
  const count = server.requests.length
  const before = await failureOf(client.onBehalfOf({ token: 'a', claims: { exp } }).get())
  expect(before).toMatchObject({ code: 'service_unavailable', status: 503 })
  const { retryAfter } = before as { retryAfter: number }
  expect(retryAfter).toBeGreaterThanOrEqual(10)
  expect(retryAfter).toBeLessThanOrEqual(14)
  expect(server.requests).toHaveLength(count)
})

test('after a document that cannot be used there is a pause as well', async () => {
  const { server, client, clock } = setUp()
  const { answer } = server
  server.answer = () => Response.json({ issuer: 'https://other.test', token_endpoint: ENDPOINT })
  await failureOf(client.get())
  const count = server.requests.length
  const exp = clock.now() + 600
  const soon = { token: 'soon', claims: { exp } }
  expect(await failureOf(client.onBehalfOf(soon).get())).toMatchObject({ status: 502 })
  expect(server.requests).toHaveLength(count)
  server.answer = answer
  await clock.advance(40)
  const later = { token: 'later', claims: { exp } }
  expect(await client.onBehalfOf(later).get()).toBe('opaque-0')
})

test('the metadata are asked for as JSON, without credentials, and no redirect is followed', async () => {
  const { server, client } = setUp()
  await client.get()
  expect(server.requests[0]?.init).toMatchObject({
    headers: { accept: 'application/json', 'user-agent': 'portcullis' },
    redirect: 'manual',
    credentials: 'omit',
  })
})

test('subjects who come at once read them together, and wait together after a failure', async () => {
  const { server, client, clock } = setUp()
  server.answer = hang
  const exp = clock.now() + 60
  const claims = (sub: number) => ({ exp, sub })
  const failures = Array.from({ length: 20 }, async (_, sub) =>
    failureOf(client.onBehalfOf({ token: `t${sub}`, claims: claims(sub) }).get()),
  )
  expect(await stateOf(Promise.all(failures))).toBe('pending')
  expect(server.requests).toHaveLength(1)
  await clock.advance(10)
  await Promise.all(failures)
  const other = { token: 'other', claims: claims(99) }
  expect(await failureOf(client.onBehalfOf(other).get())).toMatchObject({
    code: 'timeout',
    status: 503,
    message: 'the authorization server gave no metadata in 10 s',
  })
  expect(server.requests).toHaveLength(2)
})

test('metadata that hang again and again are read less and less often, up to once a minute', async () => {
  const { server, client, clock } = setUp()
  server.answer = hang
  const handleOf = (token: string) =>
    client.onBehalfOf({ token, claims: { exp: clock.now() + 3600 } })
  let last: unknown
  for (let count = 0; count < 8; count++) {
    const failure = failureOf(handleOf(`first-${count}`).get())
    await clock.advance(10)
    await failure
    last = await failureOf(handleOf(`second-${count}`).get())
    await clock.advance(100)
  }
  const { retryAfter } = last as { retryAfter: number }
  expect(retryAfter).toBeGreaterThanOrEqual(60)
  expect(retryAfter).toBeLessThanOrEqual(73)
  expect(server.requests).toHaveLength(16)
})

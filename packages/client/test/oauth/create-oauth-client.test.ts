import { subscribe, unsubscribe } from 'node:diagnostics_channel'

import { describe, expect, test } from 'vitest'

import type { OAuthClientOptions } from '../../src/oauth.ts'
import { failureOf, hang, stateOf } from '../login-service.ts'
import {
  API,
  bodyOf,
  createClient,
  createServer,
  ENDPOINT,
  ISSUER,
  posts,
  refusing,
} from './server.ts'

function setUp(options: Partial<OAuthClientOptions> = {}) {
  const server = createServer()
  return { server, clock: server.clock, client: createClient(server, options) }
}

describe('client credentials', () => {
  test('are sent as a form, with the target and the secret in the header', async () => {
    const { server, client } = setUp({
      clientId: 'shop one',
      clientSecret: 'p:ä',
      scope: 'orders:read orders:write',
      resource: ['https://orders.test', 'urn:b'],
      audience: 'orders',
    })
    expect(await client.get()).toBe('opaque-0')
    const [request] = posts(server)
    expect(request?.url).toBe(ENDPOINT)
    expect(bodyOf(request?.init ?? {})).toBe(
      'scope=orders%3Aread+orders%3Awrite&resource=https%3A%2F%2Forders.test&resource=urn%3Ab&audience=orders&grant_type=client_credentials',
    )
    const headers = new Headers(request?.init.headers)
    expect(headers.get('authorization')).toBe(`Basic ${btoa('shop+one:p%3A%C3%A4')}`)
    expect(headers.get('user-agent')).toBe('portcullis')
    expect(request?.init).toMatchObject({ redirect: 'manual', credentials: 'omit' })
  })

  test('1,000 callers: one request, and none more while the token is held', async () => {
    const { server, client } = setUp()
    const tokens = await Promise.all(Array.from({ length: 1000 }, async () => await client.get()))
    expect(new Set(tokens).size).toBe(1)
    await client.get()
    expect(server.requests).toHaveLength(1)
  })

  test('are asked for again before the time in expires_in is over, whatever the token says', async () => {
    const { server, client, clock } = setUp()
    expect(await client.get()).toBe('opaque-0')
    await clock.advance(264)
    await client.get()
    expect(server.requests).toHaveLength(1)
    await clock.advance(34)
    expect(await client.get()).toBe('opaque-1')
  })

  test('fetch sends the token to the listed origins alone', async () => {
    const { server, client } = setUp()
    expect(await client.fetch(`${API}/orders`).then(async (answer) => await answer.text())).toBe(
      'ok',
    )
    const sent = new Headers(server.requests.at(-1)?.init.headers).get('authorization')
    expect(sent).toBe('Bearer opaque-0')
    expect(await failureOf(client.fetch('https://other.test/'))).toMatchObject({
      name: 'OAuthError',
      code: 'origin_not_allowed',
      status: 500,
    })
    expect(server.requests).toHaveLength(2)
  })

  test('after a 401 of the API the request is repeated once, with another token', async () => {
    const { server, client } = setUp()
    server.api = ({ init }) => {
      const isFirst = new Headers(init.headers).get('authorization') === 'Bearer opaque-0'
      return new Response(null, { status: isFirst ? 401 : 200 })
    }
    expect((await client.fetch(API)).status).toBe(200)
    expect(posts(server)).toHaveLength(2)
  })
})

describe('a refusal', () => {
  test('is not repeated, and waits as long as a wrong password does', async () => {
    const { server, client, clock } = setUp()
    server.answer = refusing('invalid_client', 401)
    const failure = await failureOf(client.get())
    expect(failure).toMatchObject({ code: 'invalid_client', status: 502, retryAfter: 30 })
    expect(String(failure)).not.toContain('canary')
    await clock.advance(29)
    expect(await failureOf(client.get())).toMatchObject({ code: 'invalid_client', retryAfter: 1 })
    expect(server.requests).toHaveLength(1)
    await clock.advance(1)
    await failureOf(client.get())
    expect(server.requests).toHaveLength(2)
    expect(client.status()).toMatchObject({ lastFailure: 'credentials_rejected', failures: 2 })
  })

  test.each([
    ['canary_code', 400],
    [undefined, 403],
    [7, 401],
  ])('with the code %j is an unexpected response', async (error, status) => {
    const { server, client } = setUp()
    server.answer = refusing(error, status)
    const failure = await failureOf(client.get())
    const message = `the token service answered with status ${status}`
    expect(failure).toMatchObject({ code: 'unexpected_response', status: 502, message })
    expect(JSON.stringify(failure)).not.toContain('canary')
  })

  test('of its own grant is never the fault of a caller, and says so as JSON too', async () => {
    const { server, client } = setUp()
    server.answer = refusing('invalid_grant')
    const failure = await failureOf(client.get())
    expect(JSON.parse(JSON.stringify(failure))).toEqual({
      name: 'OAuthError',
      code: 'invalid_grant',
      status: 502,
      message: 'the token service answered with status 400 and invalid_grant',
      retryAfter: 30,
    })
  })

  test.each([400, 401, 403])(
    'of status %i is one whose body breaks off, too: it is not repeated',
    async (status) => {
      const { server, client, clock } = setUp()
      server.answer = () => new Response(broken(), { status })
      const failure = failureOf(client.get())
      await clock.advance(10)
      expect(await failure).toMatchObject({
        code: 'unexpected_response',
        status: 502,
        retryAfter: 30,
      })
      expect(server.requests).toHaveLength(1)
    },
  )

  test('whose body hangs ends with the deadline', async () => {
    const { server, client, clock } = setUp()
    server.answer = () => new Response(new ReadableStream({ pull: hang }), { status: 400 })
    const failure = failureOf(client.get())
    await clock.advance(10)
    expect(await failure).toMatchObject({ code: 'timeout', status: 503 })
  })
})

describe('an outage', () => {
  test('is repeated within the deadline, and Retry-After is followed', async () => {
    const { server, client, clock } = setUp()
    server.answer = () => new Response(null, { status: 503, headers: { 'retry-after': '40' } })
    const failure = await failureOf(client.get())
    expect(failure).toMatchObject({ code: 'service_unavailable', status: 503 })
    expect((failure as { retryAfter: number }).retryAfter).toBeGreaterThanOrEqual(40)
    await clock.advance(30)
    await failureOf(client.get())
    expect(server.requests).toHaveLength(1)
    await clock.advance(15)
    server.answer = () => server.grant()
    expect(await client.get()).toBe('opaque-0')
  })

  test('is one whatever its body says', async () => {
    const { server, client } = setUp({ timeout: 0.1 })
    server.answer = refusing('invalid_grant', 503)
    expect(await failureOf(client.get())).toMatchObject({ code: 'service_unavailable' })
  })

  test('does not matter while the token is valid', async () => {
    const { server, client, clock } = setUp()
    await client.get()
    await clock.advance(295)
    server.answer = () => new Response(null, { status: 500 })
    expect(await client.get()).toBe('opaque-0')
  })

  test('that hangs: the caller hears of it at the deadline, and one who aborts at once', async () => {
    const { server, client, clock } = setUp({ timeout: 5 })
    server.answer = hang
    const controller = new AbortController()
    const left = failureOf(client.get({ signal: controller.signal }))
    const stayed = failureOf(client.get())
    controller.abort()
    expect(await left).toMatchObject({ code: 'aborted', status: 503 })
    await clock.advance(4.9)
    expect(await stateOf(stayed)).toBe('pending')
    await clock.advance(0.1)
    expect(await stayed).toMatchObject({ code: 'timeout', status: 503 })
    expect(server.requests).toHaveLength(1)
  })
})

describe('dpop', () => {
  test('a nonce of the server costs one request more, with another assertion', async () => {
    const key = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, [
      'sign',
      'verify',
    ])
    const { server, client } = setUp({ dpop: true, privateKey: { key: key.privateKey } })
    server.answer = ({ init }) => {
      const [, payload = ''] = new Headers(init.headers).get('dpop')?.split('.') ?? []
      const { nonce } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object & {
        nonce?: string
      }
      if (nonce === 'n1') return server.grant({ token_type: 'DPoP' })
      const headers = { 'dpop-nonce': 'n1' }
      return Response.json({ error: 'use_dpop_nonce' }, { status: 400, headers })
    }
    expect(await client.getAuthorization()).toBe('DPoP opaque-0')
    const assertions = server.forms().map((form) => form['client_assertion'])
    expect(new Set(assertions).size).toBe(2)
  })

  test('a server whose nonces count once gives the next one with each answer', async () => {
    const { server, client, clock } = setUp({ dpop: true })
    let nonce = 0
    server.answer = ({ init }) => {
      const [, payload = ''] = new Headers(init.headers).get('dpop')?.split('.') ?? []
      const sent: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString())
      const isKnown = Reflect.get(Object(sent), 'nonce') === `n${nonce}`
      nonce += 1
      const answer = isKnown
        ? server.grant({ token_type: 'DPoP' })
        : Response.json({ error: 'use_dpop_nonce' }, { status: 400 })
      answer.headers.set('dpop-nonce', `n${nonce}`)
      return answer
    }
    expect(await client.get()).toBe('opaque-0')
    expect(server.requests).toHaveLength(2)
    await clock.advance(300)
    expect(await client.get()).toBe('opaque-1')
    expect(server.requests).toHaveLength(3)
  })

  test('one that refuses each nonce is asked twice, and then waits as after any refusal', async () => {
    const { server, client, clock } = setUp({ dpop: true })
    let nonce = 0
    server.answer = () => {
      const headers = { 'dpop-nonce': `n${nonce++}` }
      return Response.json({ error: 'use_dpop_nonce' }, { status: 400, headers })
    }
    const failure = await failureOf(client.get())
    expect(failure).toMatchObject({ code: 'unexpected_response', status: 502, retryAfter: 30 })
    await clock.advance(29)
    await failureOf(client.get())
    expect(server.requests).toHaveLength(2)
  })

  test('a token of the type Bearer is not used', async () => {
    const { client } = setUp({ dpop: true })
    expect(await failureOf(client.get())).toMatchObject({ code: 'token_unusable', status: 502 })
  })
})

test('close ends the request under way, and later calls fail', async () => {
  const { server, client } = setUp({ tokenEndpoint: undefined, issuer: ISSUER })
  server.answer = hang
  const failure = failureOf(client.get())
  expect(await stateOf(failure)).toBe('pending')
  await client.close()
  expect(await failure).toMatchObject({ code: 'aborted' })
  expect(await failureOf(client.get())).toMatchObject({ code: 'aborted' })
})

test('the diagnostics channel has the outcome, and names the client, also of an exchange', async () => {
  const messages: unknown[] = []
  const listen = (message: unknown) => void messages.push(message)
  subscribe('portcullis:login', listen)
  const { server, client } = setUp()
  server.answer = refusing('invalid_scope')
  await failureOf(client.get())
  await failureOf(client.onBehalfOf({ token: 'a', claims: {} }).get())
  unsubscribe('portcullis:login', listen)
  const outcome = 'credentials_rejected'
  expect(messages).toMatchObject([
    { kind: 'login', outcome, requests: 1 },
    { kind: 'exchange', outcome, requests: 1 },
  ])
  for (const message of messages) expect(message).toHaveProperty('client', client)
})

/** A body that breaks off. */
function broken(): ReadableStream {
  return new ReadableStream({
    pull(stream) {
      stream.error(new Error('canary'))
    },
  })
}

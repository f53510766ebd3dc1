import { describe, expect, test } from 'vitest'

import { failureOf, jws } from '../login-service.ts'
import { createClient, createServer, slowly } from './server.ts'

const GRANT = '{"access_token":"a","token_type":"Bearer","expires_in":9}'

async function outcomeOf(members: Readonly<Record<string, unknown>>, options = {}) {
  const server = createServer()
  server.answer = () => server.grant(members)
  const client = createClient(server, options)
  const token = await client.get().catch((error: unknown) => error)
  return { token, client }
}

describe('an answer without a token that can be used says what was expected', () => {
  const NO_TOKEN = 'has no access_token'
  const NO_HEADER =
    'has an access_token that no header can have: expected a text of visible ASCII characters'
  const ANOTHER_TYPE = 'has another token_type: expected Bearer'
  const NO_SECONDS = 'has an expires_in that is no number of seconds from 0'
  const NO_ACCESS_TOKEN = /^has an issued_token_type that is no access token: expected one of urn:/
  test.each<[string, Readonly<Record<string, unknown>>, string | RegExp]>([
    ['no token', { access_token: undefined }, NO_TOKEN],
    ['a token that is null', { access_token: null }, NO_TOKEN],
    ['an empty token', { access_token: '' }, NO_HEADER],
    ['a token that is no text', { access_token: 1 }, NO_HEADER],
    ['a token that no header can have', { access_token: 'canary\r\nx' }, NO_HEADER],
    ['a token with a space', { access_token: 'canary two' }, NO_HEADER],
    ['a token with a control character', { access_token: 'canary\u007f' }, NO_HEADER],
    ['a token that is not ASCII', { access_token: 'canary-\u00e4' }, NO_HEADER],
    ['a type that is not known', { token_type: 'canary' }, ANOTHER_TYPE],
    ['a type that is no text', { token_type: 1 }, ANOTHER_TYPE],
    ['a type in a list', { token_type: ['bearer'] }, ANOTHER_TYPE],
    ['an empty type', { token_type: '' }, ANOTHER_TYPE],
    [
      'the type of a proof that nobody made',
      { token_type: 'DPoP' },
      'has the token_type DPoP: expected Bearer, since dpop is not set',
    ],
    ['a lifetime that is none', { expires_in: 'canary' }, NO_SECONDS],
    ['a lifetime below 0', { expires_in: -1 }, NO_SECONDS],
    ['a lifetime that begins as one', { expires_in: '100 canary' }, NO_SECONDS],
    ['a lifetime with a sign', { expires_in: '-0' }, NO_SECONDS],
    ['a lifetime in a list', { expires_in: [100] }, NO_SECONDS],
    ['a lifetime that is true', { expires_in: true }, NO_SECONDS],
    ['a lifetime with an exponent', { expires_in: '1e3' }, NO_SECONDS],
    [
      'what is no access token',
      { issued_token_type: 'urn:ietf:params:oauth:token-type:refresh_token' },
      NO_ACCESS_TOKEN,
    ],
    ['an issued type that is no text', { issued_token_type: {} }, NO_ACCESS_TOKEN],
  ])('%s', async (_title, members, expected) => {
    const { token } = await outcomeOf(members)
    expect(token).toMatchObject({ name: 'OAuthError', code: 'unexpected_response', status: 502 })
    const { message } = token as Error
    expect(message.replace('the answer of the token service ', '')).toMatch(expected)
    expect(JSON.stringify(token)).not.toContain('canary')
  })

  test.each<[string, () => Response]>([
    ['no JSON', () => new Response('canary')],
    ['a list', () => Response.json([])],
    ['null', () => Response.json(null)],
    ['another status', () => new Response(GRANT, { status: 201 })],
    ['too deep', () => new Response(`{"a":${'['.repeat(5000)}`)],
    ['too long', () => new Response(' '.repeat(65_537))],
    [
      'a member twice',
      () =>
        new Response(
          '{"access_token":"a","token_type":"Bearer","expires_in":9,"access_token":"b"}',
        ),
    ],
    ['a lifetime beyond all numbers', () => new Response(GRANT.replace('9', '1e999'))],
    ['a redirect', () => new Response(null, { status: 307, headers: { location: '/' } })],
  ])('%s', async (_title, answer) => {
    const server = createServer()
    server.answer = answer
    const failure = await failureOf(createClient(server).get())
    expect(failure).toMatchObject({ code: 'unexpected_response', status: 502 })
    expect(server.requests).toHaveLength(1)
  })
})

describe('what several servers write is taken, since nothing depends on it', () => {
  test.each<[string, Readonly<Record<string, unknown>>, string, number]>([
    ['no type', { token_type: undefined }, 'opaque-0', 300],
    ['a type that is null', { token_type: null }, 'opaque-0', 300],
    ['the type BearerToken', { token_type: 'BearerToken' }, 'opaque-0', 300],
    ['a type in lower case', { token_type: 'bearer' }, 'opaque-0', 300],
    ['a token with ! and |', { access_token: '!a|b~"' }, '!a|b~"', 300],
    ['a lifetime that is null', { expires_in: null }, 'opaque-0', 60],
    ['an empty lifetime', { expires_in: '' }, 'opaque-0', 60],
    ['a lifetime with a fraction of 0', { expires_in: '3600.0' }, 'opaque-0', 3600],
    ['a lifetime with a fraction', { expires_in: '60.25' }, 'opaque-0', 60.25],
    ['an issued type that is null', { issued_token_type: null }, 'opaque-0', 300],
    ['an error that is null', { error: null }, 'opaque-0', 300],
    ['an error that is empty', { error: '' }, 'opaque-0', 300],
    ['an error that is false', { error: false }, 'opaque-0', 300],
    ['an error that is 0', { error: 0 }, 'opaque-0', 300],
  ])('%s', async (_title, members, expected, expiresIn) => {
    const { token, client } = await outcomeOf(members)
    expect(token).toBe(expected)
    expect(client.status().expiresIn).toBe(expiresIn)
  })

  test('but with dpop a token without a type is not: it need not be bound', async () => {
    const { token } = await outcomeOf({ token_type: undefined }, { dpop: true })
    expect(token).toMatchObject({
      code: 'unexpected_response',
      message:
        'the answer of the token service has no token_type: expected DPoP, since dpop is set',
    })
  })
})

describe('a refusal with the status 200 is a refusal', () => {
  test.each([
    ['invalid_grant', 'invalid_grant', 'and invalid_grant'],
    ['access_denied', 'access_denied', 'and access_denied'],
    ['canary', 'unexpected_response', 'and an error in place of a token'],
    [{ canary: 1 }, 'unexpected_response', 'and an error in place of a token'],
  ])('%j', async (error, code, words) => {
    const server = createServer()
    server.answer = () => Response.json({ error, error_description: 'canary' })
    const client = createClient(server)
    const failure = await failureOf(client.get())
    expect(failure).toMatchObject({
      code,
      message: `the token service answered with status 200 ${words}`,
      retryAfter: 30,
    })
    expect(JSON.stringify(failure)).not.toContain('canary')
    expect(server.requests).toHaveLength(1)
  })

  test('also with a token beside it', async () => {
    const { token } = await outcomeOf({ error: 'invalid_scope' })
    expect(token).toMatchObject({ code: 'invalid_scope', status: 403 })
  })

  test('and an answer that breaks off is an outage, which is asked for again', async () => {
    const server = createServer()
    const { answer } = server
    server.answer = () => {
      server.answer = answer
      return new Response(
        new ReadableStream({
          pull(stream) {
            stream.error(new Error('canary'))
          },
        }),
      )
    }
    const token = createClient(server).get()
    await server.clock.advance(2)
    expect(await token).toBe('opaque-0')
    expect(server.requests).toHaveLength(2)
  })
})

test.each<[string, () => Response, object, string]>([
  [
    'another status',
    () => new Response(GRANT, { status: 201 }),
    {},
    'has the status 201: expected 200',
  ],
  [
    'a page',
    () => new Response('canary', { headers: { 'content-type': 'text/html; charset=utf-8' } }),
    {},
    'is no JSON object with each member once (text/html): expected one with access_token and token_type',
  ],
  [
    'another type, with dpop',
    () => new Response(GRANT.replace('Bearer', 'mac')),
    { dpop: true },
    'has another token_type: expected DPoP',
  ],
])('%s: the message says what was found and expected', async (_title, answer, options, words) => {
  const server = createServer()
  server.answer = answer
  expect(await failureOf(createClient(server, options).get())).toMatchObject({
    code: 'unexpected_response',
    message: `the answer of the token service ${words}`,
  })
})

test('403 with access_denied says that there is no token for what is asked for', async () => {
  const server = createServer()
  server.answer = () => Response.json({ error: 'access_denied' }, { status: 403 })
  expect(await failureOf(createClient(server).get())).toMatchObject({
    code: 'access_denied',
    status: 403,
    message: 'the token service answered with status 403 and access_denied',
  })
})

test.each(['access_token', 'jwt'])(
  'an exchange may say that it has issued a token of the type %s',
  async (type) => {
    const issued = { issued_token_type: `urn:ietf:params:oauth:token-type:${type}` }
    expect((await outcomeOf(issued)).token).toBe('opaque-0')
  },
)

test('the media type of an answer does not matter', async () => {
  const server = createServer()
  server.answer = () => new Response(GRANT, { headers: { 'content-type': 'text/html' } })
  expect(await createClient(server).get()).toBe('a')
})

test('what is in an answer reaches no prototype', async () => {
  const server = createServer()
  const hostile = '"__proto__":{"issued_token_type":"x","polluted":1},"constructor":{"a":1}'
  server.answer = () => new Response(GRANT.replace('{', `{${hostile},`))
  expect(await createClient(server).get()).toBe('a')
  expect(Reflect.get({}, 'polluted')).toBeUndefined()
})

describe('the lifetime', () => {
  test.each([
    ['is that of expires_in', { expires_in: 100 }, 100],
    ['may be a text', { expires_in: '100' }, 100],
    ['of an opaque token without one is a minute', { expires_in: undefined }, 60],
  ])('%s', async (_title, members, expiresIn) => {
    const { client } = await outcomeOf(members)
    expect(client.status().expiresIn).toBe(expiresIn)
  })

  describe('of a JWT is the earlier of what it says and what the answer says', () => {
    const YEAR = 31_536_000
    /** Seconds from now, by the clock of the client. */
    test.each<[string, { exp: number; iat?: number }, unknown, number]>([
      ['without expires_in: exp', { exp: 200 }, undefined, 200],
      ['an expires_in of milliseconds: exp', { exp: 300, iat: 0 }, 300_000, 300],
      ['a constant of a gateway: exp', { exp: 120, iat: -180 }, 3600, 120],
      ['a shorter expires_in: that', { exp: 3600, iat: 0 }, 50, 50],
      ['expired by our clock, which is wrong: exp - iat', { exp: -500, iat: -800 }, 3600, 300],
      ['expired by our clock, a short expires_in: that', { exp: -500, iat: -800 }, 50, 50],
      ['expired by our clock, without iat: a minute', { exp: -500 }, 3600, 60],
      ['expired by our clock, without iat, a short expires_in: that', { exp: -500 }, 50, 50],
      ['ended long before our clock began: exp - iat', { exp: -YEAR, iat: -YEAR - 90 }, 3600, 90],
    ])('%s', async (_title, { exp, iat }, expires_in, expected) => {
      const now = Math.floor(createServer().clock.now())
      const times = { exp: now + exp, ...(iat === undefined ? {} : { iat: now + iat }) }
      const { client } = await outcomeOf({ access_token: jws(times), expires_in })
      expect(client.status().expiresIn).toBeCloseTo(expected, -1)
      expect(client.status().expiresIn).toBeLessThanOrEqual(expected + 1)
    })

    test('so it is not handed out after its exp', async () => {
      const server = createServer()
      const exp = Math.floor(server.clock.now()) + 100
      const first = jws({ exp, iat: exp - 100 })
      server.answer = () => server.grant({ access_token: first, expires_in: 3_600_000 })
      const client = createClient(server)
      expect(await client.get()).toBe(first)
      server.answer = () => server.grant()
      await server.clock.advance(101)
      expect(await client.get()).not.toBe(first)
    })
  })

  test('of 0 is none', async () => {
    const { token } = await outcomeOf({ expires_in: 0 })
    expect(token).toMatchObject({ code: 'token_unusable', status: 502 })
  })

  test('counts from when the request left: the machine may have been suspended', async () => {
    const server = createServer()
    const { clock } = server
    server.answer = () => {
      const answer = server.grant()
      clock.set(clock.now() + 299)
      return answer
    }
    const client = createClient(server)
    await client.get()
    expect(client.status().expiresIn).toBeCloseTo(1)
  })
})

test('a token that expires while its body comes is not used', async () => {
  const server = createServer()
  server.answer = () =>
    slowly(server.clock, JSON.stringify({ ...JSON.parse(GRANT), expires_in: 3 }))
  const failure = failureOf(createClient(server).get())
  await server.clock.advance(4)
  expect(await failure).toMatchObject({ code: 'token_unusable', status: 502 })
})

test('an ID token and a refresh token beside it do not matter', async () => {
  const { token } = await outcomeOf({ id_token: 'no token', refresh_token: 1, scope: 7 })
  expect(token).toBe('opaque-0')
})

test('with dpop, a token that names another key is not used', async () => {
  const bound = { token_type: 'DPoP', access_token: jws({ cnf: { jkt: 'another' } }) }
  const { token } = await outcomeOf(bound, { dpop: true })
  expect(token).toMatchObject({ code: 'token_unusable' })
})

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

describe('an answer without a token that can be used', () => {
  test.each<[string, Readonly<Record<string, unknown>>]>([
    ['no token', { access_token: undefined }],
    ['an empty token', { access_token: '' }],
    ['a token that is no text', { access_token: 1 }],
    ['a token that no header can have', { access_token: 'canary\r\nx' }],
    ['a token with a space', { access_token: 'canary two' }],
    ['no type', { token_type: undefined }],
    ['a type that is not known', { token_type: 'canary' }],
    ['a type that is no text', { token_type: 1 }],
    ['the type of a proof that nobody made', { token_type: 'DPoP' }],
    ['a lifetime that is none', { expires_in: 'canary' }],
    ['a lifetime below 0', { expires_in: -1 }],
    ['a lifetime that begins as one', { expires_in: '100 canary' }],
    ['a lifetime with a sign', { expires_in: '-0' }],
    ['a lifetime in a list', { expires_in: [100] }],
    ['a lifetime that is null', { expires_in: null }],
    [
      'what is no access token',
      { issued_token_type: 'urn:ietf:params:oauth:token-type:refresh_token' },
    ],
    ['an issued type that is no text', { issued_token_type: {} }],
  ])('%s', async (_title, members) => {
    const { token } = await outcomeOf(members)
    expect(token).toMatchObject({ name: 'OAuthError', code: 'unexpected_response', status: 502 })
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

  test('is that of exp if the answer has none, and not if it has one', async () => {
    const { clock } = createServer()
    const token = jws({ exp: Math.floor(clock.now()) + 200 })
    const { client } = await outcomeOf({ access_token: token, expires_in: undefined })
    expect(client.status().expiresIn).toBeCloseTo(200, -1)
    const other = await outcomeOf({ access_token: jws({ exp: 1 }), expires_in: 50 })
    expect(other.client.status().expiresIn).toBe(50)
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

import { describe, expect, test } from 'vitest'

import { OAuthError, refusalOf } from '../../src/oauth.ts'
import { failureOf } from '../login-service.ts'
import { authOf, createClient, createServer, refusing } from './server.ts'

// What an error of a call onwards answers the caller of the route.

const error = (status: 401 | 403 | 500 | 502 | 503, retryAfter?: number) =>
  new OAuthError('timeout', 'a cause', { status, retryAfter })

describe('the headers of an error', () => {
  const RETRY = { 'Cache-Control': 'no-store' }
  test.each([
    [
      error(401, 30),
      {
        'WWW-Authenticate':
          'Bearer error="invalid_token", error_description="The access token is not accepted any more"',
        'Cache-Control': 'no-store',
      },
    ],
    [error(403, 30), RETRY],
    [error(500), RETRY],
    [error(502, 30), RETRY],
    [error(503), { ...RETRY, 'Retry-After': '1' }],
    [error(503, 0), { ...RETRY, 'Retry-After': '1' }],
    [error(503, 1), { ...RETRY, 'Retry-After': '1' }],
    [error(503, 1.01), { ...RETRY, 'Retry-After': '2' }],
    [error(503, 33.4), { ...RETRY, 'Retry-After': '34' }],
  ])('%s with %j', (given, headers) => {
    expect({ ...given.headers }).toEqual(headers)
  })

  test('inherit nothing, since frameworks copy what is enumerable', () => {
    const names: string[] = []
    for (const name in error(503).headers) names.push(name)
    expect(names.toSorted()).toEqual(['Cache-Control', 'Retry-After'])
    expect(Object.getPrototypeOf(error(503).headers)).toBeNull()
  })
})

test('retryAfter is a whole number of seconds, and not before the server can be asked', () => {
  expect([30, 29.2, 0.1, 0, undefined].map((each) => error(503, each).retryAfter)).toEqual([
    30,
    30,
    1,
    0,
    undefined,
  ])
})

describe('refusalOf', () => {
  test.each([
    [401, 'Unauthorized'],
    [403, 'Forbidden'],
    [500, 'Internal Server Error'],
    [502, 'Bad Gateway'],
    [503, 'Service Unavailable'],
  ] as const)('%i is a problem document with its title, and none of the cause', (status, title) => {
    const given = error(status, 7)
    const answer = refusalOf(given)
    expect({ ...answer, headers: { ...answer.headers } }).toEqual({
      status,
      headers: { ...given.headers, 'Content-Type': 'application/problem+json' },
      body: expect.not.stringContaining('cause') as unknown,
    })
    expect(JSON.parse(answer.body)).toMatchObject({ type: 'about:blank', title, status })
  })

  test.each([new Error('a'), { status: 401, headers: {} }, undefined, null, 'a'])(
    '%s is none of its',
    (other) => {
      expect(refusalOf(other)).toBeUndefined()
    },
  )
})

function setUp() {
  const server = createServer()
  return { server, client: createClient(server), auth: authOf(server.clock.now() + 600) }
}

describe('what a route answers', () => {
  test('whose caller’s token is no good: 401 with a challenge', async () => {
    const { server, client, auth } = setUp()
    server.answer = refusing('invalid_grant')
    const answer = refusalOf(await failureOf(client.onBehalfOf(auth).get()))
    expect(answer).toMatchObject({
      status: 401,
      headers: {
        'WWW-Authenticate': expect.stringMatching(/^Bearer error="invalid_token"/) as unknown,
      },
    })
    expect(JSON.stringify(answer)).not.toContain('canary')
  })

  test('whose server is down: 503 with the whole seconds until it is asked again', async () => {
    const { server, client, auth } = setUp()
    server.answer = () => new Response(null, { status: 429, headers: { 'retry-after': '40' } })
    const handle = client.onBehalfOf(auth)
    for (let count = 0; count < 2; count++) {
      const failure = await failureOf(handle.get())
      expect(refusalOf(failure)?.headers).toMatchObject({
        'Retry-After': expect.stringMatching(/^4[0-4]$/) as unknown,
      })
      expect(failure).toMatchObject({
        retryAfter: Number(refusalOf(failure)?.headers['Retry-After']),
      })
    }
  })

  test('to callers in the pause after a failure: always the same text, and nothing of a log-in', async () => {
    const { server, client, auth } = setUp()
    server.answer = refusing('invalid_grant')
    const handle = client.onBehalfOf(auth)
    await failureOf(handle.get())
    const texts = new Set<string>()
    for (let second = 0; second < 20; second++) {
      texts.add(String(await failureOf(handle.get())))
      await server.clock.advance(1.3)
    }
    expect([...texts]).toEqual([
      'OAuthError: no token is asked for yet, since the last attempt failed (see retryAfter)',
    ])
    expect(server.requests).toHaveLength(1)
  })
})

test('a caller who needs a token for too long: the text has no figures', async () => {
  const failure = await failureOf(createClient(createServer()).get({ minValidity: 600 }))
  expect(failure).toMatchObject({ code: 'token_unusable', status: 502 })
  expect(String(failure)).toContain('nine tenths')
  expect(String(failure)).not.toMatch(/\d/)
})

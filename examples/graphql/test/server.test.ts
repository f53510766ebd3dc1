import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

import { AuthError, type Verifier } from '@portcullis/core'
import { expect, test, vi } from 'vitest'

vi.stubEnv('PORT', '0')
const { createApi, server } = await import('../src/server.ts')
server.close()

/** A token is its scope. The package for tests does not suit the types of browsers, which this folder has. */
const verifier: Verifier = {
  async verify(token) {
    if (token === 'outage') throw new AuthError('keys_unavailable', 'timeout', { retryAfter: 7 })
    if (token === 'bad') throw new AuthError('invalid_token', 'signature')
    const claims = { sub: 'ada', scope: token.replace('.', ':') }
    return await Promise.resolve({ claims, header: { alg: 'RS512' }, token })
  },
  async ready() {},
}

async function ask(body: unknown, token?: string): Promise<Response> {
  await using api = createServer(createApi(verifier)) as Server & AsyncDisposable
  await once(api.listen(0, '127.0.0.1'), 'listening')
  const { port } = api.address() as AddressInfo
  const answer = await fetch(`http://127.0.0.1:${port}/graphql`, {
    method: 'POST',
    headers: {
      connection: 'close',
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  })
  return new Response(await answer.text(), { status: answer.status, headers: answer.headers })
}

test('a resolver sees what the token proves, and a field may need a scope', async () => {
  const answer = await ask({ query: '{ me salary }' }, 'salary.read')
  expect(answer.status).toBe(200)
  expect(await answer.json()).toEqual({ data: { me: 'ada', salary: 42 } })
})

test.each([
  { name: 'without a token', token: undefined, status: 401, challenge: 'Bearer realm="api"' },
  { name: 'with a bad token', token: 'bad', status: 401, challenge: /error="invalid_token"/ },
])(
  '$name the request gets the HTTP answer, before GraphQL sees it',
  async ({ token, status, challenge }) => {
    const answer = await ask({ query: '{ __typename }' }, token)
    expect(answer.status).toBe(status)
    expect(answer.headers.get('www-authenticate')).toMatch(challenge)
  },
)

test('an outage of the key service is 503 with Retry-After', async () => {
  const answer = await ask({ query: '{ me }' }, 'outage')
  expect(answer.status).toBe(503)
  expect(answer.headers.get('retry-after')).toBe('7')
})

test.each([
  ['plainly', '{ salary }'],
  ['by an alias', '{ name: me pay: salary }'],
  ['by a fragment', 'query { ...F } fragment F on Query { salary }'],
])('a field without its scope is refused, asked for %s', async (_case, query) => {
  const answer = await ask({ query }, 'other')
  expect(answer.status).toBe(403)
  expect(answer.headers.get('www-authenticate')).toMatch(/scope="salary:read"/)
  expect(await answer.json()).toMatchObject({
    errors: [{ extensions: { code: 'insufficient_scope' } }],
  })
})

test('the other fields of the same query are answered', async () => {
  const answer = await ask({ query: '{ me salary }' }, 'other')
  expect(await answer.json()).toMatchObject({ data: { me: 'ada', salary: null } })
})

test('a batch of queries is not taken: yoga has that turned off', async () => {
  const answer = await ask([{ query: '{ me }' }, { query: '{ salary }' }], 'other')
  expect(answer.status).toBe(400)
  expect(await answer.text()).not.toContain('42')
})

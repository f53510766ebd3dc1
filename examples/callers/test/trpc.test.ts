import { createTestIssuer, tokenService } from '@portcullis/testing'
import { expect, test, vi } from 'vitest'

import { guardedBy, serve } from './serving.ts'

vi.stubEnv('PORT', '0')
const { createApi, server } = await import('../src/trpc.ts')
server.close()

test('the context knows who calls, and a procedure may need a scope', async () => {
  const { issuer, verifier } = await guardedBy()
  await using api = await serve(createApi(verifier))
  const headers = await issuer.bearer({ claims: { sub: 'ada', scope: 'salary:read' } })
  const me = await fetch(`http://${api.host}/me`, { headers })
  expect(await me.json()).toEqual({ result: { data: 'ada' } })
  const salary = await fetch(`http://${api.host}/salary`, { headers })
  expect(await salary.json()).toEqual({ result: { data: 42 } })
})

test.each([
  {
    name: 'no token',
    headers: {},
    code: 'UNAUTHORIZED',
    status: 401,
    challenge: 'Bearer realm="api"',
  },
  {
    name: 'a bad token',
    headers: { authorization: 'Bearer a.b.c' },
    code: 'UNAUTHORIZED',
    status: 401,
    challenge: /error="invalid_token"/,
  },
  {
    name: 'two tokens',
    headers: { authorization: 'Bearer a, Bearer b' },
    code: 'BAD_REQUEST',
    status: 400,
    challenge: /error="invalid_request"/,
  },
])('$name: $code, with the challenge', async ({ headers, code, status, challenge }) => {
  const { verifier } = await guardedBy()
  await using api = await serve(createApi(verifier))
  const answer = await fetch(`http://${api.host}/me`, { headers })
  expect(answer.status).toBe(status)
  expect(answer.headers.get('www-authenticate')).toMatch(challenge)
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(await answer.json()).toMatchObject({ error: { data: { code, httpStatus: status } } })
})

test('a procedure without its scope is FORBIDDEN, and the challenge names the scope', async () => {
  const { issuer, verifier } = await guardedBy()
  await using api = await serve(createApi(verifier))
  const headers = await issuer.bearer()
  const answer = await fetch(`http://${api.host}/salary`, { headers })
  expect(answer.status).toBe(403)
  expect(answer.headers.get('www-authenticate')).toMatch(/scope="salary:read"/)
  expect(await answer.json()).toMatchObject({ error: { data: { code: 'FORBIDDEN' } } })
})

test('an outage of the key service is SERVICE_UNAVAILABLE, with Retry-After', async () => {
  const { issuer, verifier } = await guardedBy()
  issuer.outage(503)
  await using api = await serve(createApi(verifier))
  const answer = await fetch(`http://${api.host}/me`, { headers: await issuer.bearer() })
  expect(answer.status).toBe(503)
  expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
  expect(await answer.json()).toMatchObject({ error: { data: { code: 'SERVICE_UNAVAILABLE' } } })
})

test('of a batch only the call without its scope is refused, and the challenge is kept', async () => {
  const { issuer, verifier } = await guardedBy()
  await using api = await serve(createApi(verifier))
  const headers = await issuer.bearer({ claims: { sub: 'ada' } })
  const answer = await fetch(`http://${api.host}/me,salary?batch=1&input={}`, { headers })
  expect(answer.status).toBe(207)
  expect(answer.headers.get('www-authenticate')).toMatch(/scope="salary:read"/)
  expect(await answer.json()).toMatchObject([
    { result: { data: 'ada' } },
    { error: { data: { code: 'FORBIDDEN', httpStatus: 403 } } },
  ])
})

test('without a token no call of a batch is made', async () => {
  const { verifier } = await guardedBy()
  await using api = await serve(createApi(verifier))
  const answer = await fetch(`http://${api.host}/me,salary?batch=1&input={}`)
  expect(answer.status).toBe(401)
  const refused = { error: { data: { code: 'UNAUTHORIZED' } } }
  expect(await answer.json()).toMatchObject([refused, refused])
})

test('an answer that refuses nobody has no challenge', async () => {
  const { issuer, verifier } = await guardedBy()
  await using api = await serve(createApi(verifier))
  const answer = await fetch(`http://${api.host}/me`, { headers: await issuer.bearer() })
  expect(answer.headers.has('www-authenticate')).toBe(false)
})

test('the program follows the keys of AUTH_URL', async () => {
  const issuer = await createTestIssuer()
  await using service = await tokenService(issuer).listen()
  vi.stubEnv('AUTH_URL', service.authUrl)
  vi.resetModules()
  const program = await import('../src/trpc.ts')
  await using api = await serve(program.server)
  const headers = await issuer.bearer({ claims: { sub: 'ada' } })
  const answer = await fetch(`http://${api.host}/me`, { headers })
  expect(await answer.json()).toEqual({ result: { data: 'ada' } })
})

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { getRequestListener } from '@hono/node-server'
import { createVerifier } from '@portcullis/core'
import { assertChallenge, createTestIssuer, manualClock, tokenService } from '@portcullis/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { blocksOf } from '../../documents/markdown.ts'
import { adapters } from '../contract/frameworks/index.ts'
import { type Applications, logged, type Served } from './configuration.ts'
import worker from './hono-worker.ts'

// Applications as a new user writes them, from the READMEs alone: with scopes, an optional route, a log and an error handler;
// and others with CORS and a schema. They have no cast, and `check` compiles them with the types that are published.

const issuer = await createTestIssuer({ clock: manualClock(), issuer: 'https://auth.test' })
const verifier = createVerifier(issuer.verifierOptions)
const badTokens = await issuer.badTokens()
const reader = await issuer.bearer({ claims: { sub: 'ada', scope: 'places:read' } })
const writer = await issuer.bearer({ claims: { sub: 'ada', scope: 'places:write' } })

const { keys } = issuer.verifierOptions
const configuration = { keys, issuer: 'https://auth.test', audience: null }

const all = await Promise.all(
  adapters.map(async ({ folder }) => {
    const { applications } = (await import(`./${folder}.ts`)) as { applications: Applications }
    return Object.assign({ folder }, applications)
  }),
)

test('a Worker makes its guard of the bindings of its first request, and keeps it, as FRAMEWORKS.md shows', async () => {
  const guide = new URL('../../../packages/core/FRAMEWORKS.md', import.meta.url)
  const code = readFileSync(new URL('hono-worker.ts', import.meta.url), 'utf8')
  const blocks = blocksOf(readFileSync(guide, 'utf8'))
  expect(blocks.map((block) => block.code)).toContain(code)
  const [install = '', settings = ''] = ['sh', 'json'].map(
    (kind) => blocks.find(({ language }) => language === kind)?.code,
  )
  const imported = [...code.matchAll(/from '(.*)'/g)].map(([, name]) => name)
  expect(install.split(/\s/)).toEqual(expect.arrayContaining(imported))
  expect(JSON.parse(settings)).toMatchObject({
    compatibility_flags: ['nodejs_compat'],
    vars: { AUTH_URL: expect.stringMatching(/^http/) as string },
  })
  const own = await createTestIssuer()
  await using service = await tokenService(own).listen()
  const env = { AUTH_URL: service.url }
  const headers = await own.bearer({ claims: { sub: 'ada' } })
  for (let request = 0; request < 2; request++) {
    const accepted = await worker.request('/places', { headers }, env)
    expect([accepted.status, await accepted.json()]).toEqual([200, { readBy: 'ada' }])
    expect((await worker.request('/places', {}, env)).status).toBe(401)
  }
  expect(own.requests().map(({ endpoint }) => endpoint)).toEqual(['keys'])
})

test.each(all.filter(({ listed }) => listed !== undefined))(
  'the routes of an application of $folder are guarded, or named as open',
  async ({ listed }) => {
    await listed?.(verifier, '/health')
    await expect(async () => {
      await listed?.(verifier, '/healthz')
    }).rejects.toThrow(/GET \/healthz/)
  },
)

describe.each(all)('an application of $folder', ({ plain }) => {
  const call = serving(async () => await plain(verifier))

  test('greets everybody on the optional route, by name with a token', async () => {
    expect(await (await call('/hello')).json()).toEqual({ hello: 'stranger' })
    expect(await (await call('/hello', reader)).json()).toEqual({ hello: 'ada' })
  })

  test('reads with any token, and writes with the scope', async () => {
    expect(await (await call('/places', reader)).json()).toEqual({ readBy: 'ada' })
    const written = await call('/places', writer, 'POST')
    expect(written.status).toBe(201)
    expect(await written.json()).toEqual({ savedBy: 'ada' })
  })

  test('its error handler answers what is refused, with the challenge of the guard', async () => {
    const missing = await call('/places')
    assertChallenge(missing, { status: 401 })
    expect(await missing.json()).toEqual({ code: 'missing_token' })
    const lacking = await call('/places', reader, 'POST')
    assertChallenge(lacking, { status: 403, error: 'insufficient_scope', scope: 'places:write' })
    expect(await lacking.json()).toEqual({ code: 'insufficient_scope' })
  })

  test('its error handler answers a call onwards without a token: a challenge, or when to come back', async () => {
    const refused = await call('/refused')
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      401,
      'Bearer error="invalid_token", error_description="The access token is not accepted any more"',
    ])
    expect(await refused.json()).toMatchObject({ status: 401, title: 'Unauthorized' })
    const down = await call('/down')
    expect([down.status, down.headers.get('retry-after')]).toEqual([
      503,
      expect.stringMatching(/^[78]$/),
    ])
    for (const { headers } of [refused, down]) {
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('content-type')).toMatch(/^application\/problem\+json/)
    }
  })

  test('its log has a line for what is refused', async () => {
    logged.length = 0
    await call('/places')
    expect(logged).toEqual([
      expect.objectContaining({ code: 'missing_token', reason: 'missing_header' }),
    ])
  })

  test.each(['/hello', '/places'])('refuses every bad token at %s', async (path) => {
    for (const { token, code, reason } of badTokens) {
      if (reason === 'too_large') continue // Node itself answers such a header, with 431
      const response = await call(path, { authorization: `Bearer ${token}` })
      assertChallenge(response, { status: 401, error: code, reason })
      expect(await response.json()).toEqual({ code })
    }
  })
})

describe.each(all)('an application of $folder with a schema', ({ typed }) => {
  const call = serving(async () => await typed(configuration))
  const origin = 'https://web.example.com'

  test('reads what the schema has made of the claims, and refuses what it does not take', async () => {
    const claims = { iss: 'https://auth.test', sub: 'ada', role: 'admin' }
    const accepted = await call('/role', await issuer.bearer({ claims }))
    expect(await accepted.text()).toMatch(/^"?admin"?$/)
    const { role: __, ...without } = claims
    const refused = await call('/role', await issuer.bearer({ claims: without }))
    assertChallenge(refused, { status: 401, error: 'invalid_token', reason: 'claim' })
  })

  test('lets a page ask, and read why it was refused', async () => {
    const headers = { origin, 'access-control-request-method': 'GET' }
    const preflight = await call('/role', headers, 'OPTIONS')
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-origin')).toBe(origin)
    const refused = await call('/role', { origin })
    expect(refused.status).toBe(401)
    expect(refused.headers.get('access-control-expose-headers')).toMatch(
      /^WWW-Authenticate, ?Retry-After$/,
    )
  })
})

type Call = (path: string, headers?: Record<string, string>, method?: string) => Promise<Response>

/** Serves an application for the tests of a suite. */
function serving(create: () => Promise<Served>): Call {
  const server = createServer()
  let url = ''

  beforeAll(async () => {
    const served = await create()
    const listener =
      typeof served === 'function'
        ? served
        : getRequestListener(served.fetch, { overrideGlobalObjects: false })
    server.on('request', (request, response) => void listener(request, response))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })

  afterAll(() => {
    server.close()
  })

  return async (path, headers = {}, method = 'GET') =>
    await fetch(`${url}${path}`, { method, headers })
}

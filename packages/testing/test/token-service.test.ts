import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'

import { createVerifier, discoverKeys } from '@portcullis/core'
import { compactVerify, importJWK } from 'jose'
import { describe, expect, test } from 'vitest'

import { manualClock } from '../src/clock.ts'
import { createTestIssuer } from '../src/issuer.ts'
import type { TokenServiceOptions } from '../src/service/endpoints.ts'
import { tokenService } from '../src/token-service.ts'

const START = 1_767_225_600
const FORM = 'application/x-www-form-urlencoded'

const issuer = await createTestIssuer({ clock: manualClock() })
const key = await importJWK(issuer.publicJwk)
const service = tokenService(issuer)
const tokenUrl = `${service.authUrl}/tokenservice/token/api`

async function claimsOf(response: Response): Promise<unknown> {
  const { payload } = await compactVerify(await response.text(), key)
  return JSON.parse(new TextDecoder().decode(payload))
}

function logIn(loginId: string, password: string): RequestInit {
  return { method: 'POST', body: new URLSearchParams({ loginId, password }) }
}

describe('a service with metadata', () => {
  const own = tokenService(issuer, { metadata: true })
  const paths = ['openid-configuration', 'oauth-authorization-server']

  test.each(paths)(
    'names its key set at /.well-known/%s, and itself as the issuer',
    async (path) => {
      const response = await own.fetch(`${own.authUrl}/.well-known/${path}`)
      expect(await response.json()).toEqual({
        issuer: own.authUrl,
        jwks_uri: `${own.authUrl}/tokenservice/jwks.json`,
        response_types_supported: [],
      })
      expect((await service.fetch(`${own.authUrl}/.well-known/${path}`)).status).toBe(404)
    },
  )

  test('has a set with the single key, and the same set after a rotation to two keys', async () => {
    const rotating = await createTestIssuer({ clock: manualClock() })
    const { authUrl, keyUrl, fetch } = tokenService(rotating, { metadata: true })
    const set = async () => await (await fetch(`${authUrl}/tokenservice/jwks.json`)).json()
    const single = async () => await (await fetch(keyUrl)).json()
    expect(await set()).toEqual({ keys: [await single()] })
    await rotating.rotate({ publish: 'both' })
    expect(await set()).toEqual(await single())
    expect(await set()).toEqual(rotating.keyDocument)
  })

  test('is found by discoverKeys, and what fails are its endpoints of these names', async () => {
    const clock = manualClock()
    const named = await createTestIssuer({ clock, issuer: 'https://auth.test', audience: 'api' })
    const { fetch } = tokenService(named, { metadata: true })
    const keys = discoverKeys('https://auth.test', { fetch, clock })
    const verifier = createVerifier({ keys, issuer: 'https://auth.test', audience: 'api', clock })
    const { claims } = await verifier.verify(await named.token({ claims: { sub: 'ada' } }))
    expect(claims.sub).toBe('ada')
    expect(named.requests().map(({ endpoint }) => endpoint)).toEqual(['metadata', 'keys'])
    named.outage(503, { endpoint: 'metadata' })
    named.outage(404, { endpoint: 'keys' })
    await clock.advance(2)
    await expect(keys.refresh()).rejects.toMatchObject({ code: 'keys_unavailable' })
  })
})

describe('the URLs', () => {
  test('are those of the service, under a host that does not exist', () => {
    expect(service.authUrl).toBe('https://auth.test')
    expect(service.keyUrl).toBe('https://auth.test/tokenservice/pubkey.json')
  })

  test.each(['/', '/tokenservice', '/tokenservice/pubkey.json/', '/TokenService/pubkey.json'])(
    '%s: 404',
    async (path) => {
      const response = await service.fetch(`${service.authUrl}${path}`)
      expect(response.status).toBe(404)
      expect(await response.text()).toBe('')
    },
  )

  test('a query changes nothing', async () => {
    expect((await service.fetch(`${service.keyUrl}?v=2`)).status).toBe(200)
  })
})

describe('the key', () => {
  test('is one bare JWK', async () => {
    const response = await service.fetch(service.keyUrl)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.json()).toEqual(issuer.publicJwk)
  })

  test.each([
    { name: 'a URL', input: new URL(service.keyUrl) },
    { name: 'a Request', input: new Request(service.keyUrl) },
  ])('$name will do for a text', async ({ input }) => {
    expect(await (await service.fetch(input)).json()).toEqual(issuer.publicJwk)
  })

  test.each(['POST', 'PUT', 'DELETE', 'HEAD'])('%s: 405, GET is allowed', async (method) => {
    const response = await service.fetch(service.keyUrl, { method })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('GET')
    expect(await response.text()).toBe('')
  })
})

describe('a login', () => {
  test('that is right brings a token, and nothing around it', async () => {
    const response = await service.fetch(tokenUrl, logIn('demo', 'demo'))
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/plain')
    expect(await claimsOf(response)).toEqual({ sub: 'demo', iat: START, exp: START + 300 })
  })

  test.each([
    { name: 'wrong password', loginId: 'demo', password: 'wrong' },
    { name: 'password in other case', loginId: 'demo', password: 'Demo' },
    { name: 'empty password', loginId: 'demo', password: '' },
    { name: 'unknown loginId', loginId: 'nobody', password: 'demo' },
    { name: 'name that objects inherit', loginId: 'constructor', password: 'demo' },
  ])('with a $name: 401 and no token', async ({ loginId, password }) => {
    const response = await service.fetch(tokenUrl, logIn(loginId, password))
    expect(response.status).toBe(401)
    expect(await response.text()).toBe('')
  })

  test.each([
    { name: 'loginId', body: 'password=demo' },
    { name: 'password', body: 'loginId=demo' },
    { name: 'everything', body: '' },
    { name: 'the exact names', body: 'loginid=demo&Password=demo' },
  ])('without $name: 400', async ({ body }) => {
    const headers = { 'content-type': FORM }
    const response = await service.fetch(tokenUrl, { method: 'POST', headers, body })
    expect(response.status).toBe(400)
    expect(await response.text()).toBe('')
  })

  test.each([
    { name: 'JSON', type: 'application/json', status: 415 },
    { name: 'text', type: 'text/plain', status: 415 },
    { name: 'several parts', type: 'multipart/form-data; boundary=x', status: 415 },
    { name: 'a type that begins alike', type: `${FORM}-2`, status: 415 },
    { name: 'a form', type: FORM, status: 200 },
    { name: 'a form in UTF-8', type: `${FORM};charset=UTF-8`, status: 200 },
    { name: 'a form in capitals', type: `${FORM.toUpperCase()} ; charset=UTF-8`, status: 200 },
  ])('as $name: $status', async ({ type, status }) => {
    const headers = { 'content-type': type }
    const body = 'loginId=demo&password=demo'
    const response = await service.fetch(tokenUrl, { method: 'POST', headers, body })
    expect(response.status).toBe(status)
  })

  test('without a content type: 415', async () => {
    const body = new TextEncoder().encode('loginId=demo&password=demo')
    const response = await service.fetch(tokenUrl, { method: 'POST', body })
    expect(response.status).toBe(415)
  })

  test('with a form of 64 KiB is read, with a larger one: 413', async () => {
    const headers = { 'content-type': FORM }
    const form = 'loginId=demo&password=demo&more='
    const body = form.padEnd(64 * 1024, 'x')
    const post = { method: 'POST', headers }
    expect((await service.fetch(tokenUrl, { ...post, body })).status).toBe(200)
    expect((await service.fetch(tokenUrl, { ...post, body: `${body}x` })).status).toBe(413)
  })

  test.each(['GET', 'PUT', 'DELETE'])('by %s: 405, POST is allowed', async (method) => {
    const response = await service.fetch(tokenUrl, { method })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('POST')
  })

  test('by GET with the credentials in the URL: 405', async () => {
    const response = await service.fetch(`${tokenUrl}?loginId=demo&password=demo`)
    expect(response.status).toBe(405)
  })
})

describe('logins of one`s own', () => {
  const logins = {
    ada: { password: 'p&=ä ', claims: { scope: 'read', roles: ['admin'] }, lifetime: 60 },
    bob: { password: 'b', claims: { sub: 'robert' } },
    eve: { password: 'e', lifetime: -10 },
  }
  const own = tokenService(issuer, { logins })

  test.each([
    {
      name: 'claims and a lifetime',
      loginId: 'ada' as const,
      claims: { sub: 'ada', scope: 'read', roles: ['admin'], iat: START, exp: START + 60 },
    },
    {
      name: 'a subject that is not the loginId',
      loginId: 'bob' as const,
      claims: { sub: 'robert', iat: START, exp: START + 300 },
    },
    {
      name: 'tokens that have expired',
      loginId: 'eve' as const,
      claims: { sub: 'eve', iat: START, exp: START - 10 },
    },
  ])('can have $name', async ({ loginId, claims }) => {
    const response = await own.fetch(tokenUrl, logIn(loginId, logins[loginId].password))
    expect(response.status).toBe(200)
    expect(await claimsOf(response)).toEqual(claims)
  })

  test('take the place of the default one', async () => {
    expect((await own.fetch(tokenUrl, logIn('demo', 'demo'))).status).toBe(401)
    expect((await own.fetch(tokenUrl, logIn('ada', 'b'))).status).toBe(401)
  })
})

describe('on a port', () => {
  test('the same answers come over HTTP, under its own URLs', async () => {
    await using listening = await service.listen()
    expect(listening.authUrl).toBe(listening.url)
    expect(listening.authUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect(listening.keyUrl).toBe(`${listening.url}/tokenservice/pubkey.json`)
    expect(await (await fetch(listening.keyUrl)).json()).toEqual(issuer.publicJwk)
    const url = `${listening.authUrl}/tokenservice/token/api`
    expect(await claimsOf(await fetch(url, logIn('demo', 'demo')))).toMatchObject({ sub: 'demo' })
    expect((await fetch(url, logIn('demo', 'wrong'))).status).toBe(401)
    expect((await fetch(listening.url)).status).toBe(404)
  })

  test('it listens where it is told to, and no more once it is closed', async () => {
    const first = await service.listen()
    const port = Number(new URL(first.url).port)
    await first.close()
    await expect(fetch(first.keyUrl)).rejects.toThrow('fetch failed')
    await using second = await service.listen({ port })
    expect(second.url).toBe(first.url)
  })

  test.each([
    { method: 'TRACE', path: '/tokenservice/pubkey.json', status: 405, allow: 'GET' },
    { method: 'TRACE', path: '/tokenservice/token/api', status: 405, allow: 'POST' },
    { method: 'GET', path: '//', status: 404, allow: undefined },
    { method: 'GET', path: '//auth.test/tokenservice/pubkey.json', status: 404, allow: undefined },
  ])('over HTTP $method $path: $status', async ({ method, path, status, allow }) => {
    const own = await createTestIssuer({ algorithm: 'ES256' })
    await using listening = await tokenService(own).listen()
    const sent = request(listening.url, { method, path }).end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    response.resume()
    expect([response.statusCode, response.headers.allow]).toEqual([status, allow])
    expect(own.requests()).toMatchObject([{ status }])
  })

  test('several can listen for one service', async () => {
    await using one = await service.listen()
    await using two = await service.listen()
    expect(one.url).not.toBe(two.url)
    expect((await fetch(two.keyUrl)).status).toBe(200)
  })
})

describe('the body of a login', () => {
  test.each<[form: string, response: TokenServiceOptions['response'], body: RegExp]>([
    ['a JSON string', 'json', /^"([^"]+)"$/],
    ['a JSON object', { field: 'jwt' }, /^\{"jwt":"([^"]+)"\}$/],
  ])('can be %s', async (_form, response, body) => {
    const own = tokenService(issuer, { response })
    const answer = await own.fetch(tokenUrl, logIn('demo', 'demo'))
    expect(answer.headers.get('content-type')).toBe('application/json')
    const [, token] = body.exec(await answer.text()) ?? []
    expect(await claimsOf(new Response(token))).toMatchObject({ sub: 'demo' })
  })

  test('is plain text if that is asked for', async () => {
    const own = tokenService(issuer, { response: 'text' })
    const answer = await own.fetch(tokenUrl, logIn('demo', 'demo'))
    expect(await claimsOf(answer)).toMatchObject({ sub: 'demo' })
  })
})

test('answers carry the time of the issuer, not of the machine', async () => {
  const clock = manualClock()
  const own = tokenService(await createTestIssuer({ clock }))
  await clock.advance(61.5)
  await using listening = await own.listen()
  for (const answer of [await own.fetch(own.keyUrl), await fetch(listening.keyUrl)]) {
    expect(answer.headers.get('date')).toBe('Thu, 01 Jan 2026 00:01:01 GMT')
  }
})

describe('the log of requests', () => {
  test('has what each service of the issuer saw, and never a password', async () => {
    const clock = manualClock()
    const own = await createTestIssuer({ clock })
    const { fetch: ask, authUrl, keyUrl } = tokenService(own)
    const url = `${authUrl}/tokenservice/token/api`
    expect(own.requests()).toEqual([])
    await ask(keyUrl)
    await clock.advance(5)
    await ask(url, logIn('demo', 'demo'))
    await tokenService(own, { logins: {} }).fetch(url, logIn('eve', 'secret'))
    await ask(url)
    await ask(authUrl)
    expect(own.requests()).toEqual([
      { endpoint: 'keys', time: START, status: 200, loginId: undefined },
      { endpoint: 'token', time: START + 5, status: 200, loginId: 'demo' },
      { endpoint: 'token', time: START + 5, status: 401, loginId: 'eve' },
      { endpoint: 'token', time: START + 5, status: 405, loginId: undefined },
      { endpoint: undefined, time: START + 5, status: 404, loginId: undefined },
    ])
    expect(JSON.stringify(own.requests())).not.toContain('secret')
  })

  test('keeps the newest requests, as many as it is told to', async () => {
    const own = await createTestIssuer({ algorithm: 'ES256', maxRequests: 3 })
    const { fetch: ask, authUrl } = tokenService(own)
    const url = `${authUrl}/tokenservice/token/api`
    for (let number = 0; number < 20; number++) {
      await ask(url, logIn(`login ${number}`, ''))
      const last = [number - 2, number - 1, number].filter((each) => each >= 0)
      expect(own.requests().map(({ loginId }) => loginId)).toEqual(
        last.map((each) => `login ${each}`),
      )
    }
  })

  test('keeps 256 characters of a loginId', async () => {
    const own = await createTestIssuer({ algorithm: 'ES256' })
    const { fetch: ask, authUrl } = tokenService(own)
    await ask(`${authUrl}/tokenservice/token/api`, logIn('x'.repeat(60_000), ''))
    expect(own.requests()[0]?.loginId).toBe('x'.repeat(256))
  })

  test('keeps 256 characters of what a client calls itself', async () => {
    const own = await createTestIssuer({ algorithm: 'ES256' })
    const { fetch: ask, keyUrl } = tokenService(own)
    await ask(keyUrl, { headers: { 'user-agent': 'an-api/1.0' } })
    await ask(keyUrl, { headers: { 'user-agent': 'x'.repeat(10_000) } })
    expect(own.requests()).toMatchObject([
      { userAgent: 'an-api/1.0' },
      { userAgent: 'x'.repeat(256) },
    ])
  })

  test('can be watched: each request once, when it is answered or its client has left', async () => {
    const own = await createTestIssuer({ algorithm: 'ES256', clock: manualClock() })
    const { fetch: ask, keyUrl } = tokenService(own)
    const seen: (number | undefined)[] = []
    const end = own.watchRequests(({ status }) => seen.push(status))
    await ask(keyUrl)
    const outage = own.outage('hang')
    const controller = new AbortController()
    const hanging = ask(keyUrl, { signal: controller.signal })
    expect(seen).toEqual([200])
    controller.abort()
    await expect(hanging).rejects.toThrow('aborted')
    outage.restore()
    expect(seen).toEqual([200, undefined])
    end()
    await ask(keyUrl)
    expect(seen).toEqual([200, undefined])
  })

  test('can be watched by one function twice, and each ends by itself', async () => {
    const own = await createTestIssuer({ algorithm: 'ES256' })
    const { fetch: ask, keyUrl } = tokenService(own)
    let count = 0
    const listener = () => {
      count++
    }
    const ends = [own.watchRequests(listener), own.watchRequests(listener)]
    await ask(keyUrl)
    ends[0]?.()
    await ask(keyUrl)
    expect(count).toBe(3)
  })

  test('is a copy: what a test does with it is its own affair', async () => {
    const own = await createTestIssuer({ clock: manualClock() })
    const { fetch: ask, keyUrl } = tokenService(own)
    await ask(keyUrl)
    for (const seen of own.requests()) Object.assign(seen, { status: 500 })
    expect(own.requests()).toMatchObject([{ status: 200 }])
  })
})

describe('a service cannot be made', () => {
  test('of what is no test issuer', () => {
    expect(() => tokenService({ ...issuer })).toThrow(
      new TypeError('tokenService: the first argument must come from createTestIssuer'),
    )
  })

  test.each<[complaint: string, options: object]>([
    [': unknown option "login", known are clients, metadata, logins', { login: {} }],
    [': logins must be an object', { logins: [] }],
    [": response must be 'text', 'json' or { field: a name }", { response: 'xml' }],
    [": response must be 'text', 'json' or { field: a name }", { response: { field: '' } }],
    [": response must be 'text', 'json' or { field: a name }", { response: { name: 'jwt' } }],
    [": response must be 'text', 'json' or { field: a name }", { response: null }],
    [': the login "ada": password must be stated', { logins: { ada: {} } }],
    [': the login "ada": password must be a string', { logins: { ada: { password: 1 } } }],
    [': the login "ada": options must be an object', { logins: { ada: 'secret' } }],
    [': the login "ada": unknown option "pass"', { logins: { ada: { pass: 'a' } } }],
    [
      ': the login "ada": lifetime must be a number of seconds',
      { logins: { ada: { password: 'a', lifetime: NaN } } },
    ],
  ])('with a wrong option%s', (complaint, options) => {
    const create = () => tokenService(issuer, options)
    expect(create).toThrow(TypeError)
    expect(create).toThrow(`tokenService${complaint}`)
  })
})

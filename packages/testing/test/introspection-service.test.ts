import { compactVerify, generateKeyPair, exportJWK, importJWK, SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'

import { manualClock } from '../src/clock.ts'
import { dpopClient } from '../src/dpop/dpop-client.ts'
import { introspectionService } from '../src/introspection-service.ts'
import { createTestIssuer } from '../src/issuer.ts'

const START = 1_767_225_600
const SIGNED = 'application/token-introspection+jwt'
const BASIC = { authorization: `Basic ${btoa('api:secret')}` }

const clock = manualClock(START)
const issuer = await createTestIssuer({ clock, algorithm: 'ES256', audience: 'orders' })
const service = introspectionService(issuer)

function asking(
  token: string,
  headers: Readonly<Record<string, string>> = BASIC,
  form: Readonly<Record<string, string>> = {},
): RequestInit {
  return { method: 'POST', headers, body: new URLSearchParams({ token, ...form }) }
}

async function ask(token: string, from = service): Promise<unknown> {
  return await (await from.fetch(from.introspectionUrl, asking(token))).json()
}

describe('a question', () => {
  test('about an issued token: active, with its claims', async () => {
    expect(await ask(service.issue({ claims: { sub: 'ada', scope: 'read' } }))).toEqual({
      active: true,
      token_type: 'Bearer',
      iss: 'https://auth.test',
      aud: 'orders',
      iat: clock.now(),
      exp: clock.now() + 300,
      sub: 'ada',
      scope: 'read',
    })
  })

  test('about a token that nobody has issued, that was revoked, or that is a JWT: not active, and no more', async () => {
    const revoked = service.issue()
    service.revoke(revoked)
    for (const token of ['invented', '__proto__', revoked, await issuer.token()]) {
      expect(await ask(token)).toEqual({ active: false })
    }
  })

  test('about a token before and after its time: not active', async () => {
    const time = manualClock(START)
    const its = introspectionService(await createTestIssuer({ clock: time, algorithm: 'ES256' }))
    const token = its.issue({ notBefore: 10, expiresIn: 20 })
    const isActive = async () => await ask(token, its)
    expect(await isActive()).toEqual({ active: false })
    await time.advance(10)
    expect(await isActive()).toMatchObject({ active: true, nbf: START + 10, exp: START + 20 })
    await time.advance(10)
    expect(await isActive()).toEqual({ active: false })
  })

  test('about a bound token: what it is bound to, and its type', async () => {
    const client = await dpopClient({ clock, algorithm: 'ES256' })
    expect(await ask(service.issue({ boundTo: client }))).toMatchObject({
      token_type: 'DPoP',
      cnf: { jkt: client.jkt },
    })
    expect(await ask(service.issue({ boundTo: { x5tS256: 'thumbprint' } }))).toMatchObject({
      token_type: 'Bearer',
      cnf: { 'x5t#S256': 'thumbprint' },
    })
  })

  test('that wants a signed answer gets one, for the client that asks', async () => {
    const token = service.issue({ claims: { sub: 'ada' } })
    const response = await service.fetch(
      service.introspectionUrl,
      asking(token, { ...BASIC, accept: `${SIGNED};q=1, application/json;q=0.5` }),
    )
    expect(response.headers.get('content-type')).toBe(SIGNED)
    const { payload, protectedHeader } = await compactVerify(
      await response.text(),
      await importJWK(issuer.publicJwk),
    )
    expect(protectedHeader).toEqual({
      alg: 'ES256',
      kid: issuer.publicJwk.kid,
      typ: 'token-introspection+jwt',
    })
    expect(JSON.parse(new TextDecoder().decode(payload))).toEqual({
      iss: 'https://auth.test',
      aud: 'api',
      iat: clock.now(),
      token_introspection: await ask(token),
    })
  })

  test.each([
    { name: 'GET', init: { headers: BASIC }, status: 405 },
    { name: 'no form', init: { method: 'POST', headers: BASIC, body: 'token=a' }, status: 415 },
    {
      name: 'no token',
      init: { method: 'POST', headers: BASIC, body: new URLSearchParams() },
      status: 400,
    },
    { name: 'too long', init: asking('a'.repeat(65_536)), status: 413 },
  ])('$name: $status', async ({ init, status }) => {
    expect((await service.fetch(service.introspectionUrl, init)).status).toBe(status)
  })
})

const basic = (text: string) => ({ headers: { authorization: `Basic ${btoa(text)}` }, form: {} })
const posted = (form: object) => ({ headers: {}, form: { ...form } })

describe('a client', async () => {
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const clients = {
    'a:pi': { secret: 'sec ret%' },
    keyed: { publicJwk: await exportJWK(publicKey) },
  }
  const its = introspectionService(issuer, { clients })
  const { introspectionUrl } = its
  const token = its.issue()

  async function assertion(claims: object = {}, key = privateKey): Promise<object> {
    const usual = { iss: 'keyed', sub: 'keyed', aud: introspectionUrl, jti: crypto.randomUUID() }
    const jwt = new SignJWT({ ...usual, exp: clock.now() + 60, ...claims })
    return {
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: await jwt.setProtectedHeader({ alg: 'ES256' }).sign(key),
    }
  }

  test.each([
    { name: 'secret in the header', ...basic('a%3Api:sec+ret%25') },
    {
      name: 'secret in the form',
      ...posted({ client_id: 'a:pi', client_secret: 'sec ret%' }),
    },
    { name: 'assertion', ...posted(await assertion()) },
    { name: 'assertion for the issuer', ...posted(await assertion({ aud: 'https://auth.test' })) },
  ])('with the right $name is answered', async ({ headers, form }) => {
    const response = await its.fetch(introspectionUrl, asking(token, headers, form))
    expect(await response.json()).toMatchObject({ active: true })
  })

  test.each([
    { name: 'nothing', headers: {}, form: {} },
    { name: 'a wrong secret', ...basic('a%3Api:secret') },
    { name: 'a secret that is not encoded', ...basic('a:pi:sec ret%') },
    { name: 'a secret of nobody', ...basic('nobody:secret') },
    { name: 'a name that objects inherit', ...basic('constructor:secret') },
    { name: 'no secret', ...basic('keyed:undefined') },
    {
      name: 'two ways at once',
      ...basic('a%3Api:sec+ret%25'),
      form: { client_id: 'a:pi', client_secret: 'sec ret%' },
    },
    {
      name: 'an assertion of somebody else',
      ...posted(await assertion({}, (await generateKeyPair('ES256')).privateKey)),
    },
    { name: 'an assertion for somebody else', ...posted(await assertion({ aud: 'orders' })) },
    { name: 'an old assertion', ...posted(await assertion({ exp: START - 60 })) },
    { name: 'an assertion without an end', ...posted(await assertion({ exp: undefined })) },
    { name: 'an assertion of another client', ...posted(await assertion({ sub: 'a:pi' })) },
  ])('with $name: 401, and nothing of the token', async ({ headers, form }) => {
    const response = await its.fetch(introspectionUrl, asking(token, headers, form))
    expect([response.status, await response.json()]).toEqual([401, { error: 'invalid_client' }])
  })

  test('that comes first is in the options for the verifier', () => {
    expect(its.verifierOptions).toMatchObject({ clientId: 'a:pi', clientSecret: 'sec ret%' })
    expect(
      introspectionService(issuer, { clients: { keyed: clients.keyed } }).verifierOptions,
    ).toMatchObject({ clientId: 'keyed', clientSecret: undefined })
  })
})

test('the metadata name the endpoint under the URL that was asked', async () => {
  const path = '/.well-known/oauth-authorization-server'
  const described = await service.fetch(`${service.authUrl}${path}`)
  expect(await described.json()).toMatchObject({
    issuer: service.verifierOptions.issuer,
    jwks_uri: `${service.authUrl}/tokenservice/jwks.json`,
    introspection_endpoint: service.introspectionUrl,
  })
  await using listening = await service.listen()
  expect(await (await fetch(`${listening.authUrl}${path}`)).json()).toMatchObject({
    issuer: listening.authUrl,
    introspection_endpoint: listening.introspectionUrl,
  })
  const post = await service.fetch(`${service.authUrl}${path}`, { method: 'POST' })
  expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET'])
})

test('on a port it knows the same tokens, under its own name', async () => {
  await using listening = await service.listen()
  const token = service.issue()
  const { verifierOptions, introspectionUrl } = listening
  expect(verifierOptions).toMatchObject({
    issuer: listening.authUrl,
    endpoint: introspectionUrl,
    clientId: 'api',
    clientSecret: 'secret',
  })
  const response = await verifierOptions.fetch(introspectionUrl, asking(token))
  expect(await response.json()).toMatchObject({ active: true, iss: listening.authUrl })
})

test('a name of the issuer that is stated holds everywhere', async () => {
  const named = await createTestIssuer({ clock, algorithm: 'ES256', issuer: 'https://id.test' })
  const its = introspectionService(named)
  expect(its.verifierOptions.issuer).toBe('https://id.test')
  expect(await ask(its.issue(), its)).toMatchObject({ iss: 'https://id.test' })
  expect(await ask(its.issue({ omit: ['iss'] }), its)).not.toHaveProperty('iss')
})

test('a login brings an opaque token, and the key is that of the issuer', async () => {
  const logins = { ada: { password: 'pw', claims: { scope: 'write' } } }
  const its = introspectionService(issuer, { logins })
  const body = new URLSearchParams({ loginId: 'ada', password: 'pw' })
  const loggedIn = await its.fetch(`${its.authUrl}/tokenservice/token/api`, {
    method: 'POST',
    body,
  })
  expect(await ask(await loggedIn.text(), its)).toMatchObject({ sub: 'ada', scope: 'write' })
  expect(await (await its.fetch(its.keyUrl)).json()).toEqual(issuer.publicJwk)
})

test('the log of the issuer has who asked, and no token and secret', async () => {
  const token = service.issue()
  await ask(token)
  await service.fetch(service.introspectionUrl, asking(token, {}, { client_id: 'api' }))
  expect(issuer.requests().slice(-2)).toMatchObject([
    { endpoint: 'introspection', status: 200, clientId: 'api', loginId: undefined },
    { endpoint: 'introspection', status: 401, clientId: 'api' },
  ])
  expect(JSON.stringify(issuer.requests())).not.toMatch(new RegExp(`${token}|secret`))
})

test('outages of the issuer are outages of the endpoint, unless they are of another', async () => {
  const token = service.issue()
  const all = issuer.outage(503)
  const fetched = await service.fetch(service.introspectionUrl, asking(token))
  expect(fetched.status).toBe(503)
  const described = await service.fetch(`${service.authUrl}/.well-known/oauth-authorization-server`)
  expect(described.status).toBe(503)
  all.restore()
  const other = issuer.outage('html', { endpoint: 'keys' })
  expect(await ask(token)).toMatchObject({ active: true })
  other.restore()
  const its = issuer.outage('html', { endpoint: 'introspection', times: 1 })
  const page = await service.fetch(service.introspectionUrl, asking(token))
  expect(page.headers.get('content-type')).toBe('text/html')
  its.restore()
})

test('of more than 10,000 tokens the oldest are forgotten', async () => {
  const its = introspectionService(issuer)
  const [first, second] = [its.issue(), its.issue()]
  for (let count = 0; count < 9999; count++) its.issue()
  expect(await ask(first, its)).toEqual({ active: false })
  expect(await ask(second, its)).toMatchObject({ active: true })
})

describe('the bad answers', () => {
  test.each([{ signed: false }, { signed: true }])(
    'have names of their own: %o',
    async (options) => {
      const names = (await service.badAnswers(options)).map(({ name }) => name)
      expect(names).toEqual([...new Set(names)])
    },
  )

  test('include those of signed answers if they are asked for', async () => {
    const plain = (await service.badAnswers()).map(({ name }) => name)
    const signed = (await service.badAnswers({ signed: true })).map(({ name }) => name)
    expect(signed).toEqual(expect.arrayContaining(plain))
    expect(plain).not.toContain('plain instead of signed')
    expect(signed).toContain('plain instead of signed')
  })

  test('are given each time that one asks', async () => {
    const bad = await service.badAnswers()
    const { token = '' } = bad.find(({ name }) => name === 'active as string') ?? {}
    expect(await ask(token)).toMatchObject({ active: 'true' })
    expect(await ask(token)).toMatchObject({ active: 'true' })
  })
})

test.each([
  { options: { clinets: {} }, message: 'introspectionService: unknown option "clinets"' },
  { options: { clients: { api: { secret: '' } } }, message: 'the client "api": secret must be' },
  {
    options: { clients: { api: { publicJwk: { kty: 'oct', k: 'c2VjcmV0' } } } },
    message: 'the client "api": publicJwk must be a public JWK',
  },
  { options: { logins: { ada: {} } }, message: 'the login "ada": password must be stated' },
])('wrong options are a TypeError at once: $message', ({ options, message }) => {
  expect(() => introspectionService(issuer, options as object)).toThrow(message)
})

test('only an issuer of this package will do', () => {
  expect(() => introspectionService({ ...issuer })).toThrow(
    'introspectionService: the first argument must come from createTestIssuer',
  )
})

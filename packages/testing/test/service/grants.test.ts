import { createOAuthClient, type OAuthClientOptions } from '@portcullis/client/oauth'
import { createVerifier } from '@portcullis/core'
import { decodeJwt } from 'jose'
import { describe, expect, test } from 'vitest'

import { manualClock } from '../../src/clock.ts'
import { dpopClient } from '../../src/dpop/dpop-client.ts'
import { createTestIssuer } from '../../src/issuer.ts'
import type { TokenServiceOptions } from '../../src/service/endpoints.ts'
import { tokenService } from '../../src/token-service.ts'

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'
const CLIENTS = { shop: { secret: 's:ä', claims: { roles: ['a'] }, lifetime: 60 } }

async function setUp(options: TokenServiceOptions = { clients: CLIENTS }) {
  const clock = manualClock()
  const issuer = await createTestIssuer({ clock, issuer: 'https://auth.test', algorithm: 'ES256' })
  const service = tokenService(issuer, options)
  const own = { client_id: 'shop', client_secret: 's:ä' }
  async function grant(form: Record<string, string>, headers: Record<string, string> = {}) {
    const body = new URLSearchParams(form)
    return await service.fetch(`${service.authUrl}/token`, { method: 'POST', body, headers })
  }
  const client = (more: Partial<OAuthClientOptions>) =>
    createOAuthClient({
      issuer: service.authUrl,
      clientId: 'shop',
      origins: [],
      fetch: service.fetch,
      clock,
      ...more,
    })
  return { clock, issuer, service, own, grant, client }
}

describe('the metadata', () => {
  test('name the endpoint, in the process and on a port', async () => {
    const { service } = await setUp()
    const path = '/.well-known/oauth-authorization-server'
    const inside = await service.fetch(`${service.authUrl}${path}`)
    expect(await inside.json()).toMatchObject({
      issuer: 'https://auth.test',
      token_endpoint: 'https://auth.test/token',
      jwks_uri: `${service.authUrl}/tokenservice/jwks.json`,
      grant_types_supported: ['client_credentials', EXCHANGE, JWT_BEARER],
    })
    await using listening = await service.listen()
    const outside = await fetch(`${listening.authUrl}${path}`)
    expect(await outside.json()).toMatchObject({
      issuer: listening.authUrl,
      token_endpoint: `${listening.authUrl}/token`,
    })
    const posted = await service.fetch(`${service.authUrl}${path}`, { method: 'POST' })
    expect(posted.status).toBe(405)
  })

  test('are not there without clients, and neither is the endpoint', async () => {
    const { service, grant } = await setUp({})
    const path = '/.well-known/oauth-authorization-server'
    expect((await service.fetch(`${service.authUrl}${path}`)).status).toBe(404)
    expect((await grant({})).status).toBe(404)
  })
})

describe('client credentials', () => {
  test('give a token of the issuer, with the claims and the lifetime of the client', async () => {
    const { issuer, grant, own } = await setUp()
    const form = { ...own, grant_type: 'client_credentials', scope: 'a b', resource: 'urn:x' }
    const answer = await grant(form)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const { access_token: token, ...others } = (await answer.json()) as { access_token: string }
    expect(others).toEqual({ token_type: 'Bearer', expires_in: 60, scope: 'a b' })
    const verifier = createVerifier({ ...issuer.verifierOptions, audience: 'urn:x' })
    const { claims } = await verifier.verify(token)
    expect(claims).toMatchObject({ sub: 'shop', client_id: 'shop', scope: 'a b', roles: ['a'] })
    expect(Number(claims.exp) - Number(claims.iat)).toBe(60)
    expect(issuer.requests()).toMatchObject([{ endpoint: 'token', status: 200 }, {}])
  })

  test.each([
    ['another secret', { client_id: 'shop', client_secret: 'no' }],
    ['no secret', { client_id: 'shop' }],
    ['a client that is not known', { client_id: '__proto__', client_secret: 's:ä' }],
    ['no client', {}],
  ])('%s: invalid_client', async (_title, who) => {
    const { grant } = await setUp()
    const answer = await grant({ ...who, grant_type: 'client_credentials' })
    expect([answer.status, await answer.json()]).toEqual([401, { error: 'invalid_client' }])
  })

  test.each([
    ['invalid_target', { audience: 'other' }],
    ['invalid_scope', { scope: 'a b' }],
    ['unsupported_grant_type', { grant_type: 'password' }],
  ])('%s', async (error, form) => {
    const clients = { shop: { secret: 's:ä', targets: ['orders'], scopes: ['a'] } }
    const { grant, own } = await setUp({ clients })
    const answer = await grant({ ...own, grant_type: 'client_credentials', ...form })
    expect([answer.status, await answer.json()]).toEqual([400, { error }])
    const good = { ...own, grant_type: 'client_credentials', audience: 'orders', scope: 'a' }
    expect((await grant(good)).status).toBe(200)
  })

  test('fail in an outage of the endpoint token', async () => {
    const { issuer, grant, own } = await setUp()
    issuer.outage(503, { endpoint: 'token' })
    expect((await grant({ ...own, grant_type: 'client_credentials' })).status).toBe(503)
  })
})

describe('the ways of a client to prove who it is', () => {
  test('a secret in the header', async () => {
    const { client } = await setUp()
    expect(decodeJwt(await client({ clientSecret: 's:ä' }).get())).toMatchObject({ sub: 'shop' })
  })

  test.each([
    ['EC', { name: 'ECDSA', namedCurve: 'P-256' }],
    ['OKP', { name: 'Ed25519' }],
    [
      'RSA',
      {
        name: 'RSASSA-PKCS1-v1_5',
        modulusLength: 2048,
        publicExponent: Buffer.of(1, 0, 1),
        hash: 'SHA-256',
      },
    ],
  ])('a key of the type %s, whose assertions are accepted once', async (_type, algorithm) => {
    const pair = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
    if (!('privateKey' in pair)) throw new TypeError('no pair')
    const { alg: _alg, ...publicJwk } = await crypto.subtle.exportKey('jwk', pair.publicKey)
    const { client, service } = await setUp({ clients: { shop: { publicJwk } } })
    let sent: RequestInit | undefined
    const fetch = async (url: string, init: RequestInit) => {
      sent = init
      return await service.fetch(url, init)
    }
    const token = await client({ privateKey: { key: pair.privateKey }, fetch }).get()
    expect(decodeJwt(token)).toMatchObject({ sub: 'shop' })
    const again = await service.fetch(`${service.authUrl}/token`, { ...sent, signal: null })
    expect(await again.json()).toEqual({ error: 'invalid_client' })
  })

  test('a key: the secret of another way does not help', async () => {
    const { grant } = await setUp({ clients: { shop: { publicJwk: { kty: 'EC' } } } })
    const form = { client_id: 'shop', grant_type: 'client_credentials' }
    for (const assertion of ['a.b.c', `${'W'.repeat(8000)}.W.W`]) {
      const answer = await grant({
        ...form,
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: assertion,
      })
      expect(await answer.json()).toEqual({ error: 'invalid_client' })
    }
    expect((await grant(form)).status).toBe(401)
  })

  test('its certificate: then the service is told the name alone', async () => {
    const { client } = await setUp({ clients: { shop: {} } })
    expect(decodeJwt(await client({ certificate: true }).get())).toMatchObject({ sub: 'shop' })
  })
})

describe('an exchange', () => {
  test('gives a token of the subject for the target, with the actor', async () => {
    const { issuer, grant, own } = await setUp()
    const answer = await grant({
      ...own,
      grant_type: EXCHANGE,
      subject_token: await issuer.token({ claims: { sub: 'ada' } }),
      subject_token_type: ACCESS_TOKEN,
      actor_token: await issuer.token({ claims: { sub: 'shop' } }),
      actor_token_type: ACCESS_TOKEN,
      audience: 'orders',
    })
    const body = (await answer.json()) as { access_token: string }
    expect(body).toMatchObject({ issued_token_type: ACCESS_TOKEN, token_type: 'Bearer' })
    expect(decodeJwt(body.access_token)).toMatchObject({
      sub: 'ada',
      act: { sub: 'shop' },
      aud: 'orders',
    })
  })

  test('by the assertion of RFC 7523 as well', async () => {
    const { issuer, client } = await setUp()
    const token = await issuer.token({ claims: { sub: 'ada' } })
    const oauth = client({ clientSecret: 's:ä' })
    const handle = oauth.onBehalfOf({ token, claims: decodeJwt(token) }, { form: 'jwt-bearer' })
    expect(decodeJwt(await handle.get())).toMatchObject({ sub: 'ada' })
  })

  test('of a bad subject is refused, as RFC 8693 and RFC 7523 say', async () => {
    const { issuer, grant, own } = await setUp()
    const { jkt } = await dpopClient()
    const stranger = await createTestIssuer({ algorithm: 'ES256' })
    const bad = [
      await issuer.token({ expiresIn: -1 }),
      await issuer.token({ boundTo: { jkt } }),
      await stranger.token(),
      'no token',
    ]
    for (const token of bad) {
      const exchange = { subject_token: token, subject_token_type: ACCESS_TOKEN }
      const first = await grant({ ...own, grant_type: EXCHANGE, ...exchange })
      expect(await first.json()).toEqual({ error: 'invalid_request' })
      const second = await grant({ ...own, grant_type: JWT_BEARER, assertion: token })
      expect(await second.json()).toEqual({ error: 'invalid_grant' })
    }
    const good = await issuer.token()
    const untyped = await grant({ ...own, grant_type: EXCHANGE, subject_token: good })
    expect(await untyped.json()).toEqual({ error: 'invalid_request' })
  })

  test('of a token from before a rotation is accepted while its key is published', async () => {
    const { issuer, grant, own } = await setUp()
    const assertion = await issuer.token()
    await issuer.rotate({ publish: 'both' })
    expect((await grant({ ...own, grant_type: JWT_BEARER, assertion })).status).toBe(200)
  })
})

test('a nonce is wanted in proofs, and the token is bound, on a port as well', async () => {
  const { service, client } = await setUp({ clients: CLIENTS, dpopNonce: () => 'n1' })
  await using listening = await service.listen()
  const oauth = client({
    issuer: listening.authUrl,
    clientSecret: 's:ä',
    dpop: true,
    fetch: async (url, init) => await fetch(url, init),
  })
  expect(decodeJwt(await oauth.get())).toMatchObject({
    cnf: { jkt: expect.any(String) as unknown },
  })
})

test.each<[string, object]>([
  ['clients must be an object', { clients: [] }],
  ['the client "a": secret must be a string that is not empty', { clients: { a: { secret: '' } } }],
  ['the client "a": unknown option "pass"', { clients: { a: { pass: 'a' } } }],
  ['the client "a": scopes must be a list of strings', { clients: { a: { scopes: 'a' } } }],
])('a wrong option is a TypeError: %s', async (complaint, options) => {
  await expect(setUp(options)).rejects.toThrow(complaint)
})

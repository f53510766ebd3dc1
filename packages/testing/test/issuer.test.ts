import { createTokenClient } from '@portcullis/client'
import { type Algorithm, createVerifier, remoteKeys } from '@portcullis/core'
import { calculateJwkThumbprint, compactVerify, decodeProtectedHeader, importJWK } from 'jose'
import { describe, expect, test } from 'vitest'

import { manualClock } from '../src/clock.ts'
import { createTestIssuer, type TestIssuer } from '../src/issuer.ts'
import { listen } from '../src/service/listen.ts'
import { tokenService } from '../src/token-service.ts'

const START = 1_767_225_600

/** A token's parts, once jose has verified it with the issuer's public key. */
async function opened(issuer: TestIssuer, token: string) {
  const key = await importJWK(issuer.publicJwk)
  const { payload, protectedHeader } = await compactVerify(token, key)
  const claims: unknown = JSON.parse(new TextDecoder().decode(payload))
  return { claims, header: protectedHeader }
}

/** `ALGORITHMS` of issuer-options.ts has to have every one. */
const KEY_TYPES: Readonly<Record<Algorithm, string>> = {
  RS256: 'RSA',
  RS384: 'RSA',
  RS512: 'RSA',
  PS256: 'RSA',
  PS384: 'RSA',
  PS512: 'RSA',
  ES256: 'EC',
  ES384: 'EC',
  ES512: 'EC',
  EdDSA: 'OKP',
  Ed25519: 'OKP',
  'ML-DSA-44': 'AKP',
  'ML-DSA-65': 'AKP',
  'ML-DSA-87': 'AKP',
}

describe('the key', () => {
  test('is one bare public JWK: RS512 with 2048 bits, named by its thumbprint', async () => {
    const { publicJwk } = await createTestIssuer()
    expect(Object.keys(publicJwk).toSorted()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use'])
    expect(publicJwk).toMatchObject({
      kty: 'RSA',
      alg: 'RS512',
      use: 'sig',
      kid: await calculateJwkThumbprint(publicJwk),
    })
    expect(Buffer.from(publicJwk.n ?? '', 'base64url')).toHaveLength(256)
  })

  test('is another one for every issuer', async () => {
    const [one, two] = await Promise.all([createTestIssuer(), createTestIssuer()])
    expect(one.publicJwk.kid).not.toBe(two.publicJwk.kid)
    await expect(opened(two, await one.token())).rejects.toThrow('signature verification failed')
  })

  test.each(Object.entries(KEY_TYPES) as [Algorithm, string][])(
    '%s: a %s key whose signatures jose verifies',
    async (algorithm, kty) => {
      const issuer = await createTestIssuer({ algorithm })
      expect(issuer.publicJwk).toMatchObject({ kty, alg: algorithm })
      expect(issuer.publicJwk).not.toHaveProperty('d')
      expect(issuer.publicJwk).not.toHaveProperty('priv')
      const { header } = await opened(issuer, await issuer.token())
      expect(header.alg).toBe(algorithm)
    },
  )

  test('can say nothing of itself: neither kid nor alg nor use, also after a rotation', async () => {
    const clock = manualClock()
    const issuer = await createTestIssuer({ clock, omitFromKey: ['kid', 'alg', 'use'] })
    const service = tokenService(issuer)
    const verifier = createVerifier(issuer.verifierOptions)
    for (const kid of ['new', 'same', 'none'] as const) {
      const response = await service.fetch(service.keyUrl)
      expect(Object.keys((await response.json()) as object).toSorted()).toEqual(['e', 'kty', 'n'])
      const token = await issuer.token()
      expect(decodeProtectedHeader(token)).toEqual({ alg: 'RS512', typ: 'JWT' })
      await expect(verifier.verify(token)).resolves.toMatchObject({ token })
      await issuer.rotate({ kid })
      await clock.advance(1)
    }
  })

  test('leaves out no more than it is told to', async () => {
    const { publicJwk } = await createTestIssuer({ algorithm: 'ES256', omitFromKey: ['use'] })
    expect(publicJwk).toMatchObject({ kid: await calculateJwkThumbprint(publicJwk), alg: 'ES256' })
    expect(publicJwk).not.toHaveProperty('use')
  })

  test.each<[complaint: string, options: object]>([
    ['omitFromKey must be a list of kid, alg, use', { omitFromKey: ['kty'] }],
    ['omitFromKey must be a list of kid, alg, use', { omitFromKey: 'kid' }],
    ['algorithm must be one of RS256', { algorithm: 'RSA512' }],
    ['algorithm must be one of RS256', { algorithm: 'HS256' }],
    ['clock must have the functions', { clock: { now: () => 0 } }],
    ['issuer must be a string', { issuer: '' }],
    ['audience must be a string that is not empty, or a list', { audience: [1] }],
    ['audience must be a string that is not empty, or a list', { audience: [] }],
    ['lifetime must be a number of seconds', { lifetime: '5m' }],
    ['key must be PEM, a JWK, or what privateKeys() returned', { key: '' }],
    ['unknown option "algorithms"', { algorithms: ['RS512'] }],
  ])('cannot be made with a wrong option: %s', async (complaint, options) => {
    const created = createTestIssuer(options)
    await expect(created).rejects.toThrow(`createTestIssuer: ${complaint}`)
    await expect(created).rejects.toThrow(TypeError)
  })
})

describe('a token', () => {
  const clock = manualClock()

  test('has iat and exp and nothing else, which is all that the service documents', async () => {
    const issuer = await createTestIssuer({ clock })
    expect(await opened(issuer, await issuer.token())).toEqual({
      claims: { iat: START, exp: START + 300 },
      header: { alg: 'RS512', kid: issuer.publicJwk.kid, typ: 'JWT' },
    })
    expect(issuer.lifetime).toBe(300)
  })

  test('has iss and aud if the issuer states them', async () => {
    const audience = ['api', 'other']
    const issuer = await createTestIssuer({ clock, issuer: 'https://auth.test', audience })
    const { claims } = await opened(issuer, await issuer.token())
    expect(claims).toMatchObject({ iss: 'https://auth.test', aud: audience })
  })

  test('lives as long as the issuer says', async () => {
    const issuer = await createTestIssuer({ clock, lifetime: 60 })
    expect(issuer.lifetime).toBe(60)
    const { claims } = await opened(issuer, await issuer.token())
    expect(claims).toMatchObject({ exp: START + 60 })
  })

  test('follows the clock, in whole seconds', async () => {
    const moving = manualClock()
    const issuer = await createTestIssuer({ clock: moving })
    await moving.advance(10.9)
    const { claims } = await opened(issuer, await issuer.token())
    expect(claims).toEqual({ iat: START + 10, exp: START + 310 })
  })

  test('without a clock has the time of the system', async () => {
    const issuer = await createTestIssuer()
    const before = Math.floor(Date.now() / 1000)
    const { claims } = await opened(issuer, await issuer.token())
    const { iat, exp } = claims as { iat: number; exp: number } // checked next
    expect(iat).toBeGreaterThanOrEqual(before)
    expect(iat).toBeLessThanOrEqual(Date.now() / 1000)
    expect(exp).toBe(iat + 300)
  })

  test.each([
    { name: 'expiresIn', options: { expiresIn: 5 }, claims: { iat: START, exp: START + 5 } },
    { name: 'an expiry past', options: { expiresIn: -5 }, claims: { iat: START, exp: START - 5 } },
    { name: 'one that is now', options: { expiresIn: 0 }, claims: { iat: START, exp: START } },
    {
      name: 'an expiry left undefined',
      options: { expiresIn: undefined },
      claims: { iat: START, exp: START + 300 },
    },
    {
      name: 'notBefore',
      options: { notBefore: 30 },
      claims: { iat: START, exp: START + 300, nbf: START + 30 },
    },
    {
      name: 'notBefore of now',
      options: { notBefore: 0 },
      claims: { iat: START, exp: START + 300, nbf: START },
    },
    {
      name: 'claims added',
      options: { claims: { sub: 'ada', roles: ['a'] } },
      claims: { iat: START, exp: START + 300, sub: 'ada', roles: ['a'] },
    },
    {
      name: 'claims put in place of the usual ones, of whatever type',
      options: { claims: { exp: 'soon', iat: null }, expiresIn: 5 },
      claims: { iat: null, exp: 'soon' },
    },
    { name: 'claims left out', options: { omit: ['exp', 'iat'] }, claims: {} },
    {
      name: 'a payload in place of any claims',
      options: { payload: '["sub"]', claims: { sub: 'ada' }, expiresIn: 5, notBefore: 1 },
      claims: ['sub'],
    },
    {
      name: 'an added claim left out',
      options: { claims: { sub: 'ada' }, omit: ['sub'] },
      claims: { iat: START, exp: START + 300 },
    },
  ])('as asked for: $name', async ({ options, claims }) => {
    const issuer = await createTestIssuer({ clock })
    expect((await opened(issuer, await issuer.token(options))).claims).toEqual(claims)
  })

  test.each([
    { name: 'typ replaced', options: { header: { typ: 'at+jwt' } }, header: { typ: 'at+jwt' } },
    { name: 'kid replaced', options: { header: { kid: 'k1' } }, header: { kid: 'k1' } },
    { name: 'a member added', options: { header: { jku: 'x' } }, header: { jku: 'x', typ: 'JWT' } },
  ])('header as asked for: $name', async ({ options, header }) => {
    const issuer = await createTestIssuer({ clock })
    const token = await issuer.token(options)
    expect((await opened(issuer, token)).header).toMatchObject({ alg: 'RS512', ...header })
  })

  test('header members are left out as asked for', async () => {
    const issuer = await createTestIssuer({ clock })
    const token = await issuer.token({ omit: ['kid', 'typ'] })
    expect((await opened(issuer, token)).header).toEqual({ alg: 'RS512' })
  })

  test('bearer is the header that carries it', async () => {
    const issuer = await createTestIssuer({ clock })
    const { authorization, ...others } = await issuer.bearer({ claims: { sub: 'ada' } })
    expect(others).toEqual({})
    expect(authorization).toMatch(/^Bearer [\w-]+\.[\w-]+\.[\w-]+$/)
    const token = authorization.slice('Bearer '.length)
    expect((await opened(issuer, token)).claims).toMatchObject({ sub: 'ada' })
    const plain = await issuer.bearer()
    expect(decodeProtectedHeader(plain.authorization.slice(7))).toMatchObject({ typ: 'JWT' })
  })
})

const plain = await createTestIssuer()

test.each<[complaint: string, options: object]>([
  ['unknown option "claim", known are claims, expiresIn', { claim: {} }],
  ['claims must be an object', { claims: null }],
  ['expiresIn must be a number of seconds', { expiresIn: '5m' }],
  ['notBefore must be a number of seconds', { notBefore: NaN }],
  ['header must be an object', { header: [] }],
  ['omit must be a list of strings', { omit: 'exp' }],
  ['payload must be a string or octets', { payload: {} }],
  ['options must be an object', [] as object],
])('a token is not signed with a wrong option: %s', async (complaint, options) => {
  const signed = plain.token(options)
  await expect(signed).rejects.toThrow(TypeError)
  await expect(signed).rejects.toThrow(`token: ${complaint}`)
})

describe('signed as asked for', () => {
  test('with another algorithm of the same key', async () => {
    const token = await plain.token({ header: { alg: 'RS256' } })
    const key = await importJWK({ ...plain.publicJwk, alg: 'RS256' })
    expect((await compactVerify(token, key)).protectedHeader.alg).toBe('RS256')
  })

  test.each([{ alg: 'ES256' }, { alg: 'none' }, { alg: 1 }])(
    'but with no algorithm that the key does not fit: %j',
    async (header) => {
      await expect(plain.token({ header })).rejects.toThrow(Error)
    },
  )

  test('with octets that are no text', async () => {
    const payload = Uint8Array.of(0, 255)
    const { payload: signed } = await compactVerify(
      await plain.token({ payload }),
      await importJWK(plain.publicJwk),
    )
    expect([...signed]).toEqual([0, 255])
  })
})

/** An API that answers with what it was sent. */
async function authorizationOf({ headers }: Request): Promise<Response> {
  return await Promise.resolve(new Response(headers.get('authorization')))
}

test('of a list of types its tokens have the first, and its verifiers accept each', async () => {
  const issuer = await createTestIssuer({ type: ['at+jwt', 'txntoken+jwt'] })
  const verifier = createVerifier(issuer.verifierOptions)
  const { header } = await verifier.verify(await issuer.token())
  expect(header).toMatchObject({ typ: 'at+jwt' })
  const other = await issuer.token({ header: { typ: 'txntoken+jwt' } })
  await expect(verifier.verify(other)).resolves.toBeDefined()
  const strange = await issuer.token({ header: { typ: 'JWT' } })
  await expect(verifier.verify(strange)).rejects.toMatchObject({ reason: 'type' })
})

test.each([[[]], [['at+jwt', '']], [['at+jwt', 7]], [null]])(
  'the types %j are a TypeError',
  async (type) => {
    await expect(createTestIssuer({ type } as object)).rejects.toThrow(TypeError)
  },
)

describe('what is wired to an issuer', () => {
  test('a verifier has its keys, its clock, its issuer and its audience', async () => {
    const clock = manualClock()
    const issuer = await createTestIssuer({
      clock,
      issuer: 'https://auth.test',
      audience: 'api',
      lifetime: 60,
    })
    expect(issuer.verifierOptions).toMatchObject({
      issuer: 'https://auth.test',
      audience: 'api',
      algorithms: ['RS512'],
    })
    const verifier = createVerifier(issuer.verifierOptions)
    const token = await issuer.token({ claims: { sub: 'ada' } })
    await expect(verifier.verify(token)).resolves.toMatchObject({ claims: { sub: 'ada' } })
    await clock.advance(65)
    await expect(verifier.verify(token)).rejects.toMatchObject({ reason: 'expired' })
    const foreign = await issuer.token({ claims: { aud: 'other' } })
    await expect(verifier.verify(foreign)).rejects.toMatchObject({ reason: 'audience' })
    expect(issuer.requests()).toMatchObject([{ endpoint: 'keys', status: 200 }])
  })

  test('what the issuer does not state the verifier does not ask for', async () => {
    const issuer = await createTestIssuer({ algorithm: 'ES256' })
    expect(issuer.verifierOptions).toMatchObject({
      issuer: null,
      audience: null,
      algorithms: ['ES256'],
    })
    const verifier = createVerifier(issuer.verifierOptions)
    const token = await issuer.token({ claims: { iss: 'anybody', aud: 'anything' } })
    await expect(verifier.verify(token)).resolves.toMatchObject({ token })
  })

  test('its verifiers share one key cache, beside which one of another can be made', async () => {
    const clock = manualClock()
    const issuer = await createTestIssuer({ clock, algorithm: 'ES256' })
    const token = await issuer.token()
    for (const verifier of [1, 2].map(() => createVerifier(issuer.verifierOptions))) {
      await expect(verifier.verify(token)).resolves.toMatchObject({ token })
    }
    expect(issuer.requests()).toHaveLength(1)
    const service = tokenService(issuer)
    const keys = remoteKeys(service.keyUrl, { fetch: service.fetch, clock })
    const other = createVerifier({ ...issuer.verifierOptions, keys })
    await expect(other.verify(token)).resolves.toMatchObject({ token })
    expect(issuer.requests()).toHaveLength(2)
  })

  test('a client logs in, and the verifier accepts what it gets', async () => {
    const clock = manualClock()
    const issuer = await createTestIssuer({ clock })
    const origins = ['https://api.example.com']
    await using client = createTokenClient({ ...issuer.clientOptions, origins })
    const verifier = createVerifier(issuer.verifierOptions)
    const first = await client.get()
    await expect(verifier.verify(first)).resolves.toMatchObject({ claims: { sub: 'demo' } })
    await clock.advance(400)
    const second = await client.get()
    expect(second).not.toBe(first)
    await expect(verifier.verify(second)).resolves.toMatchObject({ claims: { sub: 'demo' } })
    expect(issuer.requests().map(({ endpoint, loginId }) => [endpoint, loginId])).toEqual([
      ['token', 'demo'],
      ['keys', undefined],
      ['token', 'demo'],
      ['keys', undefined],
    ])
  })

  test('a client reaches an API that is not emulated', async () => {
    const issuer = await createTestIssuer({ algorithm: 'ES256' })
    await using server = await listen(authorizationOf)
    await using client = createTokenClient({ ...issuer.clientOptions, origins: [server.url] })
    const response = await client.fetch(`${server.url}/v1/locations`)
    expect(await response.text()).toBe(`Bearer ${await client.get()}`)
    expect(issuer.requests().map(({ endpoint }) => endpoint)).toEqual(['token'])
  })

  test.each([
    { name: 'a text', inputOf: (url: string) => url },
    { name: 'a URL', inputOf: (url: string) => new URL(url) },
    { name: 'a Request', inputOf: (url: string) => new Request(url) },
  ])('what is emulated is told by the origin of $name', async ({ inputOf }) => {
    const issuer = await createTestIssuer({ algorithm: 'ES256' })
    await using server = await listen(authorizationOf)
    const { authUrl, fetch: ask } = issuer.clientOptions
    expect((await ask(inputOf(`${authUrl}/tokenservice/token/api`))).status).toBe(405)
    expect((await ask(inputOf(`${server.url}/tokenservice/token/api`))).status).toBe(200)
    expect(issuer.requests()).toMatchObject([{ endpoint: 'token', status: 405 }])
  })
})

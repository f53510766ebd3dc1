import { calculateJwkThumbprint, compactVerify, decodeProtectedHeader, importJWK } from 'jose'
import { describe, expect, test } from 'vitest'

import { manualClock } from '../src/clock.ts'
import { createTestIssuer, type TestIssuer } from '../src/issuer.ts'

const START = 1_767_225_600

/** A token's parts, once jose has verified it with the issuer's public key. */
async function opened(issuer: TestIssuer, token: string) {
  const key = await importJWK(issuer.publicJwk)
  const { payload, protectedHeader } = await compactVerify(token, key)
  const claims: unknown = JSON.parse(new TextDecoder().decode(payload))
  return { claims, header: protectedHeader }
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

  test.each([
    { algorithm: 'RS256', kty: 'RSA' },
    { algorithm: 'PS384', kty: 'RSA' },
    { algorithm: 'ES256', kty: 'EC' },
    { algorithm: 'ES512', kty: 'EC' },
    { algorithm: 'EdDSA', kty: 'OKP' },
    { algorithm: 'Ed25519', kty: 'OKP' },
  ])('$algorithm: a $kty key whose signatures jose verifies', async ({ algorithm, kty }) => {
    const issuer = await createTestIssuer({ algorithm })
    expect(issuer.publicJwk).toMatchObject({ kty, alg: algorithm })
    expect(issuer.publicJwk).not.toHaveProperty('d')
    const { header } = await opened(issuer, await issuer.token())
    expect(header.alg).toBe(algorithm)
  })

  test('an algorithm that does not exist fails at once', async () => {
    await expect(createTestIssuer({ algorithm: 'RSA512' })).rejects.toThrow('alg')
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

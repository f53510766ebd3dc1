import type { webcrypto } from 'node:crypto'

import { afterEach, describe, expect, test } from 'vitest'

import {
  assertionAuthentication,
  authenticatedForm,
  certificateAuthentication,
  type ClientAuth,
  assertionAlgorithmOf,
  isAssertionKey,
  isClientKey,
  keyAuthentication,
  secretAuthentication,
} from '../src/client-authentication.ts'

const ISSUER = 'https://issuer.test'
const JWT_BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const ACCEPT = 'application/json'

async function formBy(authentication: ClientAuth, clientId = 'shop') {
  const client = { issuer: ISSUER, clientId, authentication }
  const { headers, body } = await authenticatedForm(client, [['a', '1 &']], ACCEPT)
  return { headers, body: body.toString(), form: Object.fromEntries(body) }
}

const COMMON = {
  accept: ACCEPT,
  'content-type': 'application/x-www-form-urlencoded;charset=UTF-8',
  'user-agent': 'portcullis',
}

const failing: ClientAuth = () => {
  throw new Error('no key')
}

describe('one request', () => {
  test.each<[string, ClientAuth, string, string | undefined]>([
    [
      'a secret in the header, each part encoded as a form',
      secretAuthentication("a:b c!'()*~é%+/=", 'client_secret_basic'),
      'a=1+%26',
      `Basic ${Buffer.from('my%3Ashop:a%3Ab+c%21%27%28%29%2A~%C3%A9%25%2B%2F%3D').toString('base64')}`,
    ],
    [
      'a secret in the form',
      secretAuthentication('a&b', 'client_secret_post'),
      'a=1+%26&client_id=my%3Ashop&client_secret=a%26b',
      undefined,
    ],
    [
      'the certificate of the connection',
      certificateAuthentication(),
      'a=1+%26&client_id=my%3Ashop',
      undefined,
    ],
    [
      'an assertion of somebody else',
      assertionAuthentication('a.b.c'),
      `a=1+%26&client_id=my%3Ashop&client_assertion_type=${encodeURIComponent(JWT_BEARER)}&client_assertion=a.b.c`,
      undefined,
    ],
  ])('has %s', async (_title, authentication, body, authorization) => {
    const written = await formBy(authentication, 'my:shop')
    expect(written.body).toBe(body)
    expect(written.headers).toEqual(
      authorization === undefined ? COMMON : { ...COMMON, authorization },
    )
  })

  test('says which form of the answer is wanted', async () => {
    const client = { issuer: ISSUER, clientId: 'a', authentication: certificateAuthentication() }
    const { headers } = await authenticatedForm(client, [], 'application/token-introspection+jwt')
    expect(headers['accept']).toBe('application/token-introspection+jwt')
  })

  test('fails with what its authentication fails with', async () => {
    await expect(formBy(failing)).rejects.toThrow('no key')
  })
})

const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
  'sign',
  'verify',
])
const NOW = 1_800_000_000.7

describe('an assertion that is signed', () => {
  test('is for the issuer, a minute long, and by the clock of its client', async () => {
    const key = { key: pair.privateKey, kid: 'k1' }
    const { form, headers } = await formBy(keyAuthentication(key, () => NOW))
    expect(headers).toEqual(COMMON)
    expect(form).toMatchObject({ client_id: 'shop', client_assertion_type: JWT_BEARER })
    expect(partOf(form, 0)).toEqual({ alg: 'ES256', kid: 'k1' })
    const [iat, exp] = [Math.floor(NOW), Math.floor(NOW) + 60]
    const claims = { iss: 'shop', sub: 'shop', aud: ISSUER, iat, exp }
    expect(partOf(form, 1)).toEqual({ ...claims, jti: expect.any(String) as unknown })
    const [header, payload, signature = ''] = (form['client_assertion'] ?? '').split('.')
    const signed = [
      Buffer.from(signature, 'base64url'),
      Buffer.from(`${header}.${payload}`),
    ] as const
    const algorithm = { name: 'ECDSA', hash: 'SHA-256' }
    expect(await crypto.subtle.verify(algorithm, pair.publicKey, ...signed)).toBe(true)
  })

  test('is another one for each request, and the time is read again', async () => {
    let now = NOW
    const authentication = keyAuthentication({ key: pair.privateKey }, () => now++)
    const first = partOf((await formBy(authentication)).form, 1)
    const second = partOf((await formBy(authentication)).form, 1)
    expect(second['iat']).toBe(Number(first['iat']) + 1)
    expect(second['jti']).not.toBe(first['jti'])
  })
})

/** The header of the assertion, or its claims. */
function partOf(form: Readonly<Record<string, string>>, index: 0 | 1) {
  const part = (form['client_assertion'] ?? '').split('.')[index] ?? ''
  const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString())
  return { ...(value as Readonly<Record<string, unknown>>) } // what has just been signed
}

describe('a polluted prototype', () => {
  const NAMES = ['kid', 'certificate', 'issuer', 'client_id', 'authorization', 'clientSecret']

  afterEach(() => {
    for (const name of NAMES) Reflect.deleteProperty(Object.prototype, name)
  })

  test('adds nothing to a request or to an assertion', async () => {
    for (const name of NAMES) {
      Reflect.defineProperty(Object.prototype, name, { value: 'polluted', configurable: true })
    }
    const { form, headers } = await formBy(keyAuthentication({ key: pair.privateKey }, () => NOW))
    expect(Object.keys(headers).toSorted()).toEqual(Object.keys(COMMON).toSorted())
    expect(partOf(form, 0)).toEqual({ alg: 'ES256' })
    expect(partOf(form, 1)['aud']).toBe(ISSUER)
    expect(form['client_id']).toBe('shop')
  })

  test('makes no key of something else', () => {
    Reflect.defineProperty(Object.prototype, 'key', { value: pair.privateKey, configurable: true })
    const complaint = isClientKey({})
    Reflect.deleteProperty(Object.prototype, 'key')
    expect(complaint).toMatch(/^must be \{ key, kid\?, certificate\? \}/)
  })
})

test.each([
  [{ name: 'ECDSA', namedCurve: 'P-256' }, 'ES256'],
  [{ name: 'ECDSA', namedCurve: 'P-384' }, 'ES384'],
  [{ name: 'ECDSA', namedCurve: 'P-521' }, 'ES512'],
  [{ name: 'RSA-PSS', hash: { name: 'SHA-256' } }, 'PS256'],
  [{ name: 'RSA-PSS', hash: { name: 'SHA-512' } }, 'PS512'],
  [{ name: 'RSASSA-PKCS1-v1_5', hash: { name: 'SHA-384' } }, 'RS384'],
  [{ name: 'Ed25519' }, 'Ed25519'],
  [{ name: 'ML-DSA-65' }, 'ML-DSA-65'],
])('a key of %o makes assertions that are signed by %s', (algorithm, name) => {
  expect(assertionAlgorithmOf({ key: { algorithm } as webcrypto.CryptoKey })).toBe(name)
})

function holds(algorithm: object, type = 'private', usages = ['sign']): boolean {
  return isAssertionKey({ type, usages, algorithm } as webcrypto.CryptoKey)
}

describe('a key', () => {
  const rsa = { name: 'RSA-PSS', modulusLength: 2048, hash: { name: 'SHA-256' } }

  test.each([
    { name: 'ECDSA', namedCurve: 'P-256' },
    { name: 'ECDSA', namedCurve: 'P-384' },
    { name: 'ECDSA', namedCurve: 'P-521' },
    rsa,
    { ...rsa, name: 'RSASSA-PKCS1-v1_5' },
    { ...rsa, hash: { name: 'SHA-384' } },
    { ...rsa, hash: { name: 'SHA-512' } },
    { name: 'Ed25519' },
    { name: 'ML-DSA-44' },
    { name: 'ML-DSA-65' },
    { name: 'ML-DSA-87' },
  ])('can sign assertions: %j', (algorithm) => {
    expect(holds(algorithm)).toBe(true)
    expect(holds(algorithm, 'public')).toBe(false)
    expect(holds(algorithm, 'private', ['deriveBits'])).toBe(false)
  })

  test.each([
    { name: 'ECDSA', namedCurve: 'K-256' },
    { ...rsa, modulusLength: 2047 },
    { ...rsa, hash: { name: 'SHA-1' } },
    { name: 'Ed448' },
    { name: 'X-Ed25519' },
    { name: 'ML-DSA-44-X' },
    {},
  ])('cannot: %j', (algorithm) => {
    expect(holds(algorithm)).toBe(false)
  })
})

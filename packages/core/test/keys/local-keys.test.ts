import { createPublicKey, createSecretKey, generateKeyPairSync } from 'node:crypto'

import { createTestIssuer } from '@portcullis/testing'
import { calculateJwkThumbprint, type JWK } from 'jose'
import { describe, expect, test } from 'vitest'

import { type Caller, type KeyRing, methodsOf, type Suspicion } from '../../src/keys/key-source.ts'
import { localKeys, type LocalKeysOptions } from '../../src/keys/local-keys.ts'
import { createVerifier } from '../../src/verifier/create-verifier.ts'

const first = edJwk()
const second = edJwk()
const moment = { wall: 0, monotonic: 0 }
const caller: Caller = { arrived: moment, tokenSize: 0, signal: undefined }

function edJwk() {
  return generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
}

describe('localKeys', () => {
  test('one JWK is a bare ring of its key', async () => {
    const ring = methodsOf(localKeys({ ...first, kid: 'k1' })).current(moment)
    const thumbprint = await calculateJwkThumbprint(first)
    expect(ring).toMatchObject({ bare: true, keys: [{ thumbprint, kid: 'k1' }] })
  })

  test('a JWK set is a ring of its usable keys', async () => {
    const ring = methodsOf(localKeys({ keys: [first, { kty: 'oct' }, second] })).current(moment)
    expect(ring?.bare).toBe(false)
    expect(ring?.keys.map(({ thumbprint }) => thumbprint)).toEqual([
      await calculateJwkThumbprint(first),
      await calculateJwkThumbprint(second),
    ])
  })

  test('the ring is there without waiting, always the same', async () => {
    const keys = methodsOf(localKeys(first))
    const ring = keys.current(moment)
    expect(ring).toBeDefined()
    expect(keys.current(keys.now())).toBe(ring)
    expect(await keys.wait(caller)).toBe(ring)
  })

  test('a suspicion finds nothing: the keys never change', async () => {
    const keys = methodsOf(localKeys(first))
    const ring = await keys.wait(caller)
    const suspicion: Suspicion = {
      token: 'a.b.c',
      ring,
      couldBeAccepted: () => true,
      findKey: async ({ keys: [key] }: KeyRing) => key,
      wasIssuedAfter: () => true,
    }
    expect(await keys.suspect(suspicion, caller)).toEqual({ key: undefined, why: undefined, ring })
  })

  test('its wall clock is that of the system, by which a verifier without a clock judges; its keys do not age', () => {
    const { wall, monotonic } = methodsOf(localKeys(first)).now()
    expect(Math.abs(wall - Date.now() / 1000)).toBeLessThan(60)
    expect(monotonic).toBe(0)
  })

  test('what the caller does to its object afterwards changes nothing', async () => {
    const jwk: JWK = { ...first }
    const keys = methodsOf(localKeys(jwk))
    if (second.x !== undefined) jwk.x = second.x
    expect(keys.current(moment)?.keys[0]?.thumbprint).toBe(await calculateJwkThumbprint(first))
  })

  test('a frozen object is taken as it is', async () => {
    const ring = methodsOf(localKeys(Object.freeze({ ...first }))).current(moment)
    expect(ring?.keys).toHaveLength(1)
  })

  test('a verifier accepts what the key has signed, and nothing else', async () => {
    const [issuer, stranger] = await Promise.all([createTestIssuer(), createTestIssuer()])
    const keys = localKeys(issuer.publicJwk)
    const verifier = createVerifier({ keys, issuer: null, audience: null })
    const { claims } = await verifier.verify(await issuer.token({ claims: { sub: 'ada' } }))
    expect(claims.sub).toBe('ada')
    await expect(verifier.verify(await stranger.token())).rejects.toMatchObject({
      code: 'invalid_token',
      reason: 'signature',
      status: 401,
    })
  })

  test.each([
    { name: 'null', document: null },
    {
      name: 'a PEM text',
      document: '-----BEGIN PUBLIC KEY-----',
      hint: ': of PEM, pass createPublicKey(pem) of node:crypto',
    },
    { name: 'JSON', document: '{"kty":"RSA"}', hint: ': of a text, pass JSON.parse(text)' },
    {
      name: 'a promise',
      document: Promise.resolve(first),
      hint: ': it is a promise, so an `await` is missing',
    },
    { name: 'a number', document: 1 },
    { name: 'an object without kty', document: { x: first.x } },
  ])('$name: TypeError at once', ({ document, hint = '' }) => {
    // What a program without types can pass.
    expect(() => localKeys(document as unknown as JWK)).toThrow(
      new TypeError(`localKeys: neither a JWK, a key object, a list of them nor a JWK set${hint}`),
    )
  })

  test.each([
    {
      name: 'a key that cannot be used',
      document: { kty: 'oct', k: 'AA' },
      why: ': kty (oct) is not RSA or EC or OKP or AKP',
    },
    { name: 'an empty set', document: { keys: [] }, why: '' },
    { name: 'an empty list', document: [], why: '' },
    {
      name: 'a set of such keys',
      document: { keys: [{ ...first, use: 'enc' }] },
      why: ': entry 0: use (enc) is not sig',
    },
    {
      name: 'an RSA key of 1024 bits',
      document: generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey,
      why: ': n has fewer than 2048 bits: 1024',
    },
    {
      name: 'a key object of another curve',
      document: generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey,
      why: ': crv (secp256k1) is not P-256 or P-384 or P-521',
    },
  ])('$name: TypeError at once, with the reason', ({ document, why }) => {
    expect(() => localKeys(document)).toThrow(
      new TypeError(`localKeys: there is no usable public key${why}`),
    )
  })
})

describe('key objects', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')

  test('a public one is a bare ring of its key', async () => {
    const ring = methodsOf(localKeys(publicKey)).current(caller.arrived)
    const thumbprint = await calculateJwkThumbprint(publicKey.export({ format: 'jwk' }))
    expect(ring).toMatchObject({ bare: true, keys: [{ thumbprint, kid: undefined }] })
  })

  test('a list may have them beside JWKs, and is no bare ring, however short', async () => {
    const ring = methodsOf(localKeys([publicKey, { ...first, kid: 'k1' }])).current(caller.arrived)
    expect(ring?.bare).toBe(false)
    expect(ring?.keys.map(({ kid }) => kid)).toEqual([undefined, 'k1'])
    expect(methodsOf(localKeys([publicKey])).current(caller.arrived)).toMatchObject({ bare: false })
  })

  test('a verifier accepts what such a key has signed', async () => {
    const issuer = await createTestIssuer()
    const keys = localKeys(createPublicKey({ key: issuer.publicJwk, format: 'jwk' }))
    const verifier = createVerifier({ keys, issuer: null, audience: null })
    await expect(verifier.verify(await issuer.token())).resolves.toBeDefined()
  })

  test.each([
    {
      name: 'a private one',
      key: privateKey,
      message: 'the key object is private, pass createPublicKey(key) instead',
    },
    {
      name: 'a secret one',
      key: createSecretKey(Buffer.alloc(64)),
      message: 'the key object is secret',
    },
    {
      name: 'one of a type that has no JWK',
      key: generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).publicKey,
      message: 'a key of type rsa-pss cannot be used',
    },
  ])('$name is a TypeError, alone and in a list', ({ key, message }) => {
    expect(() => localKeys(key)).toThrow(new TypeError(`localKeys: ${message}`))
    expect(() => localKeys([first, key])).toThrow(new TypeError(`localKeys: ${message}`))
  })
})

describe('the option algorithmNames', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({
    format: 'jwk',
  })

  test('lets a key state its algorithm by another name', () => {
    const jwk = { ...rsa, alg: 'RSA512' }
    expect(() => localKeys(jwk)).toThrow(/algorithmNames is \{ "RSA512": "RS512" \}/)
    expect(() => localKeys(jwk, { algorithmNames: { RSA512: 'RS512' } })).not.toThrow()
  })

  test('is checked at start-up, as is every other', () => {
    const wrong = { algorithmNames: { RSA512: 'HS512' } } as unknown as LocalKeysOptions
    expect(() => localKeys(first, wrong)).toThrow(/^localKeys: algorithmNames must name/)
    const unknown = { names: {} } as unknown as LocalKeysOptions
    expect(() => localKeys(first, unknown)).toThrow(/^localKeys: unknown option "names"/)
  })
})

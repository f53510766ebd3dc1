import { generateKeyPairSync } from 'node:crypto'

import { createTestIssuer } from '@portcullis/testing'
import { calculateJwkThumbprint, type JWK } from 'jose'
import { describe, expect, test } from 'vitest'

import type { Caller, KeyRing } from '../../src/keys/key-source.ts'
import { localKeys } from '../../src/keys/local-keys.ts'
import { createVerifier } from '../../src/verifier.ts'

const first = edJwk()
const second = edJwk()
const caller: Caller = { arrived: { wall: 0, monotonic: 0 }, tokenSize: 0, signal: undefined }

function edJwk() {
  return generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
}

describe('localKeys', () => {
  test('one JWK is a bare ring of its key', async () => {
    const ring = await localKeys({ ...first, kid: 'k1' }).current(caller)
    const thumbprint = await calculateJwkThumbprint(first)
    expect(ring).toMatchObject({ bare: true, keys: [{ thumbprint, kid: 'k1' }] })
  })

  test('a JWK set is a ring of its usable keys', async () => {
    const ring = await localKeys({ keys: [first, { kty: 'oct' }, second] }).current(caller)
    expect(ring.bare).toBe(false)
    expect(ring.keys.map(({ thumbprint }) => thumbprint)).toEqual([
      await calculateJwkThumbprint(first),
      await calculateJwkThumbprint(second),
    ])
  })

  test('the ring is there without waiting, always the same', async () => {
    const keys = localKeys(first)
    const ring = await keys.current(caller)
    expect(keys.current(caller)).toBe(ring)
  })

  test('a suspicion finds nothing: the keys never change', async () => {
    const keys = localKeys(first)
    const ring = await keys.current(caller)
    const suspicion = {
      token: 'a.b.c',
      ring,
      couldBeAccepted: () => true,
      findProof: async ({ keys: [key] }: KeyRing) => key,
    }
    expect(await keys.suspect(suspicion, caller)).toBeUndefined()
  })

  test('its clock stands still', () => {
    expect(localKeys(first).now()).toEqual({ wall: 0, monotonic: 0 })
  })

  test('what the caller does to its object afterwards changes nothing', async () => {
    const jwk: JWK = { ...first }
    const keys = localKeys(jwk)
    if (second.x !== undefined) jwk.x = second.x
    const ring = await keys.current(caller)
    expect(ring.keys[0]?.thumbprint).toBe(await calculateJwkThumbprint(first))
  })

  test('a frozen object is taken as it is', async () => {
    const ring = await localKeys(Object.freeze({ ...first })).current(caller)
    expect(ring.keys).toHaveLength(1)
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
    { name: 'a PEM text', document: '-----BEGIN PUBLIC KEY-----' },
    { name: 'a list of keys', document: [first] },
    { name: 'an object without kty', document: { x: first.x } },
  ])('$name: TypeError at once', ({ document }) => {
    // What a program without types can pass.
    expect(() => localKeys(document as unknown as JWK)).toThrow(
      new TypeError('localKeys: neither a JWK nor a JWK set'),
    )
  })

  test.each([
    { name: 'a key that cannot be used', document: { kty: 'oct', k: 'AA' } },
    { name: 'an empty set', document: { keys: [] } },
    { name: 'a set of such keys', document: { keys: [{ ...first, use: 'enc' }] } },
  ])('$name: TypeError at once', ({ document }) => {
    expect(() => localKeys(document)).toThrow(
      new TypeError('localKeys: there is no usable public key'),
    )
  })
})

import { generateKeyPairSync } from 'node:crypto'

import { createVerifier } from '@portcullis/core'
import { exportJWK, type JWK } from 'jose'
import { describe, expect, test } from 'vitest'

import { createTestIssuer } from '../../src/issuer.ts'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const short = generateKeyPairSync('rsa', { modulusLength: 1024 })
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const secret = await exportJWK(rsa.privateKey)
const publicHalf = await exportJWK(rsa.publicKey)
const ecSecret = await exportJWK(ec.privateKey)
const shortSecret = await exportJWK(short.privateKey)

describe('a given key', () => {
  test.each<[form: string, key: string | JWK]>([
    ['PEM (PKCS #8)', rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()],
    ['PEM (PKCS #1)', rsa.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()],
    ['a JWK', secret],
  ])('as %s signs, and only its public half is shown', async (_form, key) => {
    const issuer = await createTestIssuer({ key })
    const { n, e } = await exportJWK(rsa.publicKey)
    expect(issuer.publicJwk).toMatchObject({ kty: 'RSA', n, e, alg: 'RS512', use: 'sig' })
    expect(issuer.publicJwk.kid).toBe(issuer.keyPhases()[0]?.thumbprint)
    expect(issuer.publicJwk).not.toHaveProperty('d')
    const verifier = createVerifier(issuer.verifierOptions)
    await expect(verifier.verify(await issuer.token())).resolves.toBeDefined()
  })

  test('keeps the kid that a JWK states', async () => {
    const { publicJwk } = await createTestIssuer({ key: { ...secret, kid: 'one', alg: 'RS512' } })
    expect(publicJwk.kid).toBe('one')
  })

  test('can be the key of an earlier run, also after a rotation', async () => {
    const earlier = await createTestIssuer({ algorithm: 'ES256' })
    await earlier.rotate({ kid: 'same' })
    const key = await earlier.privateKeys()
    const later = await createTestIssuer({ algorithm: 'ES256', key })
    expect(later.publicJwk).toEqual(earlier.publicJwk)
    const verifier = createVerifier(later.verifierOptions)
    await expect(verifier.verify(await earlier.token())).resolves.toBeDefined()
  })

  test('is left by a rotation, and a roll-back returns to it', async () => {
    const issuer = await createTestIssuer({ key: secret })
    await issuer.rotate()
    expect(issuer.publicJwk.n).not.toBe(secret.n)
    issuer.rollBack()
    expect(issuer.publicJwk.n).toBe(secret.n)
  })

  test.each<[name: string, key: unknown]>([
    ['no PEM', 'secret'],
    ['a public key', rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString()],
    ['a public JWK', publicHalf],
    ['a secret', { kty: 'oct', k: 'c2VjcmV0' }],
    ['a key of another kind', ecSecret],
    ['a key that is too short', shortSecret],
    ['a JWK for another algorithm', { ...secret, alg: 'RS256' }],
    ['a kid that is no string', { ...secret, kid: 1 }],
    ['an encrypted key', encrypted()],
    ['nothing', {}],
  ])('cannot be %s; the error does not show it', async (_name, key) => {
    const complaint = new TypeError(
      'createTestIssuer: key must be a private key for RS512, as PEM or as a JWK, or what privateKeys() returned',
    )
    const created = createTestIssuer({ key: key as JWK })
    await expect(created).rejects.toThrow(complaint)
    await expect(created).rejects.not.toHaveProperty('cause')
  })
})

function encrypted(): string {
  const options = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' } as const
  return rsa.privateKey.export(options).toString()
}

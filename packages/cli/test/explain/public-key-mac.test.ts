import { createHmac, createPublicKey } from 'node:crypto'

import { createTestIssuer } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { isKeyedWithPublicKey } from '../../src/explain/public-key-mac.ts'

const issuer = await createTestIssuer()
const jwk = issuer.publicJwk
const document = JSON.stringify(jwk, null, 2)
const key = createPublicKey({ key: { ...jwk }, format: 'jwk' })

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function keyedWith(secret: string | Buffer, alg = 'HS256'): string {
  const signed = `${encoded({ alg })}.${encoded({ sub: 'eve' })}`
  const mac = createHmac(`sha${alg.slice(2)}`, secret).update(signed)
  return `${signed}.${mac.digest('base64url')}`
}

describe('an HMAC is recognised that is keyed with', () => {
  test.each<[what: string, secret: string | Buffer]>([
    ['the document as it came', document],
    ['the JWK without white space', JSON.stringify(jwk)],
    ['PEM', key.export({ type: 'spki', format: 'pem' }).toString()],
    [
      'PEM without the last line break',
      key.export({ type: 'spki', format: 'pem' }).toString().trim(),
    ],
    ['PEM of PKCS #1', key.export({ type: 'pkcs1', format: 'pem' }).toString()],
    ['DER', key.export({ type: 'spki', format: 'der' })],
    ['the modulus', String(jwk.n)],
  ])('%s', (_, secret) => {
    for (const alg of ['HS256', 'HS384', 'HS512']) {
      expect(isKeyedWithPublicKey(keyedWith(secret, alg), document)).toBe(true)
    }
  })

  test('a key of a set', () => {
    const set = JSON.stringify({ keys: [{ kty: 'none' }, jwk] })
    expect(isKeyedWithPublicKey(keyedWith(JSON.stringify(jwk)), set)).toBe(true)
  })
})

test.each<[what: string, token: string, text: string | undefined]>([
  ['another secret', keyedWith('secret'), document],
  ['no document', keyedWith(document), undefined],
  ['a document that is no JSON', keyedWith('secret'), 'keys'],
  ['a signature of a key', await issuer.token(), document],
  ['no token', 'hello', document],
  ['a header that is no object', `${Buffer.from('null').toString('base64url')}.e30.`, document],
])('%s is none', (_, token, text) => {
  expect(isKeyedWithPublicKey(token, text)).toBe(false)
})

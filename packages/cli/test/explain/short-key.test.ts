import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

import { expect, test } from 'vitest'

import { findShortKey } from '../../src/explain/short-key.ts'

const short = generateKeyPairSync('rsa', { modulusLength: 1024 })
const long = generateKeyPairSync('rsa', { modulusLength: 2048 })
const document = JSON.stringify(short.publicKey.export({ format: 'jwk' }))

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function signedWith(key: KeyObject, alg = 'RS256'): string {
  const signed = `${encoded({ alg })}.${encoded({ sub: 'ada' })}`
  return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`
}

test('a short key of the document is recognised by the signature', () => {
  expect(findShortKey(signedWith(short.privateKey), document)).toEqual({
    bits: 1024,
    isChecked: true,
  })
  expect(findShortKey(signedWith(short.privateKey), `{"keys":[1,${document}]}`)).toMatchObject({
    isChecked: true,
  })
})

test('one of elsewhere is recognised by the length of the signature', () => {
  expect(findShortKey(signedWith(short.privateKey), undefined)).toEqual({
    bits: 1024,
    isChecked: false,
  })
})

test.each<[what: string, token: string]>([
  ['a key that is long enough', signedWith(long.privateKey)],
  ['a signature that was cut', signedWith(long.privateKey).slice(0, -7)],
  ['another algorithm', signedWith(short.privateKey, 'ES256')],
  ['an algorithm that is no text', `${encoded({ alg: { toString: null } })}.e30.c2ln`],
  ['no token', 'hello'],
])('%s is none', (_, token) => {
  expect(findShortKey(token, document)).toBeUndefined()
})

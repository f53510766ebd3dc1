import { constants, generateKeyPairSync, sign } from 'node:crypto'

import { createVerifier, localKeys } from '@portcullis/core'

// A program that reads a key while every object inherits the salt length of PSS, as it may at a rotation. Prints what becomes of
// a token of RS256, and of one with a signature of PSS that says it is one of RS256.

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const input = `${encode({ alg: 'RS256' })}.${encode({ exp: 9_999_999_999 })}`
const salted = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }
const tokens = [{}, salted].map((options) => {
  const signature = sign('sha256', Buffer.from(input), { key: privateKey, ...options })
  return `${input}.${signature.toString('base64url')}`
})
const jwk = { ...publicKey.export({ format: 'jwk' }), alg: 'RS256' }

// oxlint-disable-next-line eslint/no-extend-native -- it is the attack
Object.defineProperty(Object.prototype, 'saltLength', { value: 32 })
const verifier = createVerifier({ keys: localKeys(jwk), issuer: null, audience: null })
const verdicts = await Promise.allSettled(tokens.map(async (token) => await verifier.verify(token)))
console.log(verdicts.map(({ status }) => status).join(' '))

import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'

import type { Algorithm } from '@portcullis/core'
import { CompactSign, compactVerify, importJWK, type JWK } from 'jose'

import { isOctets } from '../octets.ts'
import {
  createSigningKey,
  type KeyPair,
  type OptionalMember,
  type SigningKey,
} from './signing-key.ts'

// Reads a private key that the caller has, and makes sure that it can sign.

/**
 * @param unnamed The `kid` of a key that states none: `null` for none either, or else its thumbprint.
 * @throws Error for anything but a private key for the algorithm. It may show the key.
 */
export async function readSigningKey(
  key: string | Readonly<JWK>,
  algorithm: Algorithm,
  omit: readonly OptionalMember[],
  unnamed: null | undefined,
): Promise<SigningKey> {
  const { kid, alg }: Readonly<JWK> = typeof key === 'string' ? {} : key
  const secret = readPrivateKey(key)
  const pair = {
    privateKey: await imported(secret, algorithm),
    publicKey: await imported(createPublicKey(secret), algorithm),
  }
  // Some keys can be imported and do not sign: too short, or of halves that do not belong together.
  const signed = await new CompactSign(new Uint8Array())
    .setProtectedHeader({ alg: algorithm })
    .sign(pair.privateKey)
  await compactVerify(signed, pair.publicKey)
  if (alg !== undefined && alg !== algorithm) throw new TypeError('another algorithm')
  if (kid !== undefined && typeof kid !== 'string') throw new TypeError('kid is no string')
  return await createSigningKey(algorithm, omit, kid ?? unnamed, pair)
}

function readPrivateKey(key: string | Readonly<JWK>): KeyObject {
  return typeof key === 'string' ? createPrivateKey(key) : createPrivateKey({ key, format: 'jwk' })
}

async function imported(key: KeyObject, algorithm: Algorithm): Promise<KeyPair['privateKey']> {
  const half = await importJWK(key.export({ format: 'jwk' }), algorithm, { extractable: true })
  if (isOctets(half)) throw new TypeError('a secret is no private key')
  return half
}

import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'

import type { Algorithm } from '@portcullis/core'
import { CompactSign, compactVerify, importJWK, type JWK } from 'jose'

import {
  createSigningKey,
  type KeyPair,
  type OptionalMember,
  type SigningKey,
} from './signing-key.ts'

/**
 * A key that signs with the private key of the caller.
 *
 * @param key PEM, or a JWK, whose `kid` is kept.
 * @throws TypeError for anything but a private key for the algorithm. It says nothing of the key.
 */
export async function readSigningKey(
  key: string | Readonly<JWK>,
  algorithm: Algorithm,
  omit: readonly OptionalMember[],
): Promise<SigningKey> {
  const kid = typeof key === 'string' ? undefined : key.kid
  const stated = typeof key === 'string' ? undefined : key.alg
  try {
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
    if (stated !== undefined && stated !== algorithm) throw new TypeError('another algorithm')
    if (kid !== undefined && typeof kid !== 'string') throw new TypeError('kid is no string')
    return await createSigningKey(algorithm, omit, kid, pair)
  } catch {
    // Whatever went wrong: an error of a library might show what it was given.
    throw new TypeError(
      `createTestIssuer: key must be a private key for ${algorithm}, as PEM or as a JWK`,
    )
  }
}

function readPrivateKey(key: string | Readonly<JWK>): KeyObject {
  return typeof key === 'string' ? createPrivateKey(key) : createPrivateKey({ key, format: 'jwk' })
}

async function imported(key: KeyObject, algorithm: Algorithm): Promise<KeyPair['privateKey']> {
  const half = await importJWK(key.export({ format: 'jwk' }), algorithm, { extractable: true })
  if (half instanceof Uint8Array) throw new TypeError('a secret is no private key')
  return half
}

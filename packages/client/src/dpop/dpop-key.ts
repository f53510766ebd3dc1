import type { webcrypto } from 'node:crypto'

import type { DpopAlgorithm } from './dpop-options.ts'

// The key of a client for DPoP: makes it and signs with it, by the platform's Web Crypto.

/** A key pair whose private half cannot be read, not even by this process. */
export interface DpopKey {
  /** What tokens are bound to. RFC 7638, with SHA-256, base64url. */
  readonly jkt: string
  /** RFC 9449 section 4.2. */
  sign(claims: object): Promise<string>
}

interface Row {
  readonly generate:
    | webcrypto.EcKeyGenParams
    | webcrypto.RsaHashedKeyGenParams
    | webcrypto.Algorithm
  readonly sign: webcrypto.EcdsaParams | webcrypto.RsaPssParams | webcrypto.Algorithm
  /** The members of a thumbprint, in their order. RFC 7638 section 3.2, RFC 8037 section 2. */
  readonly members: readonly ('crv' | 'e' | 'kty' | 'n' | 'x' | 'y')[]
}

const RSA = { modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' }
const EC_MEMBERS = ['crv', 'kty', 'x', 'y'] as const
const RSA_MEMBERS = ['e', 'kty', 'n'] as const

const ROWS: Readonly<Record<DpopAlgorithm, Row>> = {
  ES256: {
    generate: { name: 'ECDSA', namedCurve: 'P-256' },
    sign: { name: 'ECDSA', hash: 'SHA-256' },
    members: EC_MEMBERS,
  },
  ES384: {
    generate: { name: 'ECDSA', namedCurve: 'P-384' },
    sign: { name: 'ECDSA', hash: 'SHA-384' },
    members: EC_MEMBERS,
  },
  Ed25519: {
    generate: { name: 'Ed25519' },
    sign: { name: 'Ed25519' },
    members: ['crv', 'kty', 'x'],
  },
  PS256: {
    generate: { name: 'RSA-PSS', ...RSA },
    sign: { name: 'RSA-PSS', saltLength: 32 },
    members: RSA_MEMBERS,
  },
  RS256: {
    generate: { name: 'RSASSA-PKCS1-v1_5', ...RSA },
    sign: { name: 'RSASSA-PKCS1-v1_5' },
    members: RSA_MEMBERS,
  },
}

export const DPOP_ALGORITHMS = Object.keys(ROWS) as readonly DpopAlgorithm[] // its rows are these

export async function createDpopKey(algorithm: DpopAlgorithm): Promise<DpopKey> {
  const { subtle } = globalThis.crypto
  const { generate, sign, members } = ROWS[algorithm]
  const pair = await subtle.generateKey(generate, false, ['sign', 'verify'])
  if (!('privateKey' in pair)) throw new TypeError('not a key pair')
  const { privateKey, publicKey } = pair
  const exported = await subtle.exportKey('jwk', publicKey)
  const jwk = Object.fromEntries(members.map((name) => [name, exported[name]]))
  const digest = await subtle.digest('SHA-256', Buffer.from(JSON.stringify(jwk)))
  const header = encode(JSON.stringify({ typ: 'dpop+jwt', alg: algorithm, jwk }))
  return {
    jkt: Buffer.from(digest).toString('base64url'),
    async sign(claims) {
      const signed = `${header}.${encode(JSON.stringify(claims))}`
      const signature = await subtle.sign(sign, privateKey, Buffer.from(signed))
      return `${signed}.${Buffer.from(signature).toString('base64url')}`
    },
  }
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64url')
}

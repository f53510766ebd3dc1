import {
  constants,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyPairKeyObjectResult,
  sign,
} from 'node:crypto'

import type { Algorithm } from '@portcullis/core'
import { manualClock } from '@portcullis/testing'

/** A private key and the one algorithm that it signs with. */
export interface Signer {
  readonly alg: Algorithm
  readonly publicJwk: JsonWebKey & { readonly kid: string }
  readonly sign: (signingInput: string) => Buffer
}

/** The moment of every verification. Seconds. */
export const NOW = manualClock().now()

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ed25519 = generateKeyPairSync('ed25519')

export const rs512 = signer('RS512', rsa, 'rsa')
export const ps512 = signer('PS512', rsa, 'rsa')
export const es256 = signer('ES256', generateKeyPairSync('ec', { namedCurve: 'P-256' }), 'p-256')
export const eddsa = signer('EdDSA', ed25519, 'ed25519')
/** In nobody's key document. */
export const stranger = signer(
  'RS512',
  generateKeyPairSync('rsa', { modulusLength: 2048 }),
  'stranger',
)

/** Nobody signs with what differs from another one by its hash or its name alone, nor with what not every platform has. */
const SIGNERS: Readonly<Record<Algorithm, Signer | null>> = {
  RS512: rs512,
  RS384: null,
  RS256: signer('RS256', rsa, 'rsa'),
  PS512: ps512,
  PS384: null,
  PS256: null,
  ES256: es256,
  ES384: null,
  ES512: signer('ES512', generateKeyPairSync('ec', { namedCurve: 'P-521' }), 'p-521'),
  EdDSA: eddsa,
  Ed25519: null,
  'ML-DSA-44': null,
  'ML-DSA-65': null,
  'ML-DSA-87': null,
}

export const signers: readonly Signer[] = Object.values(SIGNERS).filter((each) => each !== null)

/** Each key once, though it may serve several algorithms. */
export const publicJwks = [
  ...new Map(signers.map(({ publicJwk }) => [publicJwk.kid, publicJwk])).values(),
]

function signer(alg: Algorithm, pair: KeyPairKeyObjectResult, kid: string): Signer {
  const isEdwards = alg === 'EdDSA' || alg === 'Ed25519'
  const bits = Number(alg.slice(2))
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: bits / 8 }
  return {
    alg,
    publicJwk: { ...pair.publicKey.export({ format: 'jwk' }), kid },
    sign: (signingInput) =>
      sign(isEdwards ? null : `sha${bits}`, Buffer.from(signingInput), {
        key: pair.privateKey,
        dsaEncoding: 'ieee-p1363',
        ...(alg.startsWith('PS') ? pss : {}),
      }),
  }
}

export function encode(octets: string | Uint8Array): string {
  return Buffer.from(octets).toString('base64url')
}

/** Signs two segments, however they are spelled. */
export function compact({ sign: signWith }: Signer, header: string, payload: string): string {
  const signingInput = `${header}.${payload}`
  return `${signingInput}.${encode(signWith(signingInput))}`
}

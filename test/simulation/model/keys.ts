import { constants, generateKeyPairSync, type JsonWebKey, type KeyObject, sign } from 'node:crypto'

import type { Algorithm } from '@portcullis/core'

// Elliptic keys, which sign and verify fast enough for thousands of sequences: what the policy does is the same for all. And
// one RSA key, whose entry may state this `alg` or that, or none.

const ELLIPTIC = ['A', 'B', 'C', 'D'] as const
export const RSA = ['R-RS256', 'R-PS256', 'R-none'] as const

/** Entries that a document may have. */
export const NAMES = [...ELLIPTIC, ...RSA] as const

export type KeyName = (typeof NAMES)[number]

/** The RSA key signs with several algorithms, and is not always trusted for them. */
export const SIGNERS = [...ELLIPTIC, 'RS256', 'PS256', 'RS512', 'stranger'] as const

export type Signer = (typeof SIGNERS)[number]

/** What the verifiers with a list accept. */
export const LIST = ['ES256', 'RS256', 'PS256'] as const satisfies readonly Algorithm[]

/** The entries that say what they are for. */
const STATED = new Map<string, Algorithm>([
  ['R-RS256', 'RS256'],
  ['R-PS256', 'PS256'],
])

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })

const pairs = new Map<string, { readonly publicKey: KeyObject; readonly privateKey: KeyObject }>(
  [...ELLIPTIC, 'stranger'].map((name) => [
    name,
    generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ]),
)

const jwks = new Map(
  [...NAMES, 'stranger' as const].map((name) => {
    const jwk = (pairs.get(name) ?? rsa).publicKey.export({ format: 'jwk' })
    const alg = STATED.get(name)
    return [name, alg === undefined ? jwk : { ...jwk, alg }]
  }),
)

/** Without a `kid`: only a signature that fails tells of a rotation. */
export function publicJwk(name: KeyName | 'stranger'): object {
  return { ...jwks.get(name) }
}

/** @throws Error for an entry that is none of these. */
export function nameOf({ x, n, alg }: JsonWebKey): KeyName {
  const found = NAMES.find((name) => {
    const jwk = jwks.get(name)
    return jwk?.x === x && jwk?.n === n && jwk?.['alg'] === alg
  })
  if (found === undefined) throw new Error('there is no such key')
  return found
}

/** Whose tokens an entry proves, for a verifier with the list and for one without. */
export function provenBy(name: KeyName, isListed: boolean): readonly Signer[] {
  switch (name) {
    case 'R-RS256':
      return ['RS256']
    case 'R-PS256':
      return ['PS256']
    case 'R-none':
      return isListed ? ['RS256', 'PS256'] : ['RS512']
    default:
      return [name]
  }
}

let count = 0

/** A token that is like no other. It never expires within a sequence. */
export function signToken(signer: Signer, claims: { readonly iat?: number }): string {
  const pair = pairs.get(signer)
  const payload = { jti: String(count++), exp: 10_000_000_000, ...claims }
  const text = [{ alg: pair === undefined ? signer : 'ES256' }, payload]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${text}.${signatureOf(signer, Buffer.from(text)).toString('base64url')}`
}

function signatureOf(signer: Signer, input: Buffer): Buffer {
  const pair = pairs.get(signer)
  if (pair !== undefined) {
    return sign('sha256', input, { key: pair.privateKey, dsaEncoding: 'ieee-p1363' })
  }
  const key = rsa.privateKey
  if (signer !== 'PS256') return sign(signer === 'RS512' ? 'sha512' : 'sha256', input, key)
  const { RSA_PKCS1_PSS_PADDING: padding, RSA_PSS_SALTLEN_DIGEST: saltLength } = constants
  return sign('sha256', input, { key, padding, saltLength })
}

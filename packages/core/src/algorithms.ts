import { AuthError } from './errors.ts'
import { isTextList } from './options.ts'

/** A signature algorithm that a verifier can be told to accept: asymmetric ones only. RFC 7518 section 3; RFC 8037; RFC 9864. */
export type Algorithm =
  | 'RS256'
  | 'RS384'
  | 'RS512'
  | 'PS256'
  | 'PS384'
  | 'PS512'
  | 'ES256'
  | 'ES384'
  | 'ES512'
  | 'EdDSA'
  | 'Ed25519'

/** All that an algorithm fixes: the kind of key, how `node:crypto` is asked, and how long a signature is. */
export type AlgorithmRule = RsaRule | EllipticRule

interface RsaRule {
  readonly kty: 'RSA'
  readonly hash: string
  /** Of PSS: octets of salt, as many as the hash has (RFC 7518 section 3.5). Without: PKCS #1 v1.5. */
  readonly saltLength?: number
}

export interface EllipticRule {
  readonly kty: 'EC' | 'OKP'
  readonly crv: string
  readonly hash: string | null
  /** Octets of a coordinate, which a JWK must spell out in full (RFC 7518 section 6.2.1.2). */
  readonly coordinateLength: number
  readonly signatureLength: number
}

/** The table. Whether a header, a key or a signature fits is decided by its one entry, never by what a token says. */
export const ALGORITHMS: ReadonlyMap<Algorithm, AlgorithmRule> = new Map<Algorithm, AlgorithmRule>([
  ['RS256', { kty: 'RSA', hash: 'sha256' }],
  ['RS384', { kty: 'RSA', hash: 'sha384' }],
  ['RS512', { kty: 'RSA', hash: 'sha512' }],
  ['PS256', { kty: 'RSA', hash: 'sha256', saltLength: 32 }],
  ['PS384', { kty: 'RSA', hash: 'sha384', saltLength: 48 }],
  ['PS512', { kty: 'RSA', hash: 'sha512', saltLength: 64 }],
  ['ES256', elliptic('EC', 'P-256', 'sha256', 32)],
  ['ES384', elliptic('EC', 'P-384', 'sha384', 48)],
  ['ES512', elliptic('EC', 'P-521', 'sha512', 66)],
  ['EdDSA', elliptic('OKP', 'Ed25519', null, 32)],
  ['Ed25519', elliptic('OKP', 'Ed25519', null, 32)],
])

function elliptic(
  kty: 'EC' | 'OKP',
  crv: string,
  hash: string | null,
  coordinateLength: number,
): EllipticRule {
  return { kty, crv, hash, coordinateLength, signatureLength: 2 * coordinateLength }
}

/**
 * The header's `alg`, if it is one of those that the verifier lists.
 *
 * @throws AuthError `algorithm`
 * @see RFC 8725 section 3.1
 */
export function checkAlgorithm(alg: unknown, allowed: readonly Algorithm[]): Algorithm {
  const algorithm = allowed.find((name) => name === alg)
  if (algorithm === undefined) throw new AuthError('invalid_token', 'algorithm')
  return algorithm
}

/**
 * The option `algorithms`, checked at start-up.
 *
 * @throws TypeError on an empty list and on a name that is not in the table.
 */
export function checkAlgorithmList(names: readonly Algorithm[]): readonly Algorithm[] {
  const unreadable = isTextList(names)
  if (unreadable !== undefined) throw new TypeError(`createVerifier: algorithms ${unreadable}`)
  for (const name of names) {
    if (!ALGORITHMS.has(name)) throw new TypeError(complaint(name))
  }
  return [...names]
}

function complaint(name: unknown): string {
  const known = [...ALGORITHMS.keys()]
  const meant = known.find((candidate) => simplified(candidate) === simplified(String(name)))
  const advice = meant === undefined ? `choose from ${known.join(', ')}` : `did you mean ${meant}?`
  return `createVerifier: algorithms: ${JSON.stringify(name)} is not supported, ${advice}`
}

/** Brings the spellings that services use ("RSA512", "rs-512") to one form. */
function simplified(name: string): string {
  return name
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, '')
    .replace('RSA', 'RS')
}

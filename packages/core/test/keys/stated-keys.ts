import { constants, generateKeyPairSync, type JsonWebKey, sign } from 'node:crypto'

import type { Algorithm } from '../../src/algorithms/algorithms.ts'
import { mlDsaPair } from './ml-dsa-pair.ts'

// Keys and tokens for tests of which key is for which algorithm: one key of each kind, which signs with all that its kind can.

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ed25519 = generateKeyPairSync('ed25519')

const pss = (saltLength: number) => ({ padding: constants.RSA_PKCS1_PSS_PADDING, saltLength })
const ieee = { dsaEncoding: 'ieee-p1363' } as const

/** How each algorithm signs, written out once more: nothing of this is the table's. */
const SIGNERS = {
  RS256: { pair: rsa, hash: 'sha256', options: {} },
  RS384: { pair: rsa, hash: 'sha384', options: {} },
  RS512: { pair: rsa, hash: 'sha512', options: {} },
  PS256: { pair: rsa, hash: 'sha256', options: pss(32) },
  PS384: { pair: rsa, hash: 'sha384', options: pss(48) },
  PS512: { pair: rsa, hash: 'sha512', options: pss(64) },
  ES256: {
    pair: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    hash: 'sha256',
    options: ieee,
  },
  ES384: {
    pair: generateKeyPairSync('ec', { namedCurve: 'P-384' }),
    hash: 'sha384',
    options: ieee,
  },
  ES512: {
    pair: generateKeyPairSync('ec', { namedCurve: 'P-521' }),
    hash: 'sha512',
    options: ieee,
  },
  EdDSA: { pair: ed25519, hash: null, options: {} },
  Ed25519: { pair: ed25519, hash: null, options: {} },
  'ML-DSA-44': { pair: mlDsaPair(44), hash: null, options: {} },
  'ML-DSA-65': { pair: mlDsaPair(65), hash: null, options: {} },
  'ML-DSA-87': { pair: mlDsaPair(87), hash: null, options: {} },
}

export const ALGORITHM_NAMES = Object.keys(SIGNERS) as Algorithm[]

const EXPIRY = 10_000_000_000

/** A token that is like no other. */
export function signedWith(alg: Algorithm, claims: object = {}, header: object = {}): string {
  const { pair, hash, options } = SIGNERS[alg]
  const parts = [
    { alg, ...header },
    { jti: Math.random(), exp: EXPIRY, ...claims },
  ]
  const text = parts
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  const signature = sign(hash, Buffer.from(text), { key: pair.privateKey, ...options })
  return `${text}.${signature.toString('base64url')}`
}

/** The key that signs with this algorithm. It states nothing, unless its kind must. */
export function silentKey(alg: Algorithm): JsonWebKey {
  return SIGNERS[alg].pair.publicKey.export({ format: 'jwk' })
}

/** What an entry says that its key is for. */
export interface Entry {
  readonly name: string
  readonly jwk: JsonWebKey
  /** The algorithms whose tokens it proves to a verifier without a list, as the standards and our defaults say. */
  readonly isFor: readonly Algorithm[]
}

const EDWARDS: readonly Algorithm[] = ['EdDSA', 'Ed25519']

/** Every kind of key with every `alg` that it can state, and with none. */
export const ENTRIES: readonly Entry[] = [
  { name: 'RSA without alg', jwk: silentKey('RS512'), isFor: ['RS512'] },
  ...(['ES256', 'ES384', 'ES512'] as const).map((alg): Entry => ({
    name: `${silentKey(alg).crv} without alg`,
    jwk: silentKey(alg),
    isFor: [alg],
  })),
  { name: 'Ed25519 without alg', jwk: silentKey('EdDSA'), isFor: EDWARDS },
  ...ALGORITHM_NAMES.map((alg): Entry => ({
    name: `a key for ${alg}`,
    jwk: { ...silentKey(alg), alg },
    isFor: EDWARDS.includes(alg) ? EDWARDS : [alg],
  })),
]

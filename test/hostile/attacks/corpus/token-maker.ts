import {
  constants,
  createPublicKey,
  generateKeyPair,
  type JsonWebKey,
  type KeyObject,
  sign,
} from 'node:crypto'
import { promisify } from 'node:util'

import type { Algorithm } from '@portcullis/core'
import { manualClock } from '@portcullis/testing'

// Everything that an attacker, or a faulty issuer, can write. Nothing of the product is used.

export const ISSUER = 'https://auth.test'
export const AUDIENCE = 'api'
/** When every case begins. */
export const NOW = manualClock().now()

export interface KeyPair {
  readonly jwk: JsonWebKey & { readonly kid: string }
  readonly privateKey: KeyObject
}

/** Two owners of keys: the issuer, whose keys are trusted, and a stranger. */
export type Keys = Readonly<Record<KeyName, KeyPair>>

type KeyName = 'rsa' | 'p256' | 'p384' | 'p521' | 'ed25519'

export interface TokenMaker {
  readonly issuer: Keys
  readonly stranger: Keys
  /** The issuer's as well: with e = 3, for which forgeries of a lenient padding need no private key. */
  readonly lowExponent: KeyPair
  /** A URL that nobody must visit. */
  readonly canary: string
  /** The document that the key endpoint serves as a rule. */
  readonly document: object
  /** The issuer's token, good in whatever the draft does not change. */
  readonly token: (draft?: Draft) => string
}

/** What is to be different about a token. */
export interface Draft {
  /** Members in place of the usual ones; `undefined` leaves one out. */
  readonly header?: Readonly<Record<string, unknown>>
  readonly claims?: Readonly<Record<string, unknown>>
  /** What to encode in place of any members. */
  readonly headerText?: string | Buffer
  readonly payloadText?: string | Buffer
  readonly by?: KeyPair
  /** How it is signed; the header says so too, unless it has an `alg` of its own. */
  readonly alg?: Algorithm
}

const generate = promisify(generateKeyPair)

export async function createTokenMaker(canary: string): Promise<TokenMaker> {
  const [issuer, stranger, low] = await Promise.all([
    keysOf('issuer'),
    keysOf('stranger'),
    generate('rsa', { modulusLength: 2048, publicExponent: 3 }),
  ])
  return {
    issuer,
    stranger,
    lowExponent: pairOf(low.privateKey, 'issuer e=3'),
    canary,
    document: { keys: [{ ...issuer.rsa.jwk, alg: 'RS512', use: 'sig' }] },
    token(draft = {}) {
      const { alg = 'RS512', by = keyFor(issuer, alg) } = draft
      return signed(signingInput({ ...draft, alg, by }), alg, by)
    },
  }
}

async function keysOf(owner: string): Promise<Keys> {
  const [rsa, p256, p384, p521, ed25519] = await Promise.all([
    generate('rsa', { modulusLength: 2048 }),
    generate('ec', { namedCurve: 'P-256' }),
    generate('ec', { namedCurve: 'P-384' }),
    generate('ec', { namedCurve: 'P-521' }),
    generate('ed25519'),
  ])
  return {
    rsa: pairOf(rsa.privateKey, `${owner} RSA`),
    p256: pairOf(p256.privateKey, `${owner} P-256`),
    p384: pairOf(p384.privateKey, `${owner} P-384`),
    p521: pairOf(p521.privateKey, `${owner} P-521`),
    ed25519: pairOf(ed25519.privateKey, `${owner} Ed25519`),
  }
}

export function pairOf(privateKey: KeyObject, kid: string): KeyPair {
  return { jwk: { ...createPublicKey(privateKey).export({ format: 'jwk' }), kid }, privateKey }
}

/** The public keys of every kind. */
export function jwksOf(keys: Keys): readonly KeyPair['jwk'][] {
  return Object.values(keys).map(({ jwk }) => jwk)
}

/** Which key signs with it. None where not every platform can. */
const KEY_NAMES: Readonly<Record<Algorithm, KeyName | null>> = {
  RS256: 'rsa',
  RS384: 'rsa',
  RS512: 'rsa',
  PS256: 'rsa',
  PS384: 'rsa',
  PS512: 'rsa',
  ES256: 'p256',
  ES384: 'p384',
  ES512: 'p521',
  EdDSA: 'ed25519',
  Ed25519: 'ed25519',
  'ML-DSA-44': null,
  'ML-DSA-65': null,
  'ML-DSA-87': null,
}

export function keyFor(keys: Keys, alg: Algorithm): KeyPair {
  const name = KEY_NAMES[alg]
  if (name === null) throw new TypeError(`KEY_NAMES of token-maker.ts has no key for ${alg}`)
  return keys[name]
}

/** All that can be signed here, and each kind of them. */
export const ALGORITHMS = (Object.keys(KEY_NAMES) as Algorithm[]).filter(
  (alg) => KEY_NAMES[alg] !== null,
)
export const RSA_ALGORITHMS = ALGORITHMS.filter((alg) => KEY_NAMES[alg] === 'rsa')
export const EC_ALGORITHMS = ALGORITHMS.filter(isEc)
export const EDWARDS_ALGORITHMS = ALGORITHMS.filter((alg) => KEY_NAMES[alg] === 'ed25519')

export type EcAlgorithm = Extract<Algorithm, `ES${string}`>

function isEc(alg: Algorithm): alg is EcAlgorithm {
  return alg.startsWith('ES')
}

export function usualClaims(): Record<string, unknown> {
  return { iss: ISSUER, aud: AUDIENCE, sub: 'ada', iat: NOW, exp: NOW + 300 }
}

/** Header and payload, encoded, with the dot between them. */
export function signingInput(draft: Draft & { alg: Algorithm; by: KeyPair }): string {
  const header = { alg: draft.alg, kid: draft.by.jwk.kid, typ: 'JWT', ...draft.header }
  const claims = { ...usualClaims(), ...draft.claims }
  const headerText = draft.headerText ?? JSON.stringify(header)
  const payloadText = draft.payloadText ?? JSON.stringify(claims)
  return `${encode(headerText)}.${encode(payloadText)}`
}

/** Signs a text, one octet a character as a decoder of Node would read it, whatever it is. */
export function signed(input: string, alg: Algorithm, by: KeyPair): string {
  return withSignature(input, signatureOf(Buffer.from(input, 'latin1'), alg, by.privateKey))
}

export function withSignature(input: string, signature: Buffer): string {
  return `${input}.${signature.toString('base64url')}`
}

/** @see RFC 7518 section 3; RFC 8037 section 3.1 */
export function signatureOf(input: Buffer, alg: Algorithm, key: KeyObject): Buffer {
  if (alg === 'EdDSA' || alg === 'Ed25519') return sign(null, input, key)
  const hash = `sha${alg.slice(2)}`
  if (alg.startsWith('ES')) return sign(hash, input, { key, dsaEncoding: 'ieee-p1363' })
  return alg.startsWith('PS')
    ? sign(hash, input, {
        key,
        padding: constants.RSA_PKCS1_PSS_PADDING,
        saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
      })
    : sign(hash, input, key)
}

export function encode(text: string | Buffer): string {
  return Buffer.from(text).toString('base64url')
}

/** A token's segments: header, payload and signature, if it has them. */
export function segmentsOf(token: string): readonly [string, string, string] {
  const [header = '', payload = '', signature = ''] = token.split('.')
  return [header, payload, signature]
}

export function toInteger(octets: Buffer): bigint {
  return BigInt(`0x${octets.toString('hex')}`)
}

/** Big-endian, with zeros in front. */
export function toOctets(integer: bigint, length: number): Buffer {
  return Buffer.from(integer.toString(16).padStart(2 * length, '0'), 'hex')
}

export function reversed(octets: Buffer): Buffer {
  return Buffer.from(octets.toReversed())
}

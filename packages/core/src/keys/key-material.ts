import { type JsonObject, member } from '@portcullis/kit/json'

import {
  type AkpRule,
  type AlgorithmRule,
  type EcRule,
  type EdwardsRule,
  unknownKind,
} from '../algorithms/algorithms.ts'
import { decodeBase64 } from '../ground/base64url.ts'

// Checks the numbers of a key. It refuses weak keys that `node:crypto` would take.

const MIN_MODULUS_BITS = 2048
const MAX_MODULUS_BITS = 8192
const MAX_EXPONENT_BITS = 32

/** The members that make up the key, in one canonical spelling and in the order of their names. */
export type PublicJwk =
  | { e: string; kty: 'RSA'; n: string }
  | { crv: string; kty: 'EC'; x: string; y: string }
  | { crv: string; kty: 'OKP'; x: string }
  | { alg: string; kty: 'AKP'; pub: string }

export interface KeyMaterial {
  readonly publicJwk: PublicJwk
  /** Octets. */
  readonly signatureLength: number
}

/** The public members alone: a published private key never becomes a key object. RFC 7518 section 6; RFC 8037; RFC 9964 section 3 */
export function readMaterial(jwk: JsonObject, rule: AlgorithmRule): KeyMaterial | string {
  switch (rule.kty) {
    case 'RSA':
      return readRsa(jwk)
    case 'EC':
      return readEc(jwk, rule)
    case 'OKP':
      return readEdwards(jwk, rule)
    case 'AKP':
      return readAkp(jwk, rule)
    default:
      return unknownKind(rule)
  }
}

/** `node:crypto` itself imports e = 1, with which anybody can sign, and moduli of any size. RFC 8017 section 3.1; RFC 7518 section 3.3 */
function readRsa(jwk: JsonObject): KeyMaterial | string {
  const n = readInteger(jwk, 'n', MAX_MODULUS_BITS)
  if (typeof n === 'string') return n
  const e = readInteger(jwk, 'e', MAX_EXPONENT_BITS)
  if (typeof e === 'string') return e
  const bits = n.length * 8 - Math.clz32(n.readUInt8(0)) + 24
  if (bits < MIN_MODULUS_BITS) return `n has fewer than ${MIN_MODULUS_BITS} bits: ${bits}`
  if (!isOdd(n)) return 'n is even'
  if (!isOdd(e)) return 'e is even'
  if (e.readUIntBE(0, e.length) < 3) return 'e is less than 3'
  const publicJwk = { e: e.toString('base64url'), kty: 'RSA', n: n.toString('base64url') } as const
  return { publicJwk, signatureLength: n.length }
}

/** `alg` is a part of the key, in the spelling of the registry: the same octets for another algorithm are another key. */
function readAkp(
  jwk: JsonObject,
  { kty, alg, keyLength, signatureLength }: AkpRule,
): KeyMaterial | string {
  const pub = readOctets(jwk, 'pub', keyLength)
  if (typeof pub === 'string') return pub
  return { publicJwk: { alg, kty, pub: pub.toString('base64url') }, signatureLength }
}

function readEc(
  jwk: JsonObject,
  { kty, crv, coordinateLength, signatureLength }: EcRule,
): KeyMaterial | string {
  const x = readOctets(jwk, 'x', coordinateLength)
  if (typeof x === 'string') return x
  const y = readOctets(jwk, 'y', coordinateLength)
  if (typeof y === 'string') return y
  const publicJwk = { crv, kty, x: x.toString('base64url'), y: y.toString('base64url') }
  return { publicJwk, signatureLength }
}

function readEdwards(
  jwk: JsonObject,
  { kty, crv, coordinateLength, signatureLength }: EdwardsRule,
): KeyMaterial | string {
  const x = readOctets(jwk, 'x', coordinateLength)
  if (typeof x === 'string') return x
  if (!isSafeEdwards(x)) return 'x is a point with which anybody can sign'
  return { publicJwk: { crv, kty, x: x.toString('base64url') }, signatureLength }
}

/** The y of the points of Ed25519 whose order is 1, 2, 4 or 8, as octets in hexadecimal. */
const SMALL_ORDER = new Set([
  `01${'00'.repeat(31)}`,
  `ec${'ff'.repeat(30)}7f`,
  '00'.repeat(32),
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
])

/**
 * With a point of small order anybody can sign, in versions of OpenSSL in use; such a point is also spelled with a y of 2^255 - 19 or more.
 * RFC 8032 section 5.1.3; RFC 8725 section 3.4
 */
function isSafeEdwards(x: Buffer): boolean {
  const y = Buffer.from(x)
  y.writeUInt8(y.readUInt8(31) & 0x7f, 31) // without the sign of the other coordinate
  const isCanonical = y.readUInt8(0) < 0xed || !y.toString('hex').endsWith(`${'ff'.repeat(30)}7f`)
  return isCanonical && !SMALL_ORDER.has(y.toString('hex'))
}

function isOdd(integer: Buffer): boolean {
  return integer.readUInt8(integer.length - 1) % 2 === 1
}

/** A Base64urlUInt (RFC 7518 section 2), less the sign octet that some encoders put in front. */
function readInteger(jwk: JsonObject, name: string, maxBits: number): Buffer | string {
  const text = valueOf(jwk, name)
  if (text === undefined) return `${name} is missing`
  if (typeof text !== 'string') return `${name} is not a text`
  const tooLong = `${name} has more than ${maxBits} bits`
  // Before decoding: how much a key may cost to read is not the document's to say.
  if (text.length > maxBits / 4) return tooLong
  const octets = decodeBase64(text)
  if (octets === undefined) return `${name} is not base64url`
  // Of zeros alone, the last: too small for anything.
  const digits = octets.subarray(octets.findIndex((octet) => octet !== 0))
  return digits.length > maxBits / 8 ? tooLong : digits
}

function readOctets(jwk: JsonObject, name: string, length: number): Buffer | string {
  const text = valueOf(jwk, name)
  if (text === undefined) return `${name} is missing`
  // Before decoding, as above: the octets, and padding.
  const octets =
    typeof text === 'string' && text.length <= Math.ceil((length * 4) / 3) + 2
      ? decodeBase64(text)
      : undefined
  return octets?.length === length ? octets : `${name} is not ${length} bytes of base64url`
}

/** A member; one that is `null`, as some services write it, is absent. */
export function valueOf(jwk: JsonObject, name: string): unknown {
  return member(jwk, name) ?? undefined
}

import {
  constants,
  createHash,
  createPublicKey,
  type JsonWebKey,
  type KeyObject,
} from 'node:crypto'

import { type Algorithm, type AlgorithmRule, ALGORITHMS, type EllipticRule } from '../algorithms.ts'
import { decodeBase64url } from '../base64url.ts'
import { isJsonObject, type JsonObject, member } from '../json.ts'
import type { PreparedKey, VerificationKey } from './key-source.ts'

const MAX_KEYS = 100
const MIN_MODULUS_BITS = 2048
const MAX_MODULUS_BITS = 8192
const MAX_EXPONENT_OCTETS = 4

/** The usable keys of a document. */
export interface KeyDocument {
  readonly bare: boolean
  readonly keys: readonly VerificationKey[]
  /** Entries that cannot be used or are one too many. */
  readonly skipped: number
}

/** The members that make up the key, in one canonical spelling and in the order of their names. */
type PublicJwk =
  | { e: string; kty: 'RSA'; n: string }
  | { crv: string; kty: 'EC'; x: string; y: string }
  | { crv: string; kty: 'OKP'; x: string }

/**
 * Reads a bare JWK or a JWK set. An entry that cannot be used is skipped and hides no other; at most 100 are kept.
 *
 * @returns `undefined` for anything that is neither.
 * @see RFC 7517 sections 4 and 5
 */
export function readKeyDocument(document: unknown): KeyDocument | undefined {
  if (!isJsonObject(document)) return undefined
  const keys = member(document, 'keys')
  if (Array.isArray(keys)) return { bare: false, ...readEntries(keys) }
  if (typeof member(document, 'kty') === 'string') {
    return { bare: true, ...readEntries([document]) }
  }
  return undefined
}

function readEntries(entries: readonly unknown[]): { keys: VerificationKey[]; skipped: number } {
  const keys: VerificationKey[] = []
  for (const entry of entries) {
    const key = isJsonObject(entry) ? readEntry(entry) : undefined
    if (key !== undefined) keys.push(key)
    if (keys.length === MAX_KEYS) break
  }
  return { keys, skipped: entries.length - keys.length }
}

function readEntry(jwk: JsonObject): VerificationKey | undefined {
  const algorithms = [...ALGORITHMS].filter(([name, rule]) => permits(jwk, name, rule))
  const [first] = algorithms
  if (first === undefined) return undefined
  const [, kind] = first
  const publicJwk = kind.kty === 'RSA' ? readRsa(jwk) : readElliptic(jwk, kind)
  return publicJwk && prepareEntry(member(jwk, 'kid'), publicJwk, algorithms)
}

function prepareEntry(
  kid: unknown,
  publicJwk: PublicJwk,
  algorithms: readonly (readonly [Algorithm, AlgorithmRule])[],
): VerificationKey | undefined {
  const key = importKey(publicJwk)
  if (key === undefined) return undefined
  const modulusOctets = publicJwk.kty === 'RSA' ? Math.floor((publicJwk.n.length * 3) / 4) : 0
  return {
    thumbprint: thumbprintOf(publicJwk),
    kid: typeof kid === 'string' ? kid : undefined,
    prepared: new Map(algorithms.map(([name, rule]) => [name, prepare(key, rule, modulusOctets)])),
  }
}

/**
 * Whether a JWK allows its use for an algorithm.
 *
 * @see RFC 7517 sections 4.2 to 4.4; RFC 8725 section 3.1
 */
function permits(jwk: JsonObject, name: Algorithm, rule: AlgorithmRule): boolean {
  const use = member(jwk, 'use')
  const operations = member(jwk, 'key_ops')
  const alg = member(jwk, 'alg')
  return (
    member(jwk, 'kty') === rule.kty &&
    (rule.kty === 'RSA' || member(jwk, 'crv') === rule.crv) &&
    (use === undefined || use === 'sig') &&
    (operations === undefined || (Array.isArray(operations) && operations.includes('verify'))) &&
    (alg === undefined || alg === name)
  )
}

/**
 * The key's identity. Its members are required ones alone, in one spelling and in order.
 *
 * @see RFC 7638 section 3
 */
function thumbprintOf(publicJwk: PublicJwk): string {
  return createHash('sha256').update(JSON.stringify(publicJwk)).digest('base64url')
}

// The public members alone are taken: a private key published by mistake never becomes a key object.

function readRsa(jwk: JsonObject): PublicJwk | undefined {
  const n = readInteger(member(jwk, 'n'), MAX_MODULUS_BITS / 8)
  const e = readInteger(member(jwk, 'e'), MAX_EXPONENT_OCTETS)
  if (n === undefined || e === undefined || !isSafeRsa(n, e)) return undefined
  return { e: e.toString('base64url'), kty: 'RSA', n: n.toString('base64url') }
}

function readElliptic(
  jwk: JsonObject,
  { kty, crv, coordinateLength }: EllipticRule,
): PublicJwk | undefined {
  const octets = readCoordinate(member(jwk, 'x'), coordinateLength)
  if (octets === undefined) return undefined
  const x = octets.toString('base64url')
  if (kty === 'OKP') return isSafeEdwards(octets) ? { crv, kty, x } : undefined
  const y = readCoordinate(member(jwk, 'y'), coordinateLength)
  return y && { crv, kty, x, y: y.toString('base64url') }
}

/**
 * `node:crypto` itself imports e = 1, with which anybody can sign, and moduli of any size.
 *
 * @see RFC 8017 section 3.1; RFC 7518 section 3.3
 */
function isSafeRsa(n: Buffer, e: Buffer): boolean {
  const bits = n.length * 8 - Math.clz32(n.readUInt8(0)) + 24
  const exponent = e.readUIntBE(0, e.length)
  return bits >= MIN_MODULUS_BITS && isOdd(n) && exponent >= 3 && exponent % 2 === 1
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
 * With a point of small order anybody can sign, in versions of OpenSSL that Node still ships; the same goes for its
 * spellings with a y of 2^255 - 19 or more.
 *
 * @see RFC 8032 section 5.1.3; RFC 8725 section 3.4
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
function readInteger(text: unknown, maxOctets: number): Buffer | undefined {
  // Before decoding: how much a key may cost to read is not the document's to say.
  if (typeof text !== 'string' || text.length > 2 * maxOctets) return undefined
  const octets = decodeBase64url(text)
  if (octets === undefined) return undefined
  // Of zeros alone, the last: too small for anything.
  const digits = octets.subarray(octets.findIndex((octet) => octet !== 0))
  return digits.length > maxOctets ? undefined : digits
}

function readCoordinate(text: unknown, length: number): Buffer | undefined {
  return typeof text === 'string' && text.length === Math.ceil((length * 4) / 3)
    ? decodeBase64url(text)
    : undefined
}

function importKey(publicJwk: PublicJwk): KeyObject | undefined {
  try {
    return createPublicKey({ key: publicJwk satisfies JsonWebKey, format: 'jwk' })
  } catch {
    // Such as a point that is not on its curve.
  }
  return undefined
}

function prepare(key: KeyObject, rule: AlgorithmRule, modulusOctets: number): PreparedKey {
  if (rule.kty === 'RSA') {
    const { hash, saltLength } = rule
    // The length of the salt is stated, because `crypto.verify` would take any.
    const pss = { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength }
    return { hash, input: saltLength === undefined ? key : pss, signatureLength: modulusOctets }
  }
  return {
    hash: rule.hash,
    input: { key, dsaEncoding: 'ieee-p1363' },
    signatureLength: rule.signatureLength,
  }
}

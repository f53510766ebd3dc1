import { constants, createHash, privateEncrypt } from 'node:crypto'

import { type KeyPair, toInteger } from './token-maker.ts'

// The encodings of RFC 8017, spelt out so that each of their octets can be wrong.

export type Hash = 'sha1' | 'sha256' | 'sha384' | 'sha512' | 'sha512-256' | 'sha3-512'

/** The object identifiers, encoded (RFC 8017 appendix B.1; NIST's registry for SHA-3). */
export const OIDS: Readonly<Record<Hash, string>> = {
  sha1: '2b0e03021a',
  sha256: '608648016503040201',
  sha384: '608648016503040202',
  sha512: '608648016503040203',
  'sha512-256': '608648016503040206',
  'sha3-512': '60864801650304020a',
}

export function digest(hash: Hash, input: string | Buffer): Buffer {
  return createHash(hash).update(input).digest()
}

/** One element, its length in the shortest form. */
export function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents)
  const length = content.length < 128 ? [content.length] : [0x81, content.length]
  return Buffer.concat([Buffer.of(tag, ...length), content])
}

/** One element with its length in a form that BER allows and DER does not. */
export function ber(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents)
  return Buffer.concat([Buffer.of(tag, 0x82, 0, content.length), content])
}

export const SEQUENCE = 0x30
export const OBJECT_IDENTIFIER = 0x06
export const OCTET_STRING = 0x04
export const NULL = Buffer.of(5, 0)

export function oid(hash: Hash): Buffer {
  return der(OBJECT_IDENTIFIER, Buffer.from(OIDS[hash], 'hex'))
}

/** @see RFC 8017 section 9.2 */
export function digestInfo(hash: Hash, value: Buffer): Buffer {
  return der(SEQUENCE, der(SEQUENCE, oid(hash), NULL), der(OCTET_STRING, value))
}

/** EMSA-PKCS1-v1_5 around whatever stands in for the DigestInfo. */
export function padded(content: Buffer, length: number): Buffer {
  const padding = Buffer.alloc(length - content.length - 3, 0xff)
  return Buffer.concat([Buffer.of(0, 1), padding, Buffer.of(0), content])
}

/** What is to be different about a PSS encoding. */
export interface PssDraft {
  readonly hash: Hash
  /** Of the mask. */
  readonly maskHash?: Hash
  readonly salt: Buffer
  /** What is hashed in place of the salt that is encoded. */
  readonly hashedSalt?: Buffer
  /** The zeros in front of the message's digest. */
  readonly zeros?: number
  /** Changes the block before it is masked: zeros, 1, salt. */
  readonly spoil?: (block: Buffer) => void
  readonly trailer?: number
  /** The bit that the modulus has and the encoding must not use. */
  readonly topBit?: boolean
}

/** @see RFC 8017 section 9.1.1 */
export function pss(input: string, length: number, draft: PssDraft): Buffer {
  const { hash, maskHash = hash, salt, hashedSalt = salt, zeros = 8, trailer = 0xbc } = draft
  const h = digest(
    hash,
    Buffer.concat([Buffer.alloc(zeros), digest(hash, Buffer.from(input)), hashedSalt]),
  )
  const block = Buffer.alloc(length - h.length - 1)
  block.writeUInt8(1, block.length - salt.length - 1)
  salt.copy(block, block.length - salt.length)
  draft.spoil?.(block)
  const mask = mgf1(maskHash, h, block.length)
  const masked = block.map((octet, at) => octet ^ mask.readUInt8(at))
  masked[0] = ((masked[0] ?? 0) & 0x7f) | (draft.topBit === true ? 0x80 : 0)
  return Buffer.concat([masked, h, Buffer.of(trailer)])
}

/** @see RFC 8017 appendix B.2.1 */
function mgf1(hash: Hash, seed: Buffer, length: number): Buffer {
  const blocks: Buffer[] = []
  for (let counter = 0; blocks.length * digest(hash, '').length < length; counter++) {
    blocks.push(digest(hash, Buffer.concat([seed, Buffer.of(0, 0, 0, counter)])))
  }
  return Buffer.concat(blocks).subarray(0, length)
}

export function modulus({ jwk }: KeyPair): bigint {
  return toInteger(Buffer.from(jwk.n ?? '', 'base64url'))
}

/**
 * The private key applied to an encoding as it stands.
 *
 * @see RFC 8017 section 5.2.1
 */
export function rsasp1({ privateKey }: KeyPair, encoding: Buffer): Buffer {
  return privateEncrypt({ key: privateKey, padding: constants.RSA_NO_PADDING }, encoding)
}

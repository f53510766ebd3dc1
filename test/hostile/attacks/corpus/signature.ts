import { createHash, type KeyObject, randomBytes, sign } from 'node:crypto'

import type { Algorithm } from '@portcullis/core'

import {
  ber,
  der,
  digest,
  digestInfo,
  type Hash,
  modulus,
  NULL,
  OBJECT_IDENTIFIER,
  OCTET_STRING,
  oid,
  OIDS,
  padded,
  pss,
  type PssDraft,
  rsasp1,
  SEQUENCE,
} from './pkcs1.ts'
import type { Row } from './row.ts'
import {
  EC_ALGORITHMS,
  type EcAlgorithm,
  EDWARDS_ALGORITHMS,
  type TokenMaker,
  keyFor,
  type KeyPair,
  reversed,
  segmentsOf,
  signatureOf,
  signingInput,
  toInteger,
  toOctets,
  withSignature,
} from './token-maker.ts'

/** What is nearly a signature. */
export function signature(maker: TokenMaker): readonly Row[] {
  return [
    ...pkcs1Encodings(maker),
    ...lowExponent(maker),
    ...rsaNumbers(maker),
    ...pssEncodings(maker),
    ...pssSalts(maker),
    ...EC_ALGORITHMS.flatMap((alg) => ecdsa(maker, alg)),
    ...EDWARDS_ALGORITHMS.flatMap((alg) => edwards(maker, alg)),
    ...otherTexts(maker),
  ]
}

const K = 256

type Octets = readonly (readonly [name: string, octets: Buffer])[]

function rowsOf(
  maker: TokenMaker,
  { alg, what, source, input }: { alg: Algorithm; what: string; source: string; input: string },
  signatures: Octets,
  verdict: 'signature' | 'accepted' = 'signature',
): readonly Row[] {
  const { jwk } = keyFor(maker.issuer, alg)
  return signatures.map(([name, octets]) => ({
    name: `${alg}: ${what} ${name}`,
    source,
    verdict,
    options: { algorithms: [alg] },
    document: { keys: [jwk] },
    token: withSignature(input, octets),
  }))
}

function inputOf({ issuer }: TokenMaker, alg: Algorithm, by = keyFor(issuer, alg)): string {
  return signingInput({ alg, by })
}

function whole(...contents: readonly Buffer[]): Buffer {
  return der(SEQUENCE, ...contents)
}

/** Every octet of an EMSA-PKCS1-v1_5 encoding can be wrong; the private key is applied to it all the same. */
function pkcs1Encodings(maker: TokenMaker): readonly Row[] {
  const alg = 'RS512'
  const input = inputOf(maker, alg)
  const hash = digest('sha512', input)
  const good = padded(digestInfo('sha512', hash), K)
  const oidAndNull = [oid('sha512'), NULL]
  const value = der(OCTET_STRING, hash)
  const identifier = der(SEQUENCE, ...oidAndNull)
  const info = digestInfo('sha512', hash)
  const inside: Octets = [
    ['without the NULL', whole(der(SEQUENCE, oid('sha512')), value)],
    [
      'with an empty text for the NULL',
      whole(der(SEQUENCE, oid('sha512'), der(OCTET_STRING)), value),
    ],
    ['with an octet in the NULL', whole(der(SEQUENCE, oid('sha512'), Buffer.of(5, 1, 0)), value)],
    ['with two NULLs', whole(der(SEQUENCE, ...oidAndNull, NULL), value)],
    [
      'with garbage for parameters',
      whole(der(SEQUENCE, oid('sha512'), der(OCTET_STRING, Buffer.alloc(40, 0xaa))), value),
    ],
    [
      'with garbage after the digest, inside',
      whole(identifier, value, der(OCTET_STRING, Buffer.alloc(40, 0xaa))),
    ],
    ['with a NULL after the digest', whole(identifier, value, NULL)],
    ['with garbage before the digest', whole(identifier, NULL, value)],
    ['with the digest first', whole(value, identifier)],
    ['without the digest', whole(identifier)],
    ['without the identifier', whole(value)],
    ['with a long length outside', ber(SEQUENCE, identifier, value)],
    ['with a long length of the identifier', whole(ber(SEQUENCE, ...oidAndNull), value)],
    [
      'with a long length of the OID',
      whole(der(SEQUENCE, ber(OBJECT_IDENTIFIER, Buffer.from(OIDS.sha512, 'hex')), NULL), value),
    ],
    ['with a long length of the NULL', whole(der(SEQUENCE, oid('sha512'), ber(5)), value)],
    ['with a long length of the digest', whole(identifier, ber(OCTET_STRING, hash))],
    [
      'of indefinite length',
      Buffer.concat([Buffer.of(SEQUENCE, 0x80), identifier, value, Buffer.of(0, 0)]),
    ],
    [
      'with the digest in parts',
      whole(
        identifier,
        der(0x24, der(OCTET_STRING, hash.subarray(0, 32)), der(OCTET_STRING, hash.subarray(32))),
      ),
    ],
    ['with the digest as a bit string', whole(identifier, der(0x03, Buffer.of(0), hash))],
    ['that is a SET', der(0x31, identifier, value)],
    [
      'whose length is one too many',
      Buffer.concat([Buffer.of(SEQUENCE, (info.at(1) ?? 0) + 1), info.subarray(2)]),
    ],
    [
      'whose length is one too few',
      Buffer.concat([Buffer.of(SEQUENCE, (info.at(1) ?? 0) - 1), info.subarray(2)]),
    ],
    [
      'with an OID that begins with a padded arc',
      whole(
        der(SEQUENCE, der(OBJECT_IDENTIFIER, Buffer.from(`80${OIDS.sha512}`, 'hex')), NULL),
        value,
      ),
    ],
    [
      'with an OID that goes on',
      whole(
        der(SEQUENCE, der(OBJECT_IDENTIFIER, Buffer.from(`${OIDS.sha512}01`, 'hex')), NULL),
        value,
      ),
    ],
    ['with an empty OID', whole(der(SEQUENCE, der(OBJECT_IDENTIFIER), NULL), value)],
    ['with the digest less its last octet', digestInfo('sha512', hash.subarray(0, -1))],
    ['with the digest and a zero', digestInfo('sha512', Buffer.concat([hash, Buffer.of(0)]))],
    ['with a zero and the digest', digestInfo('sha512', Buffer.concat([Buffer.of(0), hash]))],
    ['with no digest in it', digestInfo('sha512', Buffer.alloc(0))],
    ['with the digest in hexadecimal', digestInfo('sha512', Buffer.from(hash.toString('hex')))],
    ['with the digest of the digest', digestInfo('sha512', digest('sha512', hash))],
    ['with the digest of nothing', digestInfo('sha512', digest('sha512', ''))],
    [
      'with the digest of the payload alone',
      digestInfo('sha512', digest('sha512', segmentsOf(input)[1])),
    ],
    [
      'with the digest of the decoded segments',
      digestInfo('sha512', digest('sha512', Buffer.from(input, 'base64url'))),
    ],
    ['with the digest in reverse', digestInfo('sha512', reversed(hash))],
    ['that is no more than the digest', hash],
  ]
  const hashes: Octets = (['sha1', 'sha256', 'sha384', 'sha512-256', 'sha3-512'] as const).flatMap(
    (other: Hash) => [
      [`that says ${other} of a digest of sha512`, digestInfo(other, hash)] as const,
      [
        `that says sha512 of a digest of ${other}`,
        digestInfo('sha512', digest(other, input)),
      ] as const,
      [`of ${other} throughout`, digestInfo(other, digest(other, input))] as const,
    ],
  )
  const with1 = (at: number, octet: number) => {
    const spoilt = Buffer.from(good)
    spoilt.writeUInt8(octet, at)
    return spoilt
  }
  const short = Buffer.concat([Buffer.of(0, 1), Buffer.alloc(8, 0xff), Buffer.of(0), info])
  const garbage = randomBytes(K - short.length)
  const separator = good.length - info.length - 1
  const around: Octets = [
    ['that begins with 1', with1(0, 1)],
    ['of block type 0', Buffer.concat([Buffer.alloc(K - info.length), info])],
    ['of block type 0, said so', with1(1, 0)],
    [
      'of block type 2, as for encryption',
      Buffer.concat([Buffer.of(0, 2), Buffer.alloc(separator - 2, 0xa5), Buffer.of(0), info]),
    ],
    ['of block type 3', with1(1, 3)],
    [
      'that is padded with zeros',
      Buffer.concat([Buffer.of(0, 1), Buffer.alloc(K - info.length - 2), info]),
    ],
    ['with another octet at the beginning of the padding', with1(2, 0xfe)],
    ['with another octet in the middle of the padding', with1(60, 0xfe)],
    ['with another octet at the end of the padding', with1(separator - 1, 0x7f)],
    ['with a zero in the middle of the padding', with1(60, 0)],
    ['with 1 for the separator', with1(separator, 1)],
    ['without a separator', with1(separator, 0xff)],
    [
      'with two separators',
      Buffer.concat([Buffer.of(0, 1), Buffer.alloc(separator - 3, 0xff), Buffer.of(0, 0), info]),
    ],
    [
      'without padding, and garbage behind',
      Buffer.concat([Buffer.of(0, 1, 0), info, randomBytes(K - info.length - 3)]),
    ],
    ['with little padding, and garbage behind', Buffer.concat([short, garbage])],
    [
      'with little padding, and zeros behind',
      Buffer.concat([short, Buffer.alloc(K - short.length)]),
    ],
    [
      'with little padding, and garbage before',
      Buffer.concat([short.subarray(0, 11), garbage, info]),
    ],
    ['with one octet of garbage behind', Buffer.concat([padded(info, K - 1), Buffer.of(0)])],
    ['with the digest again behind it', Buffer.concat([padded(info, K - hash.length), hash])],
    [
      'one octet further back',
      Buffer.concat([Buffer.of(0), good.subarray(0, 1), good.subarray(1, 60), good.subarray(61)]),
    ],
    ['that has nothing in it', padded(Buffer.alloc(0), K)],
    ['that is zero, as its signature is', Buffer.alloc(K)],
    ['for PSS', pss(input, K, { hash: 'sha512', salt: randomBytes(64) })],
  ]
  const rsa = maker.issuer.rsa
  const of = (source: string, what: string, encodings: Octets) =>
    rowsOf(
      maker,
      { alg, what, source, input },
      encodings.map(([name, encoding]) => [name, rsasp1(rsa, encoding)]),
    )
  return [
    ...of(
      'RFC 8017 section 8.2.2; CVE-2022-24772',
      'a DigestInfo',
      inside.map(([name, content]) => [name, padded(content, K)]),
    ),
    ...of(
      'RFC 7518 section 3.3; RFC 8017 section 8.2.2',
      'a DigestInfo',
      hashes.map(([name, content]) => [name, padded(content, K)]),
    ),
    ...of('RFC 8017 section 9.2; CVE-2022-24771', 'an encoding', around),
    ...rowsOf(
      maker,
      { alg, what: 'an encoding', source: 'RFC 8017 section 9.2', input },
      [['as it should be, spelt out by hand', rsasp1(rsa, good)]],
      'accepted',
    ),
  ]
}

/** With e = 3 a number whose cube begins well is found without a private key. */
function lowExponent(maker: TokenMaker): readonly Row[] {
  const { lowExponent: by } = maker
  const input = inputOf(maker, 'RS256', by)
  const beginning = Buffer.concat([
    Buffer.of(0, 1),
    Buffer.alloc(8, 0xff),
    Buffer.of(0),
    digestInfo('sha256', digest('sha256', input)),
  ])
  const least = toInteger(Buffer.concat([beginning, Buffer.alloc(K - beginning.length)]))
  const root = cubeRoot(least) + 1n
  if (toOctets(root ** 3n, K).compare(beginning, 0, beginning.length, 0, beginning.length) !== 0) {
    throw new RangeError('the forgery does not even begin well')
  }
  const row = (name: string, alg: Algorithm, verdict: Row['verdict'], token: string): Row => ({
    name: `${alg} with e = 3: ${name}`,
    source: 'RFC 8017 section 9.2; CVE-2006-4339',
    verdict,
    options: { algorithms: [alg] },
    document: { keys: [by.jwk] },
    token,
  })
  const input512 = inputOf(maker, 'RS512', by)
  const encoded = padded(digestInfo('sha512', digest('sha512', input512)), K)
  return [
    row(
      'a cube root, with garbage after the digest',
      'RS256',
      'signature',
      withSignature(input, toOctets(root, K)),
    ),
    row(
      'the cube root of the encoding, rounded',
      'RS512',
      'signature',
      withSignature(input512, toOctets(cubeRoot(toInteger(encoded)), K)),
    ),
    row('a cube root of 1', 'RS512', 'signature', withSignature(input512, toOctets(1n, K))),
    row('a good signature', 'RS256', 'accepted', maker.token({ alg: 'RS256', by })),
    row('a good signature', 'RS512', 'accepted', maker.token({ alg: 'RS512', by })),
  ]
}

/** The largest integer whose cube is not larger. */
function cubeRoot(cube: bigint): bigint {
  let root = 1n << BigInt(Math.ceil(cube.toString(2).length / 3))
  for (;;) {
    const next = (2n * root + cube / (root * root)) / 3n
    if (next >= root) return root
    root = next
  }
}

/** The number itself, and its length. */
function rsaNumbers(maker: TokenMaker): readonly Row[] {
  const alg = 'RS512'
  const { rsa } = maker.issuer
  const n = modulus(rsa)
  const input = inputOf(maker, alg)
  const good = signatureOf(Buffer.from(input), alg, rsa.privateKey)
  const s = toInteger(good)
  const encoded = padded(digestInfo('sha512', digest('sha512', input)), K)
  const fitting = inputWhereSumFits(maker)
  return [
    ...rowsOf(maker, { alg, what: 'a signature', source: 'RFC 8017 section 5.2.2', input }, [
      ['of 1', toOctets(1n, K)],
      ['of n - 1', toOctets(n - 1n, K)],
      ['of n', toOctets(n, K)],
      ['of n + 1', toOctets(n + 1n, K)],
      ['of all ones', Buffer.alloc(K, 0xff)],
      ['of n less the good one', toOctets(n - s, K)],
      ['that is the encoding itself', encoded],
    ]),
    ...rowsOf(
      maker,
      { alg, what: 'a signature', source: 'RFC 8017 section 5.2.2', input: fitting.input },
      [['larger by n', toOctets(fitting.sum, K)]],
    ),
    ...rowsOf(maker, { alg, what: 'a signature', source: 'RFC 8017 section 8.2.2', input }, [
      ['larger by n, in an octet more', toOctets(s + n, K + 1)],
      ['with a zero in front', Buffer.concat([Buffer.of(0), good])],
      ['with a thousand zeros in front', Buffer.concat([Buffer.alloc(1000), good])],
      ['with a zero behind', Buffer.concat([good, Buffer.of(0)])],
      ['without its first octet', good.subarray(1)],
      ['without its last octet', good.subarray(0, -1)],
      ['of one octet', good.subarray(0, 1)],
      ['of half its length', good.subarray(0, K / 2)],
      ['twice', Buffer.concat([good, good])],
      ['in reverse', reversed(good)],
      ['as an INTEGER of ASN.1', der4(0x02, good)],
      ['as an OCTET STRING of ASN.1', der4(0x04, good)],
      ['in hexadecimal', Buffer.from(good.toString('hex'))],
      ['encoded once more', Buffer.from(good.toString('base64url'))],
    ]),
    ...withLeadingZero(maker),
  ]
}

function der4(tag: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.of(tag, 0x82, content.length >> 8, content.length & 0xff), content])
}

/** Most signatures plus n have a bit too many. */
function inputWhereSumFits({ issuer: { rsa } }: TokenMaker): { input: string; sum: bigint } {
  const n = modulus(rsa)
  for (let jti = 0; ; jti++) {
    const input = signingInput({ alg: 'RS512', by: rsa, claims: { jti } })
    // What `s + n` is of matters only as far as it is a signature, so that the verdict hangs on its size alone.
    const sum = toInteger(signatureOf(Buffer.from(input), 'RS512', rsa.privateKey)) + n
    if (sum < 1n << 2048n) return { input, sum }
  }
}

/** One signature in 256 begins with a zero, which belongs to it. */
function withLeadingZero(maker: TokenMaker): readonly Row[] {
  for (let jti = 0; ; jti++) {
    const input = signingInput({ alg: 'RS512', by: maker.issuer.rsa, claims: { jti } })
    const good = signatureOf(Buffer.from(input), 'RS512', maker.issuer.rsa.privateKey)
    if (good.at(0) !== 0) continue
    const family = {
      alg: 'RS512',
      what: 'a signature',
      source: 'RFC 8017 section 8.2.2',
      input,
    } as const
    return [
      ...rowsOf(maker, family, [['that begins with a zero', good]], 'accepted'),
      ...rowsOf(maker, family, [['that begins with a zero, without it', good.subarray(1)]]),
    ]
  }
}

function usualPss(): PssDraft {
  return { hash: 'sha512', salt: randomBytes(64) }
}

/** Every octet of an EMSA-PSS encoding can be wrong as well. */
function pssEncodings(maker: TokenMaker): readonly Row[] {
  const alg = 'PS512'
  const { rsa } = maker.issuer
  const input = inputOf(maker, alg)
  const good = signatureOf(Buffer.from(input), alg, rsa.privateKey)
  const spoils: readonly (readonly [string, string, Partial<PssDraft>])[] = [
    ['with a mask of SHA-1', 'RFC 7518 section 3.5', { maskHash: 'sha1' }],
    ['with a mask of SHA-256', 'RFC 7518 section 3.5', { maskHash: 'sha256' }],
    ['with digests of SHA-256 and a mask of its own', 'RFC 7518 section 3.5', { hash: 'sha256' }],
    [
      'with digests of SHA-256 and the right mask',
      'RFC 7518 section 3.5',
      { hash: 'sha256', maskHash: 'sha512' },
    ],
    ['with digests of SHA3-512', 'RFC 7518 section 3.5', { hash: 'sha3-512', maskHash: 'sha512' }],
    [
      'with another salt than was hashed',
      'RFC 8017 section 9.1.2',
      { hashedSalt: randomBytes(64) },
    ],
    ['with no salt hashed', 'RFC 8017 section 9.1.2', { hashedSalt: Buffer.alloc(0) }],
    ['without the zeros before the digest', 'RFC 8017 section 9.1.2', { zeros: 0 }],
    ['with the trailer of another hash', 'RFC 8017 section 9.1.2', { trailer: 0xcc }],
    ['with a trailer of zero', 'RFC 8017 section 9.1.2', { trailer: 0 }],
    [
      'with a separator of 2',
      'RFC 8017 section 9.1.2',
      { spoil: (block) => void block.writeUInt8(2, block.length - 65) },
    ],
    [
      'without a separator',
      'RFC 8017 section 9.1.2',
      { spoil: (block) => void block.writeUInt8(0, block.length - 65) },
    ],
    [
      'with something before the separator',
      'RFC 8017 section 9.1.2',
      { spoil: (block) => void block.writeUInt8(1, 40) },
    ],
    [
      'with something at its beginning',
      'RFC 8017 section 9.1.2',
      { spoil: (block) => void block.writeUInt8(1, 0) },
    ],
  ]
  return [
    ...spoils.flatMap(([name, source, spoil]) =>
      rowsOf(maker, { alg, what: 'an encoding', source, input }, [
        [name, rsasp1(rsa, pss(input, K, { ...usualPss(), ...spoil }))],
      ]),
    ),
    ...rowsOf(maker, { alg, what: 'an encoding', source: 'RFC 8017 section 9.1.2', input }, [
      ['that uses the bit it must not', rsasp1(rsa, withTopBit(input, modulus(rsa)))],
      ['for PKCS #1 v1.5', rsasp1(rsa, padded(digestInfo('sha512', digest('sha512', input)), K))],
    ]),
    ...rowsOf(
      maker,
      { alg, what: 'an encoding', source: 'RFC 8017 section 9.1.1', input },
      [['as it should be, spelt out by hand', rsasp1(rsa, pss(input, K, usualPss()))]],
      'accepted',
    ),
    ...rowsOf(maker, { alg, what: 'a signature', source: 'RFC 8017 section 8.1.2', input }, [
      ['of 0', toOctets(0n, K)],
      ['of 1', toOctets(1n, K)],
      ['of n', toOctets(modulus(rsa), K)],
      ['larger by n, in an octet more', toOctets(toInteger(good) + modulus(rsa), K + 1)],
      ['of n less the good one', toOctets(modulus(rsa) - toInteger(good), K)],
      ['with a zero in front', Buffer.concat([Buffer.of(0), good])],
      ['with a zero behind', Buffer.concat([good, Buffer.of(0)])],
      ['without its last octet', good.subarray(0, -1)],
      ['in reverse', reversed(good)],
    ]),
  ]
}

/** Such an encoding is a number below n only sometimes. */
function withTopBit(input: string, n: bigint): Buffer {
  for (;;) {
    const encoding = pss(input, K, { hash: 'sha512', salt: randomBytes(64), topBit: true })
    if (toInteger(encoding) < n) return encoding
  }
}

/** The salt has as many octets as the digest; `crypto.verify` itself would take any number. */
function pssSalts(maker: TokenMaker): readonly Row[] {
  const { rsa } = maker.issuer
  return (['PS256', 'PS384', 'PS512'] as const).flatMap((alg) => {
    const hash = `sha${alg.slice(2)}` as 'sha256' | 'sha384' | 'sha512' // the three that the names end with
    const right = digest(hash, '').length
    const most = K - right - 2
    const input = inputOf(maker, alg)
    const salted = (length: number) =>
      rsasp1(rsa, pss(input, K, { hash, salt: randomBytes(length) }))
    const family = { alg, what: 'a salt', source: 'RFC 7518 section 3.5', input }
    const wrong = [...new Set([0, 1, 20, 32, 48, 64, right - 1, right + 1, most])]
      .filter((length) => length !== right)
      .map((length) => [`of ${length} octets`, salted(length)] as const)
    const good: Octets = [
      [`of ${right} octets`, salted(right)],
      ['of zeros', rsasp1(rsa, pss(input, K, { hash, salt: Buffer.alloc(right) }))],
    ]
    return rowsOf(maker, family, wrong).concat(rowsOf(maker, family, good, 'accepted'))
  })
}

/** The orders of the groups: SP 800-186 section 3.2.1. */
const ORDERS: Readonly<Record<EcAlgorithm, bigint>> = {
  ES256: 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
  ES384:
    0xffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973n,
  ES512:
    0x1fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409n,
}
/** Octets of a number. */
const WIDTHS: Readonly<Record<EcAlgorithm, number>> = { ES256: 32, ES384: 48, ES512: 66 }

function ecdsa(maker: TokenMaker, alg: EcAlgorithm): readonly Row[] {
  const n = ORDERS[alg]
  const width = WIDTHS[alg]
  const by = keyFor(maker.issuer, alg)
  const hash = `sha${alg.slice(2)}`
  const input = inputOf(maker, alg)
  const good = signatureOf(Buffer.from(input), alg, by.privateKey)
  const [r, s] = [toInteger(good.subarray(0, width)), toInteger(good.subarray(width))]
  const both = (first: bigint, second: bigint) =>
    Buffer.concat([toOctets(first, width), toOctets(second, width)])
  const most = (1n << BigInt(8 * width)) - 1n
  const asn1 = sign(hash, Buffer.from(input), by.privateKey)
  const zero = withShortNumber(maker, alg, width)
  const family = { alg, what: 'a signature', source: 'SP 800-186 section 3.2.1', input }
  const range = { ...family, source: 'RFC 7515 section 5.2; CVE-2022-21449' }
  const form = { ...family, source: 'RFC 7518 section 3.4' }
  return [
    ...rowsOf(maker, range, [
      ['of r = 0 and s = 0', both(0n, 0n)],
      ['of r = 0', both(0n, s)],
      ['of s = 0', both(r, 0n)],
      ['of r = 1 and s = 0', both(1n, 0n)],
      ['of r = 0 and s = 1', both(0n, 1n)],
      ['of r = 1 and s = 1', both(1n, 1n)],
      ['of r = n and s = n', both(n, n)],
      ['of r = n', both(n, s)],
      ['of s = n', both(r, n)],
      ['of r = n and s = 0', both(n, 0n)],
      ['of r = n - 1 and s = n - 1', both(n - 1n, n - 1n)],
      ['of all ones', both(most, most)],
      ['of s with all ones', both(r, most)],
      ['of n less r', both(n - r, s)],
      // Beyond n the same number comes again; two of the curves have no room for it.
      ...(alg === 'ES512'
        ? [
            ['of r larger by n', both(r + n, s)] as const,
            ['of s larger by n', both(r, s + n)] as const,
            ['of both larger by n', both(r + n, s + n)] as const,
          ]
        : []),
    ]),
    ...rowsOf(maker, form, [
      ['with r and s exchanged', both(s, r)],
      ['in reverse', reversed(good)],
      [
        'with each number in reverse',
        Buffer.concat([reversed(toOctets(r, width)), reversed(toOctets(s, width))]),
      ],
      ['as ASN.1', asn1],
      [
        'as ASN.1, filled up with zeros',
        Buffer.concat([asn1, Buffer.alloc(2 * width)]).subarray(0, 2 * width),
      ],
      ['less its last octet', good.subarray(0, -1)],
      ['less its first octet', good.subarray(1)],
      ['of r alone', good.subarray(0, width)],
      ['with a zero in front', Buffer.concat([Buffer.of(0), good])],
      ['with a zero behind', Buffer.concat([good, Buffer.of(0)])],
      [
        'with a zero before each number',
        Buffer.concat([Buffer.of(0), toOctets(r, width), Buffer.of(0), toOctets(s, width)]),
      ],
      ['with the recovery octet that other uses append', Buffer.concat([good, Buffer.of(27)])],
      ['twice', Buffer.concat([good, good])],
    ]),
    ...rowsOf(maker, { ...form, input: zero.input }, [
      ['with a number that begins with a zero, without it', shortened(zero.octets, width)],
    ]),
    ...(['sha256', 'sha384', 'sha512'] as const)
      .filter((other) => other !== hash)
      .flatMap((other) =>
        rowsOf(maker, form, [[`of a digest of ${other}`, p1363(other, input, by)]]),
      ),
    ...rowsOf(maker, form, [
      ['of a digest of the digest', p1363(hash, createHash(hash).update(input).digest(), by)],
    ]),
    ...rowsOf(
      maker,
      { ...form, input: zero.input },
      [['with a number that begins with a zero', zero.octets]],
      'accepted',
    ),
    ...rowsOf(maker, form, [['with the other s that proves the same', both(r, n - s)]], 'accepted'),
  ]
}

function p1363(
  hash: string,
  input: string | Buffer,
  { privateKey }: { privateKey: KeyObject },
): Buffer {
  return sign(hash, Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' })
}

/** One signature in 128 has such a number; on P-521 nearly all have. */
function withShortNumber(
  { issuer }: TokenMaker,
  alg: Algorithm,
  width: number,
): { input: string; octets: Buffer } {
  const by = keyFor(issuer, alg)
  const input = signingInput({ alg, by })
  for (;;) {
    const octets = signatureOf(Buffer.from(input), alg, by.privateKey)
    if (octets.readUInt8(0) === 0 || octets.readUInt8(width) === 0) return { input, octets }
  }
}

function shortened(octets: Buffer, width: number): Buffer {
  return Buffer.concat([octets.subarray(0, width), octets.subarray(width)].map(withoutZeros))
}

function withoutZeros(number: Buffer): Buffer {
  return number.subarray(number.findIndex((octet) => octet !== 0))
}

/** The order of the base point, and the octets of some points of small order: RFC 8032 section 5.1. */
const L = 2n ** 252n + 27742317777372353535851937790883648493n
const SMALL_ORDER: readonly (readonly [string, string])[] = [
  ['the neutral point', `01${'00'.repeat(31)}`],
  ['the point of order 2', `ec${'ff'.repeat(30)}7f`],
  ['a point of order 4', '00'.repeat(32)],
  ['a point of order 8', '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05'],
  ['the neutral point, not in its canonical form', `ee${'ff'.repeat(30)}7f`],
]

function edwards(maker: TokenMaker, alg: Algorithm): readonly Row[] {
  const by = keyFor(maker.issuer, alg)
  const input = inputOf(maker, alg)
  const good = signatureOf(Buffer.from(input), alg, by.privateKey)
  const [r, s] = [good.subarray(0, 32), good.subarray(32)]
  const number = toInteger(reversed(s))
  const withS = (value: bigint) => Buffer.concat([r, reversed(toOctets(value, 32))])
  const family = { alg, what: 'a signature', source: 'RFC 8032 section 5.1.7', input }
  return [
    ...rowsOf(maker, { ...family, source: 'RFC 8032 section 5.1.7; RFC 8032 section 8.4' }, [
      ['with S larger by L', withS(number + L)],
      ['with S larger by 2 L', withS(number + 2n * L)],
      ['with the largest S that proves the same', withS(number + 14n * L)],
      ['with S = L', withS(L)],
      ['with S of all ones', withS(2n ** 256n - 1n)],
    ]),
    ...rowsOf(maker, family, [
      ['with S = 0', withS(0n)],
      ['with L less S', withS(L - number)],
      ['with the sign of R changed', flipped(good, 31)],
      ['with S in reverse', Buffer.concat([r, reversed(s)])],
      ['with R in reverse', Buffer.concat([reversed(r), s])],
      ['with R and S exchanged', Buffer.concat([s, r])],
      ['with our public key for R', Buffer.concat([Buffer.from(by.jwk.x ?? '', 'base64url'), s])],
      ['less its last octet', good.subarray(0, -1)],
      ['of R alone', r],
      ['with a zero behind', Buffer.concat([good, Buffer.of(0)])],
      ['with a zero in front', Buffer.concat([Buffer.of(0), good])],
      ['twice', Buffer.concat([good, good])],
      ['of the digest', signatureOf(digest('sha512', input), alg, by.privateKey)],
    ]),
    ...SMALL_ORDER.flatMap(([name, hex]) =>
      rowsOf(maker, { ...family, source: 'RFC 8032 section 5.1.7; RFC 8725 section 3.4' }, [
        [
          `with ${name} for R and S = 0`,
          Buffer.concat([Buffer.from(hex, 'hex'), Buffer.alloc(32)]),
        ],
        [`with ${name} for R`, Buffer.concat([Buffer.from(hex, 'hex'), s])],
      ]),
    ),
  ]
}

function flipped(octets: Buffer, at: number): Buffer {
  const copy = Buffer.from(octets)
  copy.writeUInt8(copy.readUInt8(at) ^ 0x80, at)
  return copy
}

/** A good signature, of something else. */
function otherTexts(maker: TokenMaker): readonly Row[] {
  const { token, stranger, issuer } = maker
  const good = token()
  const [goodHeader, goodPayload, goodSignature] = segmentsOf(good)
  const [otherHeader, otherPayload, otherSignature] = segmentsOf(
    token({ claims: { sub: 'eve', scope: 'admin' }, header: { typ: 'at+jwt' } }),
  )
  const strange = (kid: string | undefined, by: KeyPair) => token({ by, header: { kid } })
  const rows: readonly (readonly [string, string])[] = [
    ['another payload', [goodHeader, otherPayload, goodSignature].join('.')],
    ['another header', [otherHeader, goodPayload, goodSignature].join('.')],
    ['another signature', [goodHeader, goodPayload, otherSignature].join('.')],
    ['its header for a payload', [goodHeader, goodHeader, goodSignature].join('.')],
    [
      'a signature of the header alone',
      withSignature(
        `${goodHeader}.${goodPayload}`,
        signatureOf(Buffer.from(goodHeader), 'RS512', issuer.rsa.privateKey),
      ),
    ],
    [
      'a signature of the payload alone',
      withSignature(
        `${goodHeader}.${goodPayload}`,
        signatureOf(Buffer.from(goodPayload), 'RS512', issuer.rsa.privateKey),
      ),
    ],
    [
      'a signature of the segments without the dot',
      withSignature(
        `${goodHeader}.${goodPayload}`,
        signatureOf(Buffer.from(goodHeader + goodPayload), 'RS512', issuer.rsa.privateKey),
      ),
    ],
    [
      'a signature of the decoded segments',
      withSignature(
        `${goodHeader}.${goodPayload}`,
        signatureOf(
          Buffer.concat([goodHeader, goodPayload].map((each) => Buffer.from(each, 'base64url'))),
          'RS512',
          issuer.rsa.privateKey,
        ),
      ),
    ],
    [
      'a signature of the whole token',
      withSignature(
        `${goodHeader}.${goodPayload}`,
        signatureOf(Buffer.from(good), 'RS512', issuer.rsa.privateKey),
      ),
    ],
    ["a stranger's signature under our kid", strange(issuer.rsa.jwk.kid, stranger.rsa)],
    ["a stranger's signature without a kid", strange(undefined, stranger.rsa)],
  ]
  return rows.map(([name, text]) => ({
    name: `a token with ${name}`,
    source: 'RFC 7515 section 5.2',
    verdict: 'signature',
    token: text,
  }))
}

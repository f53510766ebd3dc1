import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
} from 'node:crypto'

import { calculateJwkThumbprint, type JWK } from 'jose'
import { describe, expect, test } from 'vitest'

import type { AlgorithmNames } from '../../src/algorithms/accepted-algorithms.ts'
import { type Algorithm, ALGORITHMS } from '../../src/algorithms/algorithms.ts'
import { statedRulesOf } from '../../src/keys/entry-rules.ts'
import { readJwk } from '../../src/keys/jwk.ts'
import { readKeyDocument } from '../../src/keys/key-document.ts'
import { localKeys } from '../../src/keys/local-keys.ts'
import { remoteKeys } from '../../src/keys/remote-keys.ts'
import { mlDsaPair } from './ml-dsa-pair.ts'

const rsaPair = generateKeyPairSync('rsa', { modulusLength: 2048 })
const rsa = rsaPair.publicKey.export({ format: 'jwk' })
const p256 = ecJwk('P-256')
const p384 = ecJwk('P-384')
const p521 = ecJwk('P-521')
const ed25519 = edJwk()
const mlDsa = ([44, 65, 87] as const).map((size) => akpJwk(size))
const [mlDsa44] = mlDsa as [JsonWebKey] // and two others

/** RFC 7638 section 3.1. */
const RFC7638_JWK = {
  kty: 'RSA',
  n:
    '0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknj' +
    'hMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQ' +
    'vRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzK' +
    'nqDKgw',
  e: 'AQAB',
  alg: 'RS256',
  kid: '2011-04-29',
}

function ecJwk(namedCurve: string) {
  return generateKeyPairSync('ec', { namedCurve }).publicKey.export({ format: 'jwk' })
}

function akpJwk(size: 44 | 65 | 87): JsonWebKey {
  return mlDsaPair(size).publicKey.export({ format: 'jwk' })
}

function edJwk() {
  return generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
}

function base64url(octets: readonly number[] | Buffer): string {
  return Buffer.from(octets).toString('base64url')
}

/** An odd number of exactly so many bits: enough to be imported, though no key pair has it. */
function modulus(bits: number): Buffer {
  const octets = Buffer.alloc(Math.ceil(bits / 8), 0xa5)
  octets[0] = 2 ** ((bits - 1) % 8)
  return octets
}

function decoded(text: string | undefined): Buffer {
  return Buffer.from(text ?? '', 'base64url')
}

/** The same octets as base64, in its other alphabet. */
function plain(text: string | undefined, padding = '='): string {
  return decoded(text).toString('base64').replaceAll('=', padding)
}

function zeroPadded(text: string | undefined, octets = 1): string {
  return base64url(Buffer.concat([Buffer.alloc(octets), decoded(text)]))
}

function incremented(text: string | undefined): string {
  const octets = decoded(text)
  const last = octets.length - 1
  octets.writeUInt8(octets.readUInt8(last) ^ 1, last)
  return base64url(octets)
}

/** Another spelling of the same octets: the bits that base64url leaves over are not zero. */
function withStrayBits(text: string | undefined = ''): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const last = alphabet.indexOf(text.slice(-1))
  return `${text.slice(0, -1)}${alphabet.charAt(last + 1)}`
}

/** x plus 2 to the 527th: the same 66 octets long, and above the prime of P-521. */
function beyondPrime(text: string | undefined): string {
  const octets = decoded(text)
  octets[0] = (octets[0] ?? 0) | 0x80
  return base64url(octets)
}

function keysOf(document: unknown) {
  return readKeyDocument(document)?.keys ?? []
}

/** With members of `null`. */
function nulls(jwk: object, names: readonly string[]): object {
  return { ...jwk, ...Object.fromEntries(names.map((name) => [name, null])) }
}

/** Why the one entry cannot be used. */
function reasonOf(jwk: object, names?: AlgorithmNames): string | undefined {
  return readKeyDocument({ keys: [jwk] }, { algorithmNames: names })?.skipped.entries[0]?.reason
}

function algorithmsOf(jwk: object): string[] {
  return keysOf(jwk).flatMap(({ prepared }) => Array.from(prepared.keys()))
}

function thumbprintsOf(document: unknown): string[] {
  return keysOf(document).map(({ thumbprint }) => thumbprint)
}

describe('the key', () => {
  test.each([
    { name: '512-bit modulus', jwk: { ...rsa, n: base64url(modulus(512)) } },
    { name: '1024-bit modulus', jwk: { ...rsa, n: base64url(modulus(1024)) } },
    { name: '2047-bit modulus', jwk: { ...rsa, n: base64url(modulus(2047)) } },
    {
      name: '1024-bit modulus that zero octets make look longer',
      jwk: { ...rsa, n: zeroPadded(base64url(modulus(1024)), 128) },
    },
    { name: '8193-bit modulus', jwk: { ...rsa, n: base64url(modulus(8193)) } },
    { name: '16384-bit modulus', jwk: { ...rsa, n: base64url(modulus(16_384)) } },
    { name: 'modulus spelt with octets without end', jwk: { ...rsa, n: zeroPadded(rsa.n, 2000) } },
    { name: 'even modulus', jwk: { ...rsa, n: incremented(rsa.n) } },
    { name: 'modulus of 0', jwk: { ...rsa, n: base64url(Buffer.alloc(256)) } },
    { name: 'empty modulus', jwk: { ...rsa, n: '' } },
    { name: 'modulus left out', jwk: { kty: 'RSA', e: 'AQAB' } },
    { name: 'modulus that is no text', jwk: { ...rsa, n: 3 } },
    { name: 'modulus with three characters of padding', jwk: { ...rsa, n: `${rsa.n}===` } },
    { name: 'modulus with padding inside', jwk: { ...rsa, n: `=${rsa.n}` } },
    { name: 'modulus of padding', jwk: { ...rsa, n: '==' } },
    { name: 'modulus with white space', jwk: { ...rsa, n: `${rsa.n}\n` } },
    { name: 'modulus with stray bits', jwk: { ...rsa, n: withStrayBits(rsa.n) } },
    { name: 'e = 0', jwk: { ...rsa, e: 'AA' } },
    { name: 'e = 1', jwk: { ...rsa, e: 'AQ' } },
    { name: 'e = 1 behind zero octets', jwk: { ...rsa, e: 'AAAB' } },
    { name: 'e = 2', jwk: { ...rsa, e: 'Ag' } },
    { name: 'e = 65536', jwk: { ...rsa, e: base64url([1, 0, 0]) } },
    { name: 'e = 2 to the 32nd plus 1', jwk: { ...rsa, e: base64url([1, 0, 0, 0, 1]) } },
    { name: 'e as long as the modulus', jwk: { ...rsa, e: rsa.n } },
    { name: 'empty e', jwk: { ...rsa, e: '' } },
    { name: 'e left out', jwk: { kty: 'RSA', n: rsa.n } },
    { name: 'e that is a number', jwk: { ...rsa, e: 65_537 } },
    { name: 'kty in lower case', jwk: { ...rsa, kty: 'rsa' } },
    { name: 'kty of another kind', jwk: { ...rsa, kty: 'EC' } },
    { name: 'kty of another kind, on a curve', jwk: { ...p256, kty: 'OKP' } },
    { name: 'secret', jwk: { kty: 'oct', k: rsa.n } },
    { name: 'unknown curve', jwk: { ...p256, crv: 'secp256k1' } },
    { name: 'other curve of the same kind', jwk: { ...p256, crv: 'P-384' } },
    { name: 'curve left out', jwk: { kty: 'EC', x: p256.x, y: p256.y } },
    { name: 'X25519 key', jwk: { ...ed25519, crv: 'X25519' } },
    { name: 'Ed448 key', jwk: { ...ed25519, crv: 'Ed448' } },
    { name: 'use for encryption', jwk: { ...rsa, use: 'enc' } },
    { name: 'key_ops without verify', jwk: { ...rsa, key_ops: ['sign', 'encrypt'] } },
    { name: 'empty key_ops', jwk: { ...rsa, key_ops: [] } },
    { name: 'key_ops that is no list', jwk: { ...rsa, key_ops: 'verify' } },
    { name: 'alg of another kind of key', jwk: { ...rsa, alg: 'ES256' } },
    { name: 'alg of another curve', jwk: { ...p256, alg: 'ES384' } },
    { name: 'alg for encryption', jwk: { ...rsa, alg: 'RSA-OAEP' } },
    { name: 'alg in lower case', jwk: { ...rsa, alg: 'rs512' } },
    { name: 'alg that is no text', jwk: { ...rsa, alg: ['RS512'] } },
    { name: 'symmetric alg', jwk: { ...rsa, alg: 'HS256' } },
    { name: 'x left out', jwk: { kty: 'EC', crv: 'P-256', y: p256.y } },
    { name: 'y left out', jwk: { kty: 'EC', crv: 'P-256', x: p256.x } },
    { name: 'x with an octet too many', jwk: { ...p256, x: zeroPadded(p256.x) } },
    { name: 'y with an octet too many', jwk: { ...p256, y: zeroPadded(p256.y) } },
    { name: 'x of any length', jwk: { ...p256, x: zeroPadded(p256.x, 1000) } },
    { name: 'x of 31 octets', jwk: { ...p256, x: base64url(decoded(p256.x).subarray(1)) } },
    { name: 'y with stray bits', jwk: { ...p256, y: withStrayBits(p256.y) } },
    { name: 'point beside its curve', jwk: { ...p256, y: incremented(p256.y) } },
    { name: 'point of two keys', jwk: { ...p384, y: ecJwk('P-384').y } },
    { name: 'point at the origin', jwk: { ...p256, x: 'A'.repeat(43), y: 'A'.repeat(43) } },
    { name: 'coordinate above the prime', jwk: { ...p521, x: beyondPrime(p521.x) } },
    { name: 'Ed25519 key left out', jwk: { kty: 'OKP', crv: 'Ed25519' } },
    { name: 'Ed25519 key of 33 octets', jwk: { ...ed25519, x: zeroPadded(ed25519.x) } },
    { name: 'Ed25519 key of 31 octets', jwk: { ...ed25519, x: base64url(modulus(248)) } },
    { name: 'Ed25519 key with stray bits', jwk: { ...ed25519, x: withStrayBits(ed25519.x) } },
  ])('not used, and hiding no other: $name', ({ jwk }) => {
    expect(readKeyDocument(jwk)?.keys).toEqual([])
    const set = keysOf({
      keys: [
        { ...jwk, kid: 'bad' },
        { ...p521, kid: 'good' },
      ],
    })
    expect(set.map(({ kid }) => kid)).toEqual(['good'])
  })

  test.each([
    { name: 'n with padding', jwk: { ...rsa, n: `${rsa.n}==` }, same: rsa },
    { name: 'e with padding', jwk: { ...rsa, e: 'AQAB==' }, same: rsa },
    { name: 'n in plain base64', jwk: { ...rsa, n: plain(rsa.n) }, same: rsa },
    { name: 'n in plain base64 less its padding', jwk: { ...rsa, n: plain(rsa.n, '') }, same: rsa },
    {
      name: 'n in plain base64, of which both other characters are needed',
      jwk: { ...rsa, n: plain(base64url(Buffer.alloc(256, 0xfb))) },
      same: { ...rsa, n: base64url(Buffer.alloc(256, 0xfb)) },
    },
    {
      name: 'the longest n in plain base64',
      jwk: { ...rsa, n: plain(base64url(modulus(8192))) },
      same: { ...rsa, n: base64url(modulus(8192)) },
    },
    {
      name: 'x and y with padding',
      jwk: { ...p256, x: `${p256.x}=`, y: `${p256.y}=` },
      same: p256,
    },
    {
      name: 'x and y in plain base64',
      jwk: { ...p521, x: plain(p521.x), y: plain(p521.y) },
      same: p521,
    },
    {
      name: 'x of Ed25519 with more padding than it takes',
      jwk: { ...ed25519, x: `${ed25519.x}==` },
      same: ed25519,
    },
    { name: 'x of Ed25519 with padding', jwk: { ...ed25519, x: `${ed25519.x}=` }, same: ed25519 },
    {
      name: 'members of null',
      jwk: nulls(rsa, ['use', 'key_ops', 'alg', 'kid', 'crv', 'x', 'y', 'd', 'x5c']),
      same: rsa,
    },
  ])('read as the same key, of the same thumbprint: $name', async ({ jwk, same }) => {
    expect(algorithmsOf(jwk)).toEqual(algorithmsOf(same))
    expect(thumbprintsOf(jwk)).toEqual([await calculateJwkThumbprint(same)])
    expect(keysOf(jwk)).toMatchObject([{ kid: undefined }])
  })

  test.each([
    { name: 'a 2048-bit modulus', jwk: { ...rsa, n: base64url(modulus(2048)) } },
    { name: 'a modulus of an odd number of bits', jwk: { ...rsa, n: base64url(modulus(2049)) } },
    { name: 'an 8192-bit modulus', jwk: { ...rsa, n: base64url(modulus(8192)) } },
    { name: 'e = 3', jwk: { ...rsa, e: 'Aw' } },
    { name: 'e = 2 to the 32nd less 1', jwk: { ...rsa, e: base64url([255, 255, 255, 255]) } },
    { name: 'a crv, which means nothing beside a modulus', jwk: { ...rsa, crv: 'P-256' } },
    { name: 'use for signatures', jwk: { ...rsa, use: 'sig' } },
    { name: 'key_ops with verify', jwk: { ...rsa, key_ops: ['sign', 'verify'] } },
    {
      name: 'members that nobody knows',
      jwk: { ...rsa, x5t: 'AA', x5u: 'https://evil.test', 'urn:1': {} },
    },
  ])('used: $name', async ({ jwk }) => {
    expect(algorithmsOf(jwk)).toEqual(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'])
    expect(thumbprintsOf(jwk)).toEqual([await calculateJwkThumbprint(jwk)])
  })

  test.each([
    { name: 'a zero octet before n', jwk: { ...rsa, n: zeroPadded(rsa.n) } },
    { name: 'a zero octet before e', jwk: { ...rsa, e: zeroPadded(rsa.e) } },
    { name: 'three zero octets before e', jwk: { ...rsa, e: zeroPadded(rsa.e, 3) } },
  ])('$name changes neither the key nor its thumbprint', async ({ jwk }) => {
    expect(thumbprintsOf(jwk)).toEqual([await calculateJwkThumbprint(rsa)])
    expect(keysOf(jwk)[0]?.prepared.get('RS512')?.signatureLength).toBe(256)
  })

  test.each([
    { name: 'a text', kid: 'key-1', read: 'key-1' },
    { name: 'an empty text', kid: '', read: '' },
    { name: 'a number', kid: 1, read: undefined },
    { name: 'null', kid: null, read: undefined },
    { name: 'an object', kid: { toString: () => 'key-1' }, read: undefined },
  ])('a kid that is $name leaves the key usable', ({ kid, read }) => {
    expect(keysOf({ ...rsa, kid })).toMatchObject([{ kid: read }])
  })

  test.each([
    {
      name: 'an RSA key pair',
      jwk: rsaPair.privateKey.export({ format: 'jwk' }),
      members: ['kty', 'n', 'e'],
    },
    {
      name: 'an EC key pair',
      jwk: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }),
      members: ['kty', 'crv', 'x', 'y'],
    },
    {
      name: 'an Ed25519 key pair',
      jwk: generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }),
      members: ['kty', 'crv', 'x'],
    },
  ])('of $name only the public half is used', ({ jwk, members }) => {
    const [published] = keysOf(jwk)
    const keys = [...(published?.prepared.values() ?? [])].map(({ input }) => input.key)
    expect(keys.length).toBeGreaterThan(0)
    for (const key of keys) {
      expect(key.type).toBe('public')
      expect(Object.keys(key.export({ format: 'jwk' })).toSorted()).toEqual(members.toSorted())
    }
  })

  test('private members are not even read', async () => {
    const jwk = { ...rsa, d: '!', p: 1, q: null, dp: 'AA', dq: {}, qi: '', oth: [{}] }
    expect(thumbprintsOf(jwk)).toEqual([await calculateJwkThumbprint(rsa)])
  })
})

describe('points of Ed25519 with which anybody can sign', () => {
  const prime = 2n ** 255n - 19n
  const d = modular(-121665n * inverse(121666n))
  // Doubled, a point of order 8 has y = 0, and that doubled is the point of order 2: d y^4 + 2 y^2 = 1 on this curve.
  const order8 = BigInt('0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7')

  test('the points of order 8 are what they should be', () => {
    for (const y of [order8, prime - order8]) {
      expect(modular(d * y ** 4n + 2n * y ** 2n)).toBe(1n)
    }
  })

  test.each([
    { name: 'order 1', y: 1n },
    { name: 'order 2', y: prime - 1n },
    { name: 'order 4', y: 0n },
    { name: 'order 8', y: order8 },
    { name: 'order 8, the other', y: prime - order8 },
    { name: 'order 4, spelt as the prime', y: prime },
    { name: 'order 1, spelt above the prime', y: prime + 1n },
    { name: 'the largest spelling', y: 2n ** 255n - 1n },
  ])('$name: not used, with either sign', ({ y }) => {
    for (const sign of [0n, 2n ** 255n]) {
      const x = littleEndian(y + sign)
      expect(keysOf({ kty: 'OKP', crv: 'Ed25519', x })).toEqual([])
    }
  })

  test.each([2n, prime - 2n, order8 + 1n, (0x7fn << 248n) + 0xedn])('y = %d is used', (y) => {
    expect(keysOf({ kty: 'OKP', crv: 'Ed25519', x: littleEndian(y) })).toHaveLength(1)
  })

  function modular(value: bigint): bigint {
    return ((value % prime) + prime) % prime
  }

  function inverse(value: bigint): bigint {
    let [result, base, exponent] = [1n, value, prime - 2n]
    for (; exponent > 0n; exponent >>= 1n) {
      if (exponent & 1n) result = modular(result * base)
      base = modular(base * base)
    }
    return result
  }
})

/** Every kind of key, with all that it is for. */
const kinds: readonly Kind[] = [
  {
    name: 'RSA',
    jwk: rsa,
    algorithms: ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
    length: 256,
  },
  { name: 'P-256', jwk: p256, algorithms: ['ES256'], length: 64 },
  { name: 'P-384', jwk: p384, algorithms: ['ES384'], length: 96 },
  { name: 'P-521', jwk: p521, algorithms: ['ES512'], length: 132 },
  { name: 'Ed25519', jwk: ed25519, algorithms: ['EdDSA', 'Ed25519'], length: 64 },
  { name: 'ML-DSA-44', jwk: mlDsa[0] ?? {}, algorithms: ['ML-DSA-44'], length: 2420 },
  { name: 'ML-DSA-65', jwk: mlDsa[1] ?? {}, algorithms: ['ML-DSA-65'], length: 3309 },
  { name: 'ML-DSA-87', jwk: mlDsa[2] ?? {}, algorithms: ['ML-DSA-87'], length: 4627 },
]

interface Kind {
  readonly name: string
  readonly jwk: JsonWebKey
  readonly algorithms: readonly Algorithm[]
  /** Octets of a signature. */
  readonly length: number
}

describe('what a key may verify', () => {
  test('`kinds` has a key for every algorithm', () => {
    expect(kinds.flatMap(({ algorithms }) => algorithms)).toEqual([...ALGORITHMS.keys()])
  })

  test.each(kinds)(
    '$name: $algorithms, with signatures of $length octets',
    ({ jwk, algorithms, length }) => {
      expect(algorithmsOf(jwk)).toEqual(algorithms)
      const prepared = [...(keysOf(jwk)[0]?.prepared.values() ?? [])]
      expect(prepared.map(({ signatureLength }) => signatureLength)).toEqual(
        algorithms.map(() => length),
      )
    },
  )

  test('an RSA signature is as long as the modulus, rounded up to octets', () => {
    const [key] = keysOf({ ...rsa, n: base64url(modulus(2049)) })
    expect(key?.prepared.get('RS512')?.signatureLength).toBe(257)
  })

  test.each(kinds.flatMap(({ jwk, algorithms }) => algorithms.map((alg) => ({ alg, jwk }))))(
    'a key that states $alg verifies nothing else, by whatever name',
    ({ alg, jwk }) => {
      const names = jwk.kty === 'OKP' ? ['EdDSA', 'Ed25519'] : [alg]
      expect(algorithmsOf({ ...jwk, alg })).toEqual(names)
      expect(keysOf({ ...jwk, alg })[0]?.stated).toBe(alg)
    },
  )

  test('what it states is kept by the name in the table, and nothing where it states none', () => {
    const names = new Map([['RSA256', 'RS256']] as const)
    expect(readJwk({ ...rsa, alg: 'RSA256' }, { algorithmNames: names })).toMatchObject({
      stated: 'RS256',
    })
    for (const alg of [undefined, null]) {
      expect(readJwk({ ...rsa, alg }, { algorithmNames: names })).toMatchObject({
        stated: undefined,
      })
      expect(readJwk({ ...ed25519, alg }, { algorithmNames: names })).toMatchObject({
        stated: undefined,
      })
    }
  })

  test.each([
    { alg: 'PS256' as const, saltLength: 32 },
    { alg: 'PS384' as const, saltLength: 48 },
    { alg: 'PS512' as const, saltLength: 64 },
  ])('$alg: the salt is stated to be $saltLength octets', ({ alg, saltLength }) => {
    expect(keysOf(rsa)[0]?.prepared.get(alg)?.input).toMatchObject({ saltLength })
  })

  test.each(['RS256', 'RS384', 'RS512'] as const)('%s: the key alone means PKCS #1', (alg) => {
    const input = keysOf(rsa)[0]?.prepared.get(alg)?.input ?? {}
    expect(Object.keys(input)).toEqual(['key'])
    expect(Object.getPrototypeOf(input)).toBeNull()
  })
})

describe('why an entry cannot be used', () => {
  const secret = 'a-secret-that-somebody-put-there'
  const rsaNames = 'RS256 or RS384 or RS512 or PS256 or PS384 or PS512'

  test.each<[reason: string, jwk: object]>([
    ['kty is missing', {}],
    ['kty is missing', { ...rsa, kty: null }],
    ['kty (oct) is not RSA or EC or OKP or AKP', { kty: 'oct', k: secret }],
    ['kty is not RSA or EC or OKP or AKP', { kty: secret }],
    ['kty is not a text', { ...rsa, kty: ['RSA'] }],
    ['crv is missing', { ...p256, crv: undefined }],
    ['crv (secp256k1) is not P-256 or P-384 or P-521', { ...p256, crv: 'secp256k1' }],
    ['crv (X25519) is not Ed25519', { ...ed25519, crv: 'X25519' }],
    ['use (enc) is not sig', { ...rsa, use: 'enc' }],
    ['use is not sig', { ...rsa, use: secret }],
    [
      'n is missing; x5c is not read: a certificate is no key, and nobody would check its chain',
      { kty: 'RSA', x5c: ['MIIB'] },
    ],
    ['key_ops does not contain verify', { ...rsa, key_ops: ['sign'] }],
    ['key_ops does not contain verify', { ...rsa, key_ops: [] }],
    ['key_ops is not a list of different strings', { ...rsa, key_ops: 'verify' }],
    ['key_ops is not a list of different strings', { ...rsa, key_ops: ['verify', 'verify'] }],
    ['key_ops is not a list of different strings', { ...rsa, key_ops: ['verify', 'sign', 'sign'] }],
    ['key_ops is not a list of different strings', { ...rsa, key_ops: ['verify', 1] }],
    ['key_ops is not a list of different strings', { ...rsa, key_ops: ['verify', null] }],
    [`alg (ES256) is not ${rsaNames}`, { ...rsa, alg: 'ES256' }],
    [`alg (none) is not ${rsaNames}`, { ...rsa, alg: 'none' }],
    [`alg is not ${rsaNames}`, { ...rsa, alg: secret }],
    [
      `alg (RSA512) is not ${rsaNames}, unless algorithmNames is { "RSA512": "RS512" }`,
      { ...rsa, alg: 'RSA512' },
    ],
    ['alg (RS256) is not ES256', { ...p256, alg: 'RS256' }],
    ['alg is missing', { ...mlDsa44, alg: undefined }],
    ['alg (SLH-DSA) is not ML-DSA-44 or ML-DSA-65 or ML-DSA-87', { ...mlDsa44, alg: 'SLH-DSA' }],
    ['pub is missing', { ...mlDsa44, pub: undefined }],
    ['pub is not 1312 bytes of base64url', { ...mlDsa44, pub: mlDsa[1]?.['pub'] }],
    ['pub is not 1952 bytes of base64url', { ...mlDsa44, alg: 'ML-DSA-65' }],
    ['n is missing', { ...rsa, n: undefined }],
    ['n is missing', { ...rsa, n: null }],
    ['n is not a text', { ...rsa, n: 3 }],
    ['n is not base64url', { ...rsa, n: `${rsa.n}\n` }],
    ['n is even', { ...rsa, n: incremented(rsa.n) }],
    ['n has fewer than 2048 bits: 1024', { ...rsa, n: base64url(modulus(1024)) }],
    ['n has fewer than 2048 bits: 2047', { ...rsa, n: base64url(modulus(2047)) }],
    ['n has more than 8192 bits', { ...rsa, n: base64url(modulus(8193)) }],
    ['n has more than 8192 bits', { ...rsa, n: zeroPadded(rsa.n, 2000) }],
    ['e is missing', { ...rsa, e: undefined }],
    ['e is even', { ...rsa, e: 'AQAA' }],
    ['e is less than 3', { ...rsa, e: 'AQ' }],
    ['e has more than 32 bits', { ...rsa, e: base64url([1, 0, 0, 0, 1]) }],
    ['x is missing', { ...p256, x: undefined }],
    ['y is missing', { ...p256, y: undefined }],
    ['x is not 32 bytes of base64url', { ...p256, x: zeroPadded(p256.x) }],
    ['y is not 66 bytes of base64url', { ...p521, y: true }],
    ['its numbers are no key of that kind', { ...p256, y: incremented(p256.y) }],
    ['x is a point with which anybody can sign', { ...ed25519, x: base64url(Buffer.alloc(32)) }],
  ])('%s', (reason, jwk) => {
    expect(reasonOf(jwk)).toBe(reason)
    expect(reason).not.toContain(secret)
  })
})

describe('other names of algorithms', () => {
  const names = new Map([['RSA512', 'RS512']] as const)

  test('a key that states one is for the algorithm that it means, and for no other', () => {
    const jwk = { ...rsa, alg: 'RSA512' }
    expect(keysOf(jwk)).toEqual([])
    const [key] = readKeyDocument(jwk, { algorithmNames: names })?.keys ?? []
    expect([...(key?.prepared.keys() ?? [])]).toEqual(['RS512'])
  })

  test.each(['RSA256', 'rsa512', 'RSA512 ', 'toString', '__proto__'])(
    'a key that states %j, which is not among them, is not used',
    (alg) => {
      expect(readKeyDocument({ ...rsa, alg }, { algorithmNames: names })?.keys).toEqual([])
    },
  )

  test('they change nothing about a key of another kind', () => {
    expect(reasonOf({ ...p256, alg: 'RSA512' }, names)).toContain('alg (RSA512) is not ES256')
  })
})

describe('the identity', () => {
  test('the thumbprint of RFC 7638 section 3.1', () => {
    const thumbprint = 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs'
    expect(keysOf(RFC7638_JWK)).toMatchObject([{ thumbprint, kid: '2011-04-29' }])
  })

  test.each(kinds)(
    'the thumbprint of a key of $name is the one that jose calculates',
    async ({ jwk }) => {
      expect(thumbprintsOf({ ...jwk, kid: 'ignored', use: 'sig' })).toEqual([
        await calculateJwkThumbprint(jwk),
      ])
    },
  )

  test('keys keep the order of the document', async () => {
    expect(thumbprintsOf({ keys: [p521, rsa, ed25519] })).toEqual([
      await calculateJwkThumbprint(p521),
      await calculateJwkThumbprint(rsa),
      await calculateJwkThumbprint(ed25519),
    ])
  })
})

function littleEndian(value: bigint): string {
  const octets = Buffer.from(value.toString(16).padStart(64, '0'), 'hex').toReversed()
  return Buffer.from(octets).toString('base64url')
}

const isThere = () => true
const isNotThere = () => false

describe('a key of ML-DSA', () => {
  test('the thumbprint of the example in RFC 9964, whose seed is zeros', () => {
    // A private key of PKCS #8 that is nothing but its seed (RFC 9881 section 6).
    const start = Buffer.from('3034020100300b060960864801650304031104228020', 'hex')
    const key = Buffer.concat([start, Buffer.alloc(32)])
    const secret = createPrivateKey({ key, format: 'der', type: 'pkcs8' })
    const jwk = createPublicKey(secret).export({ format: 'jwk' })
    expect(thumbprintsOf(jwk)).toEqual(['T4xl70S7MT6Zeq6r9V9fPJGVn76wfnXJ21-gyo0Gu6o'])
  })

  test('where the platform has no ML-DSA: says so, and hides no other key', () => {
    expect(readJwk({ ...mlDsa44 }, undefined, isNotThere)).toBe(
      'alg (ML-DSA-44) needs a platform whose node:crypto has ML-DSA, such as Node 24.6 or later, and this one has not',
    )
    expect(readJwk({ ...ed25519 }, undefined, isNotThere)).toMatchObject({ kid: undefined })
  })

  test('keeps no private member', () => {
    const jwk = { ...mlDsa44, priv: base64url(Buffer.alloc(32)) }
    expect(readJwk(jwk, undefined, isThere)).toMatchObject({
      publicJwk: { alg: 'ML-DSA-44', kty: 'AKP', pub: mlDsa44['pub'] },
    })
    expect(JSON.stringify(readJwk(jwk, undefined, isThere))).not.toContain('priv')
  })

  test('another name of its algorithm changes nothing about its identity', () => {
    const names: AlgorithmNames = new Map([['MLDSA44', 'ML-DSA-44']])
    const key = readJwk({ ...mlDsa44, alg: 'MLDSA44' }, { algorithmNames: names }, isThere)
    expect(key).toMatchObject({ thumbprint: thumbprintsOf(mlDsa44)[0] })
  })
})

describe('what a member must be where an entry states it', () => {
  const rules = statedRulesOf({ cloud: 'one', issuer: ['b', 'a'] })

  test.each<[entry: object, reason: string | undefined]>([
    [{}, undefined],
    [{ cloud: 'one' }, undefined],
    [{ cloud: 'one', issuer: 'a' }, undefined],
    [{ issuer: 'b' }, undefined],
    [{ cloud: null }, undefined],
    [{ cloud: 'two' }, 'cloud (two) is not one'],
    [{ cloud: 'One' }, 'cloud (One) is not one'],
    [{ cloud: '' }, 'cloud is not one'],
    [{ cloud: ['one'] }, 'cloud is not one'],
    [{ cloud: 7 }, 'cloud is not one'],
    [{ cloud: 'one', issuer: 'c' }, 'issuer (c) is not a or b'],
    [{ issuer: 'https://somebody.example' }, 'issuer is not a or b'],
    [Object.create({ cloud: 'two' }) as object, undefined],
  ])('%j: %s', (entry, reason) => {
    const read = readKeyDocument({ keys: [{ ...p256, ...entry }] }, { ifStated: rules })
    expect(read?.skipped.entries.map((each) => each.reason)).toEqual(
      reason === undefined ? [] : [reason],
    )
  })

  test('a rule that pollutes Object.prototype is none', () => {
    const inherited = Object.create({ ifStated: rules }) as object
    expect(readKeyDocument({ keys: [{ ...p256, cloud: 'two' }] }, inherited)?.keys).toHaveLength(1)
  })

  test.each([['one'], [null], [{ cloud: 7 }], [{ cloud: [] }], [{ cloud: '' }], [['cloud']]])(
    'is a mistake at start-up: %j',
    (ifStated) => {
      const options = { ifStated } as object
      const complaint = 'ifStated must be an object with the value of each member'
      expect(() => localKeys(p256 as JWK, options)).toThrow(complaint)
      expect(() => remoteKeys('https://id.example/keys', options)).toThrow(complaint)
    },
  )

  test('counts for keys of the program as well', () => {
    const jwk = { ...p256, cloud: 'two' } as JWK
    expect(() => localKeys(jwk, { ifStated: { cloud: 'one' } })).toThrow('cloud (two) is not one')
    expect(() => localKeys(jwk, { ifStated: { cloud: ['one', 'two'] } })).not.toThrow()
  })
})

describe('with the use jwt-svid', () => {
  test.each<[use: unknown, reason: string | undefined]>([
    ['jwt-svid', undefined],
    ['x509-svid', 'use (x509-svid) is not jwt-svid'],
    ['sig', 'use (sig) is not jwt-svid'],
    ['enc', 'use (enc) is not jwt-svid'],
    ['JWT-SVID', 'use (JWT-SVID) is not jwt-svid'],
    [['jwt-svid'], 'use is not jwt-svid'],
    ['', 'use is not jwt-svid'],
    [null, 'use is missing'],
    [undefined, 'use is missing'],
  ])('a key whose use is %j: %s', (use, reason) => {
    const read = readKeyDocument({ keys: [{ ...p256, use }] }, { use: 'jwt-svid' })
    expect(read?.skipped.entries.map((each) => each.reason)).toEqual(
      reason === undefined ? [] : [reason],
    )
    expect(read?.keys.map((each) => each.use)).toEqual(reason === undefined ? ['jwt-svid'] : [])
  })

  test('a key of that use is none for a source that does not state it', () => {
    expect(reasonOf({ ...p256, use: 'jwt-svid' })).toBe('use (jwt-svid) is not sig')
  })

  test('a use that pollutes Object.prototype is neither stated nor of a key', () => {
    const use = Object.create({ use: 'jwt-svid' }) as object
    expect(readKeyDocument({ keys: [{ ...p256, use: 'jwt-svid' }] }, use)?.keys).toEqual([])
    const key = Object.assign(Object.create({ use: 'jwt-svid' }) as object, p256)
    expect(readKeyDocument({ keys: [key] }, { use: 'jwt-svid' })?.keys).toEqual([])
  })
})

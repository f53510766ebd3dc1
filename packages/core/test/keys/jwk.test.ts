import { generateKeyPairSync, KeyObject } from 'node:crypto'

import { calculateJwkThumbprint } from 'jose'
import { describe, expect, test } from 'vitest'

import { readKeyDocument } from '../../src/keys/jwk.ts'

const rsaPair = generateKeyPairSync('rsa', { modulusLength: 2048 })
const rsa = rsaPair.publicKey.export({ format: 'jwk' })
const p256 = ecJwk('P-256')
const p384 = ecJwk('P-384')
const p521 = ecJwk('P-521')
const ed25519 = edJwk()

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

function algorithmsOf(jwk: object): string[] {
  return keysOf(jwk).flatMap(({ prepared }) => Array.from(prepared.keys()))
}

function thumbprintsOf(document: unknown): string[] {
  return keysOf(document).map(({ thumbprint }) => thumbprint)
}

describe('the document', () => {
  test('one JWK is bare', () => {
    expect(readKeyDocument(rsa)).toMatchObject({ bare: true, keys: [{ kid: undefined }] })
  })

  test('a JWK set is not bare, with however few keys', () => {
    expect(readKeyDocument({ keys: [rsa] })).toMatchObject({ bare: false, keys: [{}] })
    expect(readKeyDocument({ keys: [] })).toEqual({ bare: false, keys: [], skipped: 0 })
  })

  test('`keys` goes before `kty`', () => {
    const document = readKeyDocument({ ...rsa, keys: [{ ...p256, kid: 'in the set' }] })
    expect(document).toMatchObject({ bare: false, keys: [{ kid: 'in the set' }] })
  })

  test('a JWK with a member `keys` that is no list is still a JWK', () => {
    expect(readKeyDocument({ ...rsa, keys: 'none' })).toMatchObject({ bare: true, keys: [{}] })
  })

  test('a JWK of an unknown kind is a document without a usable key', () => {
    expect(readKeyDocument({ kty: 'AKP' })).toEqual({ bare: true, keys: [], skipped: 1 })
  })

  test.each([
    { name: 'nothing', document: undefined },
    { name: 'null', document: null },
    { name: 'a text', document: JSON.stringify(rsa) },
    { name: 'a number', document: 1 },
    { name: 'a list of keys', document: [rsa] },
    { name: 'an empty object', document: {} },
    { name: 'a set whose `keys` is an object', document: { keys: { first: rsa } } },
    { name: 'a `kty` that is not a text', document: { ...rsa, kty: 1 } },
    { name: 'an inherited `kty`', document: Object.create(rsa) as unknown },
    { name: 'inherited `keys`', document: Object.create({ keys: [rsa] }) as unknown },
  ])('$name is neither a JWK nor a set', ({ document }) => {
    expect(readKeyDocument(document)).toBeUndefined()
  })

  test('junk entries hide no key beside them', async () => {
    const junk = [null, undefined, 1, 'key', true, [], [rsa], {}, { kty: null }, { kty: 'RSA' }]
    const document = { keys: [...junk, rsa, ...junk, p256] }
    expect(thumbprintsOf(document)).toEqual([
      await calculateJwkThumbprint(rsa),
      await calculateJwkThumbprint(p256),
    ])
  })

  test('members that only a prototype has are not the key`s', () => {
    const [n, inherited] = [{ n: rsa.n }, { kty: rsa.kty, e: rsa.e }]
    expect(keysOf({ keys: [Object.assign(Object.create(n), inherited)] })).toEqual([])
  })

  test('at most 100 keys are read, unusable ones not counted', () => {
    const keys = Array.from({ length: 102 }, (_, at) => ({ ...edJwk(), kid: String(at) }))
    const document = readKeyDocument({ keys: [{}, ...keys] })
    expect(document?.keys).toHaveLength(100)
    expect(document?.keys.at(-1)?.kid).toBe('99')
    expect(document?.skipped).toBe(3)
  })

  test.each([
    { name: 'none', entries: [rsa, p256], skipped: 0 },
    { name: 'junk', entries: [null, rsa, 'key'], skipped: 2 },
    { name: 'a key for encryption', entries: [{ ...rsa, use: 'enc' }, p256], skipped: 1 },
    { name: 'all', entries: [{}, {}], skipped: 2 },
  ])('how many entries are skipped is told: $name', ({ entries, skipped }) => {
    expect(readKeyDocument({ keys: entries })?.skipped).toBe(skipped)
  })

  test('two entries with one modulus are both read, each for its own algorithm', async () => {
    const keys = [
      { ...rsa, kid: 'a', alg: 'RS256' },
      { ...rsa, kid: 'b', alg: 'PS512' },
    ]
    const read = keysOf({ keys })
    expect(read.map(({ kid, prepared }) => [kid, [...prepared.keys()]])).toEqual([
      ['a', ['RS256']],
      ['b', ['PS512']],
    ])
    const thumbprint = await calculateJwkThumbprint(rsa)
    expect(thumbprintsOf({ keys })).toEqual([thumbprint, thumbprint])
  })
})

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
    { name: 'modulus with padding', jwk: { ...rsa, n: `${rsa.n}==` } },
    { name: 'modulus with white space', jwk: { ...rsa, n: `${rsa.n}\n` } },
    { name: 'modulus in base64', jwk: { ...rsa, n: `+/${rsa.n?.slice(2)}` } },
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
    { name: 'e with padding', jwk: { ...rsa, e: 'AQAB=' } },
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
    { name: 'use of null', jwk: { ...rsa, use: null } },
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
    { name: 'x with padding', jwk: { ...p256, x: `${p256.x}=` } },
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
    const keys = [...(published?.prepared.values() ?? [])].map(({ input }) =>
      input instanceof KeyObject ? input : input.key,
    )
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

describe('what a key may verify', () => {
  test.each([
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
  ])('$name: $algorithms, with signatures of $length octets', ({ jwk, algorithms, length }) => {
    expect(algorithmsOf(jwk)).toEqual(algorithms)
    const prepared = [...(keysOf(jwk)[0]?.prepared.values() ?? [])]
    expect(prepared.map(({ signatureLength }) => signatureLength)).toEqual(
      algorithms.map(() => length),
    )
  })

  test('an RSA signature is as long as the modulus, rounded up to octets', () => {
    const [key] = keysOf({ ...rsa, n: base64url(modulus(2049)) })
    expect(key?.prepared.get('RS512')?.signatureLength).toBe(257)
  })

  test.each([
    ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'].map((alg) => ({ alg, jwk: rsa })),
    { alg: 'ES256', jwk: p256 },
    { alg: 'ES384', jwk: p384 },
    { alg: 'ES512', jwk: p521 },
    { alg: 'EdDSA', jwk: ed25519 },
    { alg: 'Ed25519', jwk: ed25519 },
  ])('a key that states $alg verifies nothing else', ({ alg, jwk }) => {
    expect(algorithmsOf({ ...jwk, alg })).toEqual([alg])
  })

  test.each([
    { alg: 'PS256' as const, saltLength: 32 },
    { alg: 'PS384' as const, saltLength: 48 },
    { alg: 'PS512' as const, saltLength: 64 },
  ])('$alg: the salt is stated to be $saltLength octets', ({ alg, saltLength }) => {
    expect(keysOf(rsa)[0]?.prepared.get(alg)?.input).toMatchObject({ saltLength })
  })

  test.each(['RS256', 'RS384', 'RS512'] as const)('%s: the key alone means PKCS #1', (alg) => {
    expect(keysOf(rsa)[0]?.prepared.get(alg)?.input).toBeInstanceOf(KeyObject)
  })
})

describe('the identity', () => {
  test('the thumbprint of RFC 7638 section 3.1', () => {
    const thumbprint = 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs'
    expect(keysOf(RFC7638_JWK)).toMatchObject([{ thumbprint, kid: '2011-04-29' }])
  })

  test.each([
    { name: 'RSA', jwk: rsa },
    { name: 'P-256', jwk: p256 },
    { name: 'P-384', jwk: p384 },
    { name: 'P-521', jwk: p521 },
    { name: 'Ed25519', jwk: ed25519 },
  ])('the thumbprint of a key of $name is the one that jose calculates', async ({ jwk }) => {
    expect(thumbprintsOf({ ...jwk, kid: 'ignored', use: 'sig' })).toEqual([
      await calculateJwkThumbprint(jwk),
    ])
  })

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

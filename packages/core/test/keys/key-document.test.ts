import { generateKeyPairSync } from 'node:crypto'

import { calculateJwkThumbprint } from 'jose'
import { describe, expect, test } from 'vitest'

import { explained, readKeyDocument, readUsableKeys } from '../../src/keys/key-document.ts'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' })
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' })
const offCurve = { ...p256, y: p256.x }
const unusable = Array.from({ length: 499 }, () => offCurve)

function edJwk() {
  return generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
}

function keysOf(document: unknown) {
  return readKeyDocument(document)?.keys ?? []
}

function thumbprintsOf(document: unknown): string[] {
  return keysOf(document).map(({ thumbprint }) => thumbprint)
}

function skippedOf(document: unknown) {
  return readKeyDocument(document)?.skipped
}

describe('the document', () => {
  test('one JWK is bare', () => {
    expect(readKeyDocument(rsa)).toMatchObject({ bare: true, keys: [{ kid: undefined }] })
  })

  test('a JWK set is not bare, with however few keys', () => {
    expect(readKeyDocument({ keys: [rsa] })).toMatchObject({ bare: false, keys: [{}] })
    expect(readKeyDocument({ keys: [] })).toEqual({
      bare: false,
      keys: [],
      skipped: { count: 0, entries: [] },
    })
  })

  test('`keys` goes before `kty`', () => {
    const document = readKeyDocument({ ...rsa, keys: [{ ...p256, kid: 'in the set' }] })
    expect(document).toMatchObject({ bare: false, keys: [{ kid: 'in the set' }] })
  })

  test('a JWK with a member `keys` that is no list is still a JWK', () => {
    expect(readKeyDocument({ ...rsa, keys: 'none' })).toMatchObject({ bare: true, keys: [{}] })
  })

  test('a JWK of an unknown kind is a document without a usable key', () => {
    expect(readKeyDocument({ kty: 'AKP' })).toMatchObject({
      bare: true,
      keys: [],
      skipped: { count: 1 },
    })
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
    expect(document?.skipped.count).toBe(3)
  })

  test.each([
    { name: 'none', entries: [rsa, p256], skipped: 0 },
    { name: 'junk', entries: [null, rsa, 'key'], skipped: 2 },
    { name: 'a key for encryption', entries: [{ ...rsa, use: 'enc' }, p256], skipped: 1 },
    { name: 'all', entries: [{}, {}], skipped: 2 },
  ])('how many entries are skipped is told: $name', ({ entries, skipped }) => {
    expect(readKeyDocument({ keys: entries })?.skipped.count).toBe(skipped)
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

describe('the entries that are skipped', () => {
  test('each is told with its place, its kid and the reason', () => {
    const keys = [rsa, { ...rsa, kid: 'a', use: 'enc' }, null, { ...rsa, kid: 1, alg: 'none' }]
    expect(skippedOf({ keys })).toEqual({
      count: 3,
      entries: [
        { index: 1, kid: 'a', reason: 'use (enc) is not sig' },
        { index: 2, kid: undefined, reason: 'it is no object' },
        {
          index: 3,
          kid: undefined,
          reason: 'alg (none) is not RS256 or RS384 or RS512 or PS256 or PS384 or PS512',
        },
      ],
    })
  })

  test('a bare key is told as well', () => {
    expect(skippedOf({ ...rsa, kid: 'a', use: 'enc' })).toEqual({
      count: 1,
      entries: [{ index: 0, kid: 'a', reason: 'use (enc) is not sig' }],
    })
  })

  test('of a long kid 64 characters are kept, of a used key all', () => {
    const kid = 'k'.repeat(100_000)
    expect(skippedOf({ keys: [{ kid, kty: 'oct' }] })?.entries[0]?.kid).toBe('k'.repeat(64))
    expect(keysOf({ ...rsa, kid })[0]?.kid).toBe(kid)
  })

  test('a hundred are told, all are counted', () => {
    const skipped = skippedOf({ keys: [...Array.from({ length: 300 }, () => null), rsa] })
    expect(skipped?.count).toBe(300)
    expect(skipped?.entries).toHaveLength(100)
    expect(skipped?.entries.at(-1)?.index).toBe(99)
  })

  test('a key beyond the hundredth is told, and its kid', () => {
    const keys = Array.from({ length: 102 }, (_, at) => ({ ...edJwk(), kid: String(at) }))
    expect(skippedOf({ keys })).toEqual({
      count: 2,
      entries: ['100', '101'].map((kid) => ({
        index: Number(kid),
        kid,
        reason: 'it is beyond the first 100 keys',
      })),
    })
  })

  test('500 entries with a kty are looked at: a key behind 499 others counts, behind 500 it does not', () => {
    expect(keysOf({ keys: [...unusable, rsa] })).toHaveLength(1)
    const keys = [{ ...p256, kid: 'first' }, ...unusable, { ...rsa, kid: 'late' }]
    expect(readKeyDocument({ keys })).toMatchObject({
      keys: [{ kid: 'first' }],
      skipped: { count: 500 },
    })
  })

  test('an entry that is not looked at is told as such', () => {
    const keys = [...Array.from({ length: 99 }, () => rsa), ...unusable.slice(0, 50), rsa]
    expect(skippedOf({ keys: [...keys, ...unusable.slice(50, 401), rsa] })?.count).toBe(402)
    const late = { keys: [...Array.from({ length: 100 }, () => rsa), offCurve] }
    expect(skippedOf(late)?.entries[0]).toMatchObject({
      index: 100,
      reason: 'it is beyond the first 100 keys',
    })
  })

  test('entries without a kty hide no key, however many there are', () => {
    const junk = [1, null, {}, { kid: 'a' }, { kty: 7 }, 'key']
    const keys = [...Array.from({ length: 600 }, () => junk).flat(), rsa]
    expect(readKeyDocument({ keys })).toMatchObject({ keys: [{}], skipped: { count: 3600 } })
  })
})

describe('a document without a usable key', () => {
  test.each<[string, unknown, string]>([
    ['a bare key', { ...rsa, use: 'enc' }, ': use (enc) is not sig'],
    ['an empty set', { keys: [] }, ''],
    [
      'a set of one',
      { keys: [{ kty: 'oct' }] },
      ': entry 0: kty (oct) is not RSA or EC or OKP or AKP',
    ],
    [
      'a set of five',
      { keys: [{ ...rsa, e: 'AQ' }, null, offCurve, null, null] },
      ': entry 0: e is less than 3; entry 1: it is no object; entry 2: its numbers are no key of that kind; and 2 more',
    ],
  ])('%s is explained', (_title, document, words) => {
    const read = readKeyDocument(document)
    expect(read && explained('no key', read)).toBe(`no key${words}`)
  })
})

test('certificates in PEM, by the id of each key, are said to be no keys', () => {
  const pem = '-----BEGIN CERTIFICATE-----\nMIIB'
  expect(readUsableKeys({ one: pem }, {})).toBe(
    'the document is neither a JWK nor a JWK set: it has certificates or keys in PEM, which are not read',
  )
  expect(readUsableKeys({ one: 1 }, {})).toBe('the document is neither a JWK nor a JWK set')
})

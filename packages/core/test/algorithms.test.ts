import { describe, expect, test } from 'vitest'

import { type Algorithm, ALGORITHMS, costOfCheck, unknownKind } from '../src/algorithms.ts'

describe('the table', () => {
  test.each<{ name: Algorithm; rule: object }>([
    { name: 'RS256', rule: { kty: 'RSA', hash: 'sha256' } },
    { name: 'RS384', rule: { kty: 'RSA', hash: 'sha384' } },
    { name: 'RS512', rule: { kty: 'RSA', hash: 'sha512' } },
    {
      name: 'PS256',
      rule: { kty: 'RSA', hash: 'sha256', saltLength: 32 },
    },
    {
      name: 'PS384',
      rule: { kty: 'RSA', hash: 'sha384', saltLength: 48 },
    },
    {
      name: 'PS512',
      rule: { kty: 'RSA', hash: 'sha512', saltLength: 64 },
    },
    {
      name: 'ES256',
      rule: {
        kty: 'EC',
        crv: 'P-256',
        hash: 'sha256',
        coordinateLength: 32,
        signatureLength: 64,
        cost: 55,
      },
    },
    {
      name: 'ES384',
      rule: {
        kty: 'EC',
        crv: 'P-384',
        hash: 'sha384',
        coordinateLength: 48,
        signatureLength: 96,
        cost: 520,
      },
    },
    {
      name: 'ES512',
      rule: {
        kty: 'EC',
        crv: 'P-521',
        hash: 'sha512',
        coordinateLength: 66,
        signatureLength: 132,
        cost: 1150,
      },
    },
    {
      name: 'EdDSA',
      rule: {
        kty: 'OKP',
        crv: 'Ed25519',
        hash: null,
        coordinateLength: 32,
        signatureLength: 64,
        cost: 80,
      },
    },
    {
      name: 'Ed25519',
      rule: {
        kty: 'OKP',
        crv: 'Ed25519',
        hash: null,
        coordinateLength: 32,
        signatureLength: 64,
        cost: 80,
      },
    },
    {
      name: 'ML-DSA-44',
      rule: {
        kty: 'AKP',
        alg: 'ML-DSA-44',
        hash: null,
        keyLength: 1312,
        signatureLength: 2420,
        cost: 150,
      },
    },
    {
      name: 'ML-DSA-65',
      rule: {
        kty: 'AKP',
        alg: 'ML-DSA-65',
        hash: null,
        keyLength: 1952,
        signatureLength: 3309,
        cost: 270,
      },
    },
    {
      name: 'ML-DSA-87',
      rule: {
        kty: 'AKP',
        alg: 'ML-DSA-87',
        hash: null,
        keyLength: 2592,
        signatureLength: 4627,
        cost: 480,
      },
    },
  ])('$name fixes key, hash, padding and lengths', ({ name, rule }) => {
    expect(ALGORITHMS.get(name)).toStrictEqual(rule)
  })

  // Measured on Node 20 and 26: 20, 37, 62 and 225 to 230 for these keys of RSA.
  test.each([
    ['RS512', 256, 20],
    ['PS256', 256, 20],
    ['RS512', 384, 38.75],
    ['RS256', 512, 65],
    ['RS512', 1024, 245],
    ['ES256', 64, 55],
    ['ES512', 132, 1150],
    ['EdDSA', 64, 80],
    ['ML-DSA-65', 3309, 270],
  ] as const)('a signature of %s of %i octets costs %d', (algorithm, length, cost) => {
    expect(costOfCheck(algorithm, length)).toBe(cost)
  })

  test('has these fourteen names and no symmetric one', () => {
    expect([...ALGORITHMS.keys()].toSorted()).toEqual(
      [
        ['ES256', 'ES384', 'ES512', 'Ed25519', 'EdDSA'],
        ['ML-DSA-44', 'ML-DSA-65', 'ML-DSA-87'],
        ['PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512'],
      ].flat(),
    )
  })
})

test('a kind of key that has no case of its own is an error', () => {
  expect(() => unknownKind({ kty: 'oct' as never })).toThrow(
    new TypeError('unknown kind of key: oct'),
  )
})

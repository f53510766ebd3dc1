import { describe, expect, test } from 'vitest'

import {
  type Algorithm,
  type AlgorithmRule,
  ALGORITHMS,
  costOfCheck,
  isAlgorithm,
  isFor,
  isSameAlgorithm,
  purposesOf,
  unknownKind,
} from '../../src/algorithms/algorithms.ts'

/** Written out once more: what the standards say, and what was measured. */
const RULES: Readonly<Record<Algorithm, AlgorithmRule>> = {
  RS256: { kty: 'RSA', hash: 'sha256' },
  RS384: { kty: 'RSA', hash: 'sha384' },
  RS512: { kty: 'RSA', hash: 'sha512' },
  PS256: { kty: 'RSA', hash: 'sha256', saltLength: 32 },
  PS384: { kty: 'RSA', hash: 'sha384', saltLength: 48 },
  PS512: { kty: 'RSA', hash: 'sha512', saltLength: 64 },
  ES256: {
    kty: 'EC',
    crv: 'P-256',
    hash: 'sha256',
    coordinateLength: 32,
    signatureLength: 64,
    cost: 55,
  },
  ES384: {
    kty: 'EC',
    crv: 'P-384',
    hash: 'sha384',
    coordinateLength: 48,
    signatureLength: 96,
    cost: 520,
  },
  ES512: {
    kty: 'EC',
    crv: 'P-521',
    hash: 'sha512',
    coordinateLength: 66,
    signatureLength: 132,
    cost: 1150,
  },
  EdDSA: {
    kty: 'OKP',
    crv: 'Ed25519',
    hash: null,
    coordinateLength: 32,
    signatureLength: 64,
    cost: 80,
  },
  Ed25519: {
    kty: 'OKP',
    crv: 'Ed25519',
    hash: null,
    coordinateLength: 32,
    signatureLength: 64,
    cost: 80,
  },
  'ML-DSA-44': {
    kty: 'AKP',
    alg: 'ML-DSA-44',
    hash: null,
    keyLength: 1312,
    signatureLength: 2420,
    cost: 150,
  },
  'ML-DSA-65': {
    kty: 'AKP',
    alg: 'ML-DSA-65',
    hash: null,
    keyLength: 1952,
    signatureLength: 3309,
    cost: 270,
  },
  'ML-DSA-87': {
    kty: 'AKP',
    alg: 'ML-DSA-87',
    hash: null,
    keyLength: 2592,
    signatureLength: 4627,
    cost: 480,
  },
}

describe('the table', () => {
  test.each(Object.entries(RULES))('%s fixes key, hash, padding and lengths', (name, rule) => {
    expect(ALGORITHMS.get(name as Algorithm)).toStrictEqual(rule)
  })

  // Measured on Node 20 and 26: 20, 37, 62 and 225 to 230 for these keys of RSA.
  test.each([
    ['RS512', 256, 20],
    ['PS256', 256, 20],
    ['RS512', 384, 38.75],
    ['RS256', 512, 65],
    ['RS512', 1024, 245],
  ] as const)('a signature of %s of %i octets costs %d', (algorithm, length, cost) => {
    expect(costOfCheck(algorithm, length)).toBe(cost)
  })

  test.each(
    [...ALGORITHMS].flatMap(([name, rule]) => (rule.kty === 'RSA' ? [] : [{ name, rule }])),
  )('a signature of $name costs $rule.cost', ({ name, rule }) => {
    expect(costOfCheck(name, rule.signatureLength)).toBe(rule.cost)
  })

  test('has these names and no symmetric one', () => {
    expect([...ALGORITHMS.keys()]).toEqual(Object.keys(RULES))
  })
})

test('a kind of key that has no case of its own is an error', () => {
  expect(() => unknownKind({ kty: 'oct' as never })).toThrow(
    new TypeError('unknown kind of key: oct'),
  )
})

describe('names', () => {
  test('EdDSA and Ed25519 are names of one algorithm, and no others are', () => {
    const names = [...ALGORITHMS.keys()]
    for (const one of names) {
      const same = names.filter((other) => isSameAlgorithm(one, other))
      const isEdwards = one === 'EdDSA' || one === 'Ed25519'
      expect(same).toEqual(isEdwards ? ['EdDSA', 'Ed25519'] : [one])
    }
  })

  test.each(['eddsa', 'Ed448', 'toString', '__proto__', '', undefined, null, 1, ['EdDSA']])(
    '%j is the name of none',
    (name) => {
      expect(isAlgorithm(name)).toBe(false)
      expect(isSameAlgorithm('EdDSA', name)).toBe(false)
    },
  )
})

/** An algorithm is all that is looked at. */
const prepared = (...names: readonly Algorithm[]) => new Map(names.map((name) => [name, {}]))

describe('what a key is for', () => {
  const rsa = prepared('RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512')

  test.each<[string, Parameters<typeof purposesOf>[0], readonly Algorithm[]]>([
    ['an RSA key that states nothing: RS512', { stated: undefined, prepared: rsa }, ['RS512']],
    ['one that states PS384: that', { stated: 'PS384', prepared: prepared('PS384') }, ['PS384']],
    [
      'a P-256 key that states nothing: ES256',
      { stated: undefined, prepared: prepared('ES256') },
      ['ES256'],
    ],
    [
      'an Ed25519 key: both names',
      { stated: undefined, prepared: prepared('EdDSA', 'Ed25519') },
      ['EdDSA', 'Ed25519'],
    ],
    ['a key for nothing: nothing', { stated: undefined, prepared: prepared() }, []],
  ])('without a list, %s', (_, key, purposes) => {
    expect(purposesOf(key, undefined)).toEqual(purposes)
  })

  test('with a list, what the key allows and the list has', () => {
    const silent = { stated: undefined, prepared: rsa }
    expect(purposesOf(silent, ['RS256', 'PS256', 'ES256'])).toEqual(['RS256', 'PS256'])
    const stating = { stated: 'PS256', prepared: prepared('PS256') } as const
    expect(isFor(stating, 'PS256', ['RS256', 'PS256'])).toBe(true)
    expect(isFor(stating, 'RS256', ['RS256', 'PS256'])).toBe(false)
  })
})

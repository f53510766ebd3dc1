import { generateKeyPairSync } from 'node:crypto'

import { describe, expect, expectTypeOf, test } from 'vitest'

import {
  type AcceptedAlgorithms,
  type Algorithm,
  ALGORITHMS,
} from '../../src/algorithms/algorithms.ts'
import {
  countUntried,
  findCandidates,
  type KeySource,
  type KeySourceMethods,
  type VerificationKey,
} from '../../src/keys/key-source.ts'

const { publicKey } = generateKeyPairSync('ed25519')

const LISTED = [...ALGORITHMS.keys()]

/** The thumbprint names the key in these tests; nothing is verified. */
function key(
  thumbprint: string,
  kid: string | undefined,
  ...algorithms: readonly Algorithm[]
): VerificationKey {
  const prepared = {
    hash: null,
    input: { key: publicKey },
    jwkInput: undefined,
    signatureLength: 64,
  }
  const publicJwk = { kty: 'OKP', crv: 'Ed25519', x: thumbprint } as const
  return {
    thumbprint,
    kid,
    issuer: undefined,
    publicJwk,
    use: 'sig',
    stated: undefined,
    prepared: new Map(algorithms.map((name) => [name, prepared])),
  }
}

function keys(count: number, ...algorithms: readonly Algorithm[]): VerificationKey[] {
  return Array.from({ length: count }, (_, at) => key(`k${at}`, String(at), ...algorithms))
}

function found(
  ring: readonly VerificationKey[],
  kid: string | undefined,
  {
    bare = false,
    algorithm = 'RS512',
    accepted = LISTED,
  }: { bare?: boolean; algorithm?: Algorithm; accepted?: AcceptedAlgorithms } = {},
): string[] {
  const candidates = findCandidates({ keys: ring, bare }, { algorithm, kid }, accepted)
  return candidates.map(({ thumbprint }) => thumbprint)
}

describe('in a set', () => {
  const ring = [
    key('unnamed', undefined, 'RS512'),
    key('other', 'k2', 'RS512'),
    key('equal', 'k1', 'RS512'),
    key('also unnamed', undefined, 'RS512'),
    key('also equal', 'k1', 'RS512'),
    key('empty', '', 'RS512'),
  ]

  test.each([
    {
      name: 'a known kid: equal ones first, then those without one, never another',
      kid: 'k1',
      candidates: ['equal', 'also equal', 'unnamed', 'also unnamed'],
    },
    {
      name: 'an unknown kid: only those without one',
      kid: 'k9',
      candidates: ['unnamed', 'also unnamed'],
    },
    {
      name: 'no kid: all, in the order of the document',
      kid: undefined,
      candidates: ['unnamed', 'other', 'equal', 'also unnamed', 'also equal', 'empty'],
    },
    {
      name: 'an empty kid is a kid',
      kid: '',
      candidates: ['empty', 'unnamed', 'also unnamed'],
    },
    {
      name: 'a kid that an object inherits is an unknown one',
      kid: 'constructor',
      candidates: ['unnamed', 'also unnamed'],
    },
  ])('$name', ({ kid, candidates }) => {
    expect(found(ring, kid)).toEqual(candidates)
  })

  test('a kid is compared exactly', () => {
    const named = [key('named', 'Key', 'RS512')]
    expect(found(named, 'key')).toEqual([])
    expect(found(named, 'Key ')).toEqual([])
    expect(found(named, 'Key')).toEqual(['named'])
  })

  test('a key that does not fit the algorithm is no candidate, not even by its kid', () => {
    const mixed = [
      key('rs256', 'k1', 'RS256'),
      key('any rsa', 'k1', 'RS256', 'RS512'),
      key('es256', undefined, 'ES256'),
      key('none', undefined),
    ]
    expect(found(mixed, 'k1')).toEqual(['any rsa'])
    expect(found(mixed, undefined)).toEqual(['any rsa'])
    expect(found(mixed, 'k1', { algorithm: 'ES256' })).toEqual(['es256'])
    expect(found(mixed, 'k1', { algorithm: 'PS512' })).toEqual([])
  })

  test('a list of the verifier limits what a key is taken for', () => {
    const mixed = [key('rsa', 'k1', 'RS256', 'RS512')]
    expect(found(mixed, 'k1', { accepted: ['RS256'] })).toEqual([])
    expect(found(mixed, 'k1', { accepted: ['RS256', 'RS512'] })).toEqual(['rsa'])
  })

  test('without a list a key is a candidate for what it states, else for what its kind means', () => {
    const mixed: VerificationKey[] = [
      key('silent rsa', 'k1', 'RS256', 'RS512', 'PS256'),
      { ...key('rs256', 'k1', 'RS256'), stated: 'RS256' },
      { ...key('rs512', 'k1', 'RS512'), stated: 'RS512' },
      key('es256', 'k1', 'ES256'),
      key('ed25519', 'k1', 'EdDSA', 'Ed25519'),
    ]
    const of = (algorithm: Algorithm) =>
      findCandidates({ keys: mixed, bare: false }, { algorithm, kid: 'k1' }, undefined).map(
        ({ thumbprint }) => thumbprint,
      )
    expect(of('RS512')).toEqual(['silent rsa', 'rs512'])
    expect(of('RS256')).toEqual(['rs256'])
    expect(of('PS256')).toEqual([])
    expect(of('ES256')).toEqual(['es256'])
    expect(of('EdDSA')).toEqual(['ed25519'])
    expect(of('Ed25519')).toEqual(['ed25519'])
    expect(of('ML-DSA-44')).toEqual([])
  })

  test('no keys, no candidates', () => {
    expect(found([], undefined)).toEqual([])
  })
})

describe('at most 8 are tried', () => {
  const unnamed = Array.from({ length: 9 }, (_, at) => key(`u${at}`, undefined, 'RS512'))
  const named = Array.from({ length: 9 }, (_, at) => key(`n${at}`, 'k1', 'RS512'))

  test('those at the front of the document', () => {
    expect(found(unnamed, undefined)).toEqual(['u0', 'u1', 'u2', 'u3', 'u4', 'u5', 'u6', 'u7'])
    expect(found(named, 'k1')).toEqual(['n0', 'n1', 'n2', 'n3', 'n4', 'n5', 'n6', 'n7'])
  })

  test('equal kids first, wherever they stand', () => {
    const candidates = found([...unnamed, ...named.slice(0, 2)], 'k1')
    expect(candidates).toEqual(['n0', 'n1', 'u0', 'u1', 'u2', 'u3', 'u4', 'u5'])
  })

  test('keys that do not fit take no place', () => {
    const others = Array.from({ length: 20 }, (_, at) => key(`e${at}`, 'k1', 'ES256'))
    expect(found([...others, key('last', 'k1', 'RS512')], 'k1')).toEqual(['last'])
  })
})

describe('in a bare document', () => {
  test.each([
    { name: 'neither has a kid', keyId: undefined, kid: undefined },
    { name: 'only the key has one', keyId: 'k1', kid: undefined },
    { name: 'only the token has one', keyId: undefined, kid: 'k1' },
    { name: 'the two differ', keyId: 'k1', kid: 'k2' },
  ])('$name: its only key is a candidate', ({ keyId, kid }) => {
    expect(found([key('only', keyId, 'RS512')], kid, { bare: true })).toEqual(['only'])
  })

  test('with as many as an overlap keeps, at most 8 are tried', () => {
    expect(found(keys(9, 'RS512'), undefined, { bare: true })).toHaveLength(8)
  })

  test('the key still has to fit the algorithm', () => {
    expect(found([key('only', 'k1', 'ES256')], 'k1', { bare: true })).toEqual([])
  })
})

describe('how many keys go untried', () => {
  test.each([
    { name: 'no keys', ring: [], untried: 0 },
    { name: 'as many as are tried', ring: keys(8, 'RS512'), untried: 0 },
    { name: 'two more', ring: keys(10, 'RS512'), untried: 2 },
    {
      name: 'many, but few for each algorithm',
      ring: [...keys(8, 'RS512'), ...keys(8, 'ES256')],
      untried: 0,
    },
    {
      name: 'the algorithm that most fit counts',
      ring: [...keys(9, 'RS256'), ...keys(6, 'RS256', 'RS512'), ...keys(9, 'ES256')],
      untried: 7,
    },
    { name: 'keys for nothing', ring: keys(20), untried: 0 },
  ])('$name: $untried', ({ ring, untried }) => {
    expect(countUntried(ring)).toBe(untried)
  })
})

test('the compiler takes nothing for a key source but what our factories return', () => {
  expectTypeOf<KeySourceMethods>().not.toExtend<KeySource>()
  expectTypeOf<object>().not.toExtend<KeySource>()
  expectTypeOf<keyof KeySource & string>().toBeNever()
})

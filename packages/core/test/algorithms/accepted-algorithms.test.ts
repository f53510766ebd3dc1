import { describe, expect, test, vi } from 'vitest'

import {
  acceptedAlgorithms,
  algorithmNamesOf,
  checkAlgorithm,
  checkAlgorithmList,
  isAlgorithmNames,
} from '../../src/algorithms/accepted-algorithms.ts'
import { type Algorithm, ALGORITHMS } from '../../src/algorithms/algorithms.ts'
import { AuthError } from '../../src/refusal/errors.ts'

function refusalOf(act: () => unknown): AuthError {
  try {
    act()
  } catch (error) {
    if (error instanceof AuthError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

describe('the alg of a header', () => {
  test.each([...ALGORITHMS.keys()])('%s is accepted where it is listed', (name) => {
    expect(checkAlgorithm(name, ['RS512', name])).toBe(name)
  })

  test.each([
    { name: 'none', alg: 'none' },
    { name: 'none in mixed case', alg: 'noNE' },
    { name: 'a symmetric algorithm', alg: 'HS512' },
    { name: 'a supported algorithm that is not listed', alg: 'RS256' },
    { name: 'the second name of a listed one', alg: 'EdDSA' },
    { name: 'another case', alg: 'rs512' },
    { name: 'a space in front', alg: ' RS512' },
    { name: 'a space at the end', alg: 'RS512 ' },
    { name: 'a NUL at the end', alg: 'RS512\0' },
    { name: 'a beginning', alg: 'RS51' },
    { name: 'nothing', alg: '' },
    { name: 'an absent one', alg: undefined },
    { name: 'null', alg: null },
    { name: 'a number', alg: 512 },
    { name: 'true', alg: true },
    { name: 'a list that contains a listed one', alg: ['RS512'] },
    { name: 'an object that reads like a listed one', alg: { toString: () => 'RS512' } },
  ])('$name is refused', ({ alg }) => {
    expect(refusalOf(() => checkAlgorithm(alg, ['RS512', 'Ed25519']))).toMatchObject({
      code: 'invalid_token',
      reason: 'algorithm',
      status: 401,
    })
  })
})

function withoutMlDsa(alg: string): Algorithm {
  return checkAlgorithm(alg, undefined, undefined, () => false)
}

describe('the alg of a header, where no algorithms are listed', () => {
  test.each([...ALGORITHMS.keys()])('%s is one that keys may be for', (name) => {
    expect(checkAlgorithm(name, undefined)).toBe(name)
  })

  test.each(['none', 'noNE', 'HS256', 'HS512', 'rs512', ' RS512', 'RS512\0', 'RS1', 'ES256K', ''])(
    '%j is refused, whatever the keys are for',
    (alg) => {
      expect(refusalOf(() => checkAlgorithm(alg, undefined)).reason).toBe('algorithm')
    },
  )

  test.each([undefined, null, 512, true, ['RS512'], { toString: () => 'RS512' }])(
    '%j is refused as well',
    (alg) => {
      expect(refusalOf(() => checkAlgorithm(alg, undefined)).reason).toBe('algorithm')
    },
  )

  test('one of ML-DSA is refused where the platform lacks it, and the others are not', () => {
    const refusal = refusalOf(() => withoutMlDsa('ML-DSA-65'))
    expect(refusal.reason).toBe('algorithm')
    expect(refusal.detail).toMatch(/; ML-DSA-65 needs a platform whose node:crypto has ML-DSA/)
    expect(withoutMlDsa('RS512')).toBe('RS512')
  })

  test('a listed one of ML-DSA is taken where the platform has it', () => {
    expect(checkAlgorithm('ML-DSA-65', ['ML-DSA-65'], undefined, () => true)).toBe('ML-DSA-65')
  })

  test.each([
    [
      'HS256',
      'the header\'s alg is "HS256"; this verifier accepts what its keys are for; that needs',
    ],
    ['RSA512', 'state algorithmNames: { "RSA512": "RS512" }'],
  ])('the refusal of %s says: %s', (alg, text) => {
    expect(refusalOf(() => checkAlgorithm(alg, undefined)).detail).toContain(text)
  })

  test.each([
    ['a name that is like none', 'XY999', ['RS256', 'ES256']],
    ['a name like one that is not listed', 'RSA512', ['RS256', 'ES256']],
  ] as const)('the refusal of %s advises nothing', (_, alg, listed) => {
    const { detail } = refusalOf(() => checkAlgorithm(alg, listed))
    expect(detail).toBe(`the header's alg is "${alg}"; this verifier accepts RS256, ES256`)
  })

  test('another name counts', () => {
    const names = algorithmNamesOf({ RSA512: 'RS512' })
    expect(checkAlgorithm('RSA512', undefined, names)).toBe('RS512')
  })
})

describe('the option algorithms', () => {
  test('not stated, it stays so; stated, it is checked; null is a mistake', () => {
    expect(acceptedAlgorithms(undefined)).toBeUndefined()
    expect(acceptedAlgorithms(['RS256'])).toEqual(['RS256'])
    expect(() => acceptedAlgorithms([])).toThrow(TypeError)
    expect(() => acceptedAlgorithms(null as never)).toThrow(TypeError)
  })

  test('a list of supported names is copied', () => {
    const names: Algorithm[] = ['RS512', 'ES256']
    const checked = checkAlgorithmList(names)
    names.push('PS256')
    expect(checked).toEqual(['RS512', 'ES256'])
  })

  test('every name of the table can be listed', () => {
    expect(checkAlgorithmList([...ALGORITHMS.keys()])).toEqual([...ALGORITHMS.keys()])
  })

  test.each([
    { name: 'an empty list', names: [] },
    { name: 'a name instead of a list', names: 'RS512' },
    { name: 'null', names: null },
    { name: 'a set', names: new Set(['RS512']) },
    { name: 'a list with an empty name', names: ['RS512', ''] },
    { name: 'a list with a number', names: ['RS512', 512] },
  ])('$name is a mistake', ({ names }) => {
    const act = () => checkAlgorithmList(names as never)
    expect(act).toThrow(TypeError)
    expect(act).toThrow(/algorithms must be a list of strings that are not empty/)
  })

  test.each(['none', 'HS256', 'HS512', 'RS1', 'dir', 'toString', '__proto__', 'RS', '512'])(
    '%s is not supported, and the message lists what is',
    (name) => {
      const act = () => checkAlgorithmList(['RS512', name as Algorithm])
      expect(act).toThrow(TypeError)
      expect(act).toThrow(
        `algorithms: "${name}" is not supported, choose from RS256, RS384, RS512, PS256,` +
          ' PS384, PS512, ES256, ES384, ES512, EdDSA, Ed25519',
      )
    },
  )

  test.each([
    { name: 'RSA512', meant: 'RS512' },
    { name: 'rsa-256', meant: 'RS256' },
    { name: 'rs512', meant: 'RS512' },
    { name: 'RS-384', meant: 'RS384' },
    { name: ' RS512 ', meant: 'RS512' },
    { name: 'ps_256', meant: 'PS256' },
    { name: 'es256', meant: 'ES256' },
    { name: 'EDDSA', meant: 'EdDSA' },
    { name: 'ed-25519', meant: 'Ed25519' },
  ])('$name is refused with the name that was meant: $meant', ({ name, meant }) => {
    const act = () => checkAlgorithmList([name as Algorithm])
    expect(act).toThrow(TypeError)
    expect(act).toThrow(
      `algorithms: ${JSON.stringify(name)} is not supported, did you mean ${meant}?`,
    )
  })
})

describe('the advice on a misspelt algorithm', () => {
  test.each([
    { name: 'RSA512', advice: 'state algorithmNames: { "RSA512": "RS512" }' },
    { name: 'rs512', advice: 'state algorithmNames: { "rs512": "RS512" }' },
    { name: 'rsa-256', advice: 'state algorithmNames: { "rsa-256": "RS256" }' },
  ])('$name: names the option for services that write it so', ({ name, advice }) => {
    expect(() => checkAlgorithmList([name as Algorithm])).toThrow(advice)
  })

  test.each(['HS512', 'none', 'RSA-OAEP-512', 'canary'])('%s: does not', (name) => {
    expect(() => checkAlgorithmList([name as Algorithm])).not.toThrow(/algorithmNames/)
  })
})

describe('other names of algorithms', () => {
  const names = algorithmNamesOf({ RSA512: 'RS512', 'rsa-pss': 'PS512' })

  test('one is taken for the algorithm that it means, if that is listed', () => {
    expect(checkAlgorithm('RSA512', ['RS512'], names)).toBe('RS512')
    expect(checkAlgorithm('RS512', ['RS512'], names)).toBe('RS512')
    expect(checkAlgorithm('rsa-pss', ['RS512', 'PS512'], names)).toBe('PS512')
    expect(refusalOf(() => checkAlgorithm('rsa-pss', ['RS512'], names)).reason).toBe('algorithm')
  })

  test.each(
    [
      ['rsa512', 'RSA512 ', 'RSA256', 'toString', 'constructor', '__proto__', ''],
      [null, undefined, 512, ['RSA512'], { toString: () => 'RSA512' }],
    ].flat(),
  )('%j is none of them', (alg) => {
    expect(refusalOf(() => checkAlgorithm(alg, ['RS512'], names)).reason).toBe('algorithm')
  })

  test('there are none by default', () => {
    expect(refusalOf(() => checkAlgorithm('RSA512', ['RS512'])).reason).toBe('algorithm')
    expect(algorithmNamesOf(undefined).size).toBe(0)
  })

  test('a member of the prototype is none of them', () => {
    const inherited = Object.create({ RSA512: 'RS512' }) as Record<string, Algorithm>
    expect(algorithmNamesOf(inherited).size).toBe(0)
  })
})

describe('the option algorithmNames', () => {
  test.each<[string, unknown]>([
    ['nothing', {}],
    ['an object without a prototype', Object.assign(Object.create(null), { RSA512: 'RS512' })],
    ['names that services use', { RSA512: 'RS512', SHA512withRSA: 'RS512', 'rsa-pss': 'PS256' }],
    ['names that every object inherits', { toString: 'RS512', constructor: 'RS512' }],
    ['an algorithm in another case', { rs512: 'RS512', EDDSA: 'EdDSA', ED25519: 'Ed25519' }],
  ])('may be %s', (_title, value) => {
    expect(isAlgorithmNames(value)).toBeUndefined()
  })

  test.each<[string, unknown]>([
    ['null', null],
    ['a text', 'RSA512'],
    ['a list', [['RSA512', 'RS512']]],
    ['a map', new Map([['RSA512', 'RS512']])],
    ['an object with a prototype of its own', Object.create({ RSA512: 'RS512' })],
    ['a function', () => 'RS512'],
  ])('must not be %s', (_title, value) => {
    expect(isAlgorithmNames(value)).toBe('must be an object such as { "RSA512": "RS512" }')
  })

  test.each([
    'HS512',
    'none',
    'rs512',
    'RSA512',
    '',
    'toString',
    '__proto__',
    null,
    undefined,
    512,
    ['RS512'],
  ])('must not mean %j', (meant) => {
    expect(isAlgorithmNames({ RSA512: meant })).toMatch(/^must name for "RSA512" one of RS256, /)
  })

  test.each(
    [
      ['none', 'None', 'NONE', 'HS256', 'hs512', 'RS512', 'RS256', 'rs256', 'Rs384', 'PS512'],
      ['ES512', 'EdDSA', 'ed25519', 'Ed448', 'ES256K', 'RS1', 'dir', 'RSA-OAEP', 'rsa-oaep-512'],
      ['RSA1_5', 'A256GCM', 'ECDH-ES+A256KW', 'ML-DSA-65', 'PBES2-HS512+A256KW'],
      ['ESP256', 'ESP384', 'ESP512', 'ESB256', 'ESB320', 'ESB384', 'ESB512', 'HS256/64'],
    ].flat(),
  )('must not give another meaning to %s, a name of JOSE', (name) => {
    expect(isAlgorithmNames({ [name]: 'RS512' })).toBe(
      `must not give another meaning to "${name}", a name of JOSE`,
    )
  })

  test('must not give a meaning to the empty name', () => {
    expect(isAlgorithmNames({ '': 'RS512' })).toBe('must not give a meaning to the empty name')
  })
})

describe('algorithms of ML-DSA', () => {
  const mlDsa = ['ML-DSA-44', 'ML-DSA-65', 'ML-DSA-87'] as const

  test('can be listed where the platform has them', () => {
    expect(checkAlgorithmList(mlDsa, 'createVerifier', () => true)).toEqual(mlDsa)
  })

  test.each(mlDsa)('%s is a TypeError elsewhere, which says so', (name) => {
    expect(() => checkAlgorithmList(['RS512', name], 'createVerifier', () => false)).toThrow(
      new TypeError(
        `createVerifier: algorithms: "${name}" needs a platform whose node:crypto has ML-DSA, such as Node 24.6 or later, and this one has not`,
      ),
    )
  })

  test('nobody asks the platform for the others', () => {
    const others = [...ALGORITHMS.keys()].filter((name) => !name.startsWith('ML-DSA'))
    const ask = vi.fn<() => boolean>()
    expect(checkAlgorithmList(others, 'createVerifier', ask)).toEqual(others)
    expect(ask).not.toHaveBeenCalled()
  })
})

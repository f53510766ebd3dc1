import { describe, expect, test } from 'vitest'

import {
  type Algorithm,
  ALGORITHMS,
  checkAlgorithm,
  checkAlgorithmList,
} from '../src/algorithms.ts'
import { AuthError } from '../src/errors.ts'

function refusalOf(act: () => unknown): AuthError {
  try {
    act()
  } catch (error) {
    if (error instanceof AuthError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

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
      rule: { kty: 'EC', crv: 'P-256', hash: 'sha256', coordinateLength: 32, signatureLength: 64 },
    },
    {
      name: 'ES384',
      rule: { kty: 'EC', crv: 'P-384', hash: 'sha384', coordinateLength: 48, signatureLength: 96 },
    },
    {
      name: 'ES512',
      rule: { kty: 'EC', crv: 'P-521', hash: 'sha512', coordinateLength: 66, signatureLength: 132 },
    },
    {
      name: 'EdDSA',
      rule: { kty: 'OKP', crv: 'Ed25519', hash: null, coordinateLength: 32, signatureLength: 64 },
    },
    {
      name: 'Ed25519',
      rule: { kty: 'OKP', crv: 'Ed25519', hash: null, coordinateLength: 32, signatureLength: 64 },
    },
  ])('$name fixes key, hash, padding and lengths', ({ name, rule }) => {
    expect(ALGORITHMS.get(name)).toStrictEqual(rule)
  })

  test('has these eleven names and no symmetric one', () => {
    expect([...ALGORITHMS.keys()].toSorted()).toEqual(
      [
        ['ES256', 'ES384', 'ES512', 'Ed25519', 'EdDSA'],
        ['PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512'],
      ].flat(),
    )
  })
})

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

describe('the option algorithms', () => {
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

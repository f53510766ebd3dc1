import { createTestIssuer } from '@portcullis/testing'
import { expect, test } from 'vitest'

import { explainKey } from '../../src/explain/keys.ts'

const { publicJwk } = await createTestIssuer({ algorithm: 'ES256' })
const rsa = await createTestIssuer()

test('an entry that can be used has its thumbprint, and the algorithms that it verifies', () => {
  expect(explainKey(publicJwk)).toEqual({
    thumbprint: publicJwk.kid,
    algorithms: ['ES256'],
    listable: ['ES256'],
    unusable: undefined,
  })
})

test('one that cannot be used says why', () => {
  expect(explainKey({ ...publicJwk, use: 'enc' })).toEqual({
    thumbprint: undefined,
    algorithms: [],
    listable: [],
    unusable: 'use (enc) is not sig',
  })
  expect(explainKey(null).unusable).toBe('it is no object')
})

test('an RSA key that states no alg is for RS512, and for others where a verifier lists them', () => {
  const { kty, n, e } = rsa.publicJwk
  const silent = explainKey({ kty, n, e })
  expect(silent.algorithms).toEqual(['RS512'])
  expect(silent.listable).toEqual(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'])
  const stating = explainKey({ kty, n, e, alg: 'PS256' })
  expect(stating.algorithms).toEqual(['PS256'])
  expect(stating.listable).toEqual(['PS256'])
})

test('other names of algorithms count where they are stated', () => {
  const named = { ...publicJwk, alg: 'EC256' }
  expect(explainKey(named).algorithms).toEqual([])
  expect(explainKey(named, { algorithmNames: { EC256: 'ES256' } }).algorithms).toEqual(['ES256'])
})

test('a misspelt option is refused', () => {
  const options = { names: {} } as object
  expect(() => explainKey(publicJwk, options)).toThrow(/^explainKey: unknown option "names", known/)
})

import { createTestIssuer } from '@portcullis/testing'
import { expect, test } from 'vitest'

import { byIssuer, createVerifier } from '../../src/index.ts'
import { audiencesOf } from '../../src/verifier/internals.ts'
import { createProvenVerifier } from '../../src/verifier/proven-verifier.ts'
import { createSelectedVerifier } from '../../src/verifier/selected-verifier.ts'

const { verifierOptions } = await createTestIssuer({ issuer: 'https://a.test' })
const one = createVerifier({ ...verifierOptions, audience: 'one' })
const two = createVerifier({ ...verifierOptions, audience: ['two', 'three'] })
const any = createVerifier({ ...verifierOptions, audience: null })
const foreign = { verify: async () => await one.verify(''), ready: async () => {} }
const proven = createProvenVerifier({} as never, { issuer: null, audience: 'proven' })

test.each([
  ['of one verifier', [one], [['one']]],
  ['of several', [one, two, any, proven], [['one'], ['two', 'three'], null, ['proven']]],
  ['of one that is not ours', [foreign], []],
  ['of one that was replaced', [{ ...one, verify: foreign.verify }], []],
  ['of a selected one', [createSelectedVerifier([one, any], () => one)], [['one'], null]],
  ['of issuers', [byIssuer({ 'https://a.test': two })], [['two', 'three']]],
  ['of issuers that a function finds', [byIssuer(() => one)], []],
])('the audiences %s are known', (_title, verifiers, expected) => {
  expect(audiencesOf(verifiers)).toEqual(expected)
})

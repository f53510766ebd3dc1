import { createTestIssuer } from '@portcullis/testing'
import { expect, test } from 'vitest'

import { lintKeyDocument } from '../../src/keys/key-lint.ts'

const rsa = await createTestIssuer()
const ec = await createTestIssuer({ algorithm: 'ES256' })
const { signing: privateJwk } = await ec.privateKeys()

function levels(document: unknown): readonly string[] {
  return lintKeyDocument(document).remarks.map(({ level, text }) => `${level} ${text}`)
}

test('a sound key: what it is, and nothing to say', () => {
  const { keys, remarks } = lintKeyDocument(rsa.publicJwk)
  expect(keys).toMatchObject([
    {
      place: 1,
      kind: 'RSA, 2048 bits, e = 65537',
      use: 'sig',
      alg: 'RS512',
      algorithms: ['RS512'],
      listable: ['RS512'],
      thumbprint: rsa.publicJwk.kid,
      unusable: undefined,
    },
  ])
  expect(remarks).toEqual([])
})

function silent(kid: string): object {
  const { alg: _, ...jwk } = rsa.publicJwk
  return { ...jwk, kid }
}

test.each<[what: string, document: unknown, expected: readonly RegExp[]]>([
  ['a private key', privateJwk, [/^problem key 1 has private members \(d\)/]],
  ['a set without keys', { keys: [] }, [/^problem no key can be used/]],
  ['a text', 'hello', [/^problem key 1 is not used: it is no object/, /^problem no key/]],
  [
    'a key that is too short',
    { ...rsa.publicJwk, n: rsa.publicJwk.n?.slice(0, 172) },
    [/^problem key 1 is not used: n has fewer than 2048 bits/, /^problem no key/],
  ],
  [
    'a key to encrypt with, beside a sound one',
    { keys: [rsa.publicJwk, { ...rsa.publicJwk, use: 'enc' }] },
    [/^note key 2 is not used: use \(enc\) is not sig/],
  ],
  [
    'a small exponent',
    { ...rsa.publicJwk, e: 'Aw' },
    [/^note key 1 has another exponent than 65537/],
  ],
  [
    'one key twice',
    { keys: [rsa.publicJwk, rsa.publicJwk] },
    [/^note keys 1, 2 have one kid/, /^note keys 1, 2 are the same key/],
  ],
  ['a key for another algorithm than RS512', ec.publicJwk, []],
  [
    'RSA keys without alg, beside one that has it',
    { keys: [silent('a'), rsa.publicJwk, silent('b')] },
    [
      /^note keys 1, 2, 3 are the same key/,
      /^note without alg, and so for RS512: 1, 3; .*algorithms: \['RS256'\]/,
    ],
  ],
])('%s', (_, document, expected) => {
  const found = levels(document)
  expect(found).toHaveLength(expected.length)
  for (const [at, pattern] of expected.entries()) expect(found[at]).toMatch(pattern)
})

test('no private member is repeated, and at most a hundred entries are looked at', () => {
  const document = { keys: Array.from({ length: 300 }, () => privateJwk) }
  const linted = lintKeyDocument(document)
  expect(linted.others).toBe(200)
  expect(JSON.stringify(linted)).not.toContain(privateJwk.d)
})

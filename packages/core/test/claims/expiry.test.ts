import { createTestIssuer } from '@portcullis/testing'
import { expect, test } from 'vitest'

import { createVerifier, expiry, type Schema } from '../../src/index.ts'

const issuer = await createTestIssuer({ algorithm: 'ES256' })
const verifier = createVerifier({ ...issuer.verifierOptions, requireExpiry: false })

test('is the exp of the token, in seconds', async () => {
  const auth = await verifier.verify(await issuer.token({ expiresIn: 90.5 }))
  expect(expiry(auth)).toBe(auth.claims.exp)
})

test('without exp is never', async () => {
  expect(expiry(await verifier.verify(await issuer.token({ omit: ['exp'] })))).toBe(Infinity)
})

test.each([
  ['takes exp away', {}],
  ['makes a date of exp', { exp: new Date() }],
  ['makes another number of exp', { exp: 1_767_225_600_000 }],
  ['makes no object of the claims', 'ann'],
])('with a schema that %s is what was signed', async (_, value) => {
  const schema: Schema<unknown> = { '~standard': { version: 1, validate: () => ({ value }) } }
  const token = await issuer.token({ expiresIn: 90 })
  const { claims } = await verifier.verify(token)
  const auth = await createVerifier({ ...issuer.verifierOptions, schema }).verify(token)
  expect(expiry(auth)).toBe(claims.exp)
})

// Whatever its token looks like.
test.each([
  ['the exp of its claims', { exp: 5 }, 5],
  ['never, without one', {}, Infinity],
  ['never, if it is none', { exp: 'soon' }, Infinity],
  ['never, if it is no finite number', { exp: Number.NaN }, Infinity],
  ['never, if there are no claims', undefined, Infinity],
  ['never, if its claims inherit one', Object.create({ exp: 5 }), Infinity],
])('of a stub: %s', (_, claims, expected) => {
  const payload = Buffer.from('{"exp":7}').toString('base64url')
  for (const token of ['token', 'a.b.c', '', `e30.${payload}.AAAA`]) {
    expect(expiry({ claims, header: { alg: 'RS512' }, token })).toBe(expected)
  }
})

import { expect, test } from 'vitest'

import { bearerSubject, bytesOf, digestOf, grantFor } from '../../src/oauth/subject.ts'

const subject = { token: 'subject', end: 1 }
const request = { form: 'token-exchange', actorToken: undefined } as const

test('grants of which the parts read the same when joined have digests of their own', () => {
  const targets = [['x', 'y'], 'xaudiencey', ['xaudience', 'y'], ['xaudiencey', '']]
  const digests = targets.map((audience) =>
    digestOf('shop', grantFor(subject, { ...request, audience })),
  )
  expect(new Set(digests).size).toBe(targets.length)
})

test('the client, the actor and the end are parts of it', () => {
  const base = grantFor(subject, request)
  const digests = [
    digestOf('shop', base),
    digestOf('shops', base),
    digestOf('shop', { ...base, end: 2 }),
    digestOf('shop', { ...base, end: undefined }),
    digestOf('shop', grantFor(subject, { ...request, actorToken: 'a' })),
  ]
  expect(new Set(digests).size).toBe(digests.length)
})

test.each([['1'], [[1]], [Infinity], [NaN], [null]])('an exp of %j is no end', (exp) => {
  expect(bearerSubject({ token: 'a', claims: { exp } })).toEqual({ token: 'a', end: undefined })
})

test.each([
  ['a text', 'token'],
  ['nothing', undefined],
  ['no token', { claims: {} }],
  ['an empty token', { token: '', claims: {} }],
  ['a token that is no text', { token: 1, claims: {} }],
  ['no claims', { token: 'a', claims: null }],
  ['claims that are no object', { token: 'a', claims: 'sub' }],
])('%s is not what a guard has verified', (_title, auth) => {
  // The types forbid what plain JavaScript can do.
  expect(() => bearerSubject(auth as Parameters<typeof bearerSubject>[0])).toThrow(
    new TypeError('onBehalfOf: the first argument must be what the guard has verified'),
  )
})

test('the bytes of a grant are more when its tokens are longer', () => {
  const bytes = bytesOf(grantFor(subject, request))
  expect(bytesOf(grantFor({ ...subject, token: `${subject.token}xx` }, request))).toBe(bytes + 2)
  const actorToken = 'x'.repeat(1000)
  expect(bytesOf(grantFor(subject, { ...request, actorToken }))).toBeGreaterThan(bytes + 1000)
})

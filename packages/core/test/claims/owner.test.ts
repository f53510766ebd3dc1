import { createTestIssuer, stubVerifier } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { ownerOf } from '../../src/claims/owner.ts'
import { byIssuer, createVerifier } from '../../src/index.ts'
import { proverOf } from '../../src/verifier/internals.ts'
import { createSelectedVerifier } from '../../src/verifier/selected-verifier.ts'

const rules = { clientIdClaims: ['client_id', 'azp'], prover: 1 }
const authOf = (claims: object, token = 'a.b.c') => ({ claims, header: { alg: 'RS512' }, token })
const ownerWith = (claims: object, token?: string) => ownerOf(authOf(claims, token), rules)
const ADA = { iss: 'a', sub: 'ada', client_id: 'robot' }

const provenBy = (prover: string | number) =>
  ownerOf(authOf({ sub: 'ada' }), { ...rules, prover }).id
const said = (stated: unknown, claims: object = ADA, token?: string) =>
  ownerOf(authOf(claims, token), { ...rules, stated })

describe('who is one owner, by two tokens', () => {
  test.each<[string, object, object, boolean]>([
    ['one user with one client', ADA, { ...ADA, jti: '2' }, true],
    ['two users', ADA, { ...ADA, sub: 'eve' }, false],
    ['two clients of a user', ADA, { ...ADA, client_id: 'other' }, false],
    ['users of two issuers', ADA, { ...ADA, iss: 'b' }, false],
    ['a user without a client', { iss: 'a', sub: 'ada' }, { iss: 'a', sub: 'ada' }, true],
    ['a user with a client and one without', ADA, { iss: 'a', sub: 'ada' }, false],
    ['a client that JSON says is absent', { sub: 'ada', azp: null }, { sub: 'ada' }, true],
    [
      'no user, with one client',
      { iss: 'a', client_id: 'robot' },
      { iss: 'a', client_id: 'robot' },
      false,
    ],
    [
      'a user whom another claim names',
      { client_id: 'r', uid: 1 },
      { client_id: 'r', uid: 2 },
      false,
    ],
    [
      'a username without sub',
      { client_id: 'r', username: 'a' },
      { client_id: 'r', username: 'a' },
      false,
    ],
    ['two numbers', { ...ADA, sub: 1001 }, { ...ADA, sub: 1002 }, false],
    ['a number', { ...ADA, sub: 1001 }, { ...ADA, sub: 1001 }, true],
    ['a number and its text', { ...ADA, sub: 1001 }, { ...ADA, sub: '1001' }, true],
    ['a number that may be two', { ...ADA, sub: 2 ** 53 }, { ...ADA, sub: 2 ** 53 }, false],
    ['the last that is one', { ...ADA, sub: 2 ** 53 - 1 }, { ...ADA, sub: 2 ** 53 - 1 }, true],
    ['a fraction', { ...ADA, sub: 1.5 }, { ...ADA, sub: 1.5 }, false],
    ['an empty text', { ...ADA, sub: '' }, { ...ADA, sub: '' }, false],
    ['null', { ...ADA, sub: null }, { ...ADA, sub: null }, false],
    ['a boolean', { ...ADA, sub: true }, { ...ADA, sub: true }, false],
    ['a list', { ...ADA, sub: ['ada'] }, { ...ADA, sub: ['ada'] }, false],
    ['a client that is no name', { ...ADA, client_id: {} }, { ...ADA, client_id: {} }, false],
    ['a client that is an empty text', { ...ADA, client_id: '' }, { ...ADA, client_id: '' }, false],
    [
      'a client that another claim names',
      { ...ADA, client_id: {}, azp: 'r' },
      { ...ADA, client_id: {}, azp: 'r' },
      true,
    ],
    ['an issuer that is no name', { ...ADA, iss: {} }, { ...ADA, iss: {} }, false],
    ['no issuer, from one verifier', { sub: 'ada' }, { sub: 'ada' }, true],
    ['no issuer, and one named as the verifier', { sub: 'ada' }, { sub: 'ada', iss: '1' }, false],
    ['texts that join to one', { iss: 'a","ada', sub: 'b' }, { iss: 'a', sub: 'ada","b' }, false],
  ])('%s', (_title, one, other, isOne) => {
    expect(ownerWith(one).id === ownerWith(other, 'd.e.f').id).toBe(isOne)
    expect(ownerWith(one).id).toBe(ownerWith(one).id)
  })

  test('what is inherited names nobody', () => {
    const claims = Object.create({ sub: 'ada' }) as object
    expect(ownerWith(claims).id).not.toBe(ownerWith(claims, 'd.e.f').id)
  })

  test('of tokens without an issuer those of two verifiers are not of one user', () => {
    expect([
      provenBy(1) === provenBy(2),
      provenBy(1) === provenBy('1'),
      provenBy('a') === provenBy('a'),
    ]).toEqual([false, false, true])
    expect(provenBy('a')).toBe(ownerWith({ sub: 'ada', iss: 'a' }).id)
  })
})

describe('what counts together', () => {
  test.each<[string, object, object, boolean]>([
    ['a user with all clients', ADA, { ...ADA, client_id: 'other' }, true],
    ['a user with a client that is no name', ADA, { ...ADA, client_id: {} }, true],
    ['two users', ADA, { ...ADA, sub: 'eve' }, false],
    ['users of two issuers', ADA, { ...ADA, iss: 'b' }, false],
    ['no user, with one client', { iss: 'a', azp: 'r' }, { iss: 'a', azp: 'r' }, true],
    ['no user, with two clients', { iss: 'a', azp: 'r' }, { iss: 'a', azp: 's' }, false],
    [
      'no user, with a client of two issuers',
      { iss: 'a', azp: 'r' },
      { iss: 'b', azp: 'r' },
      false,
    ],
    ['nobody at all', { iss: 'a' }, { iss: 'a', sub: {} }, true],
    ['a client and a user of its name', { iss: 'a', azp: 'r' }, { iss: 'a', sub: 'r' }, false],
  ])('%s', (_title, one, other, isTogether) => {
    expect(ownerWith(one).account === ownerWith(other, 'd.e.f').account).toBe(isTogether)
  })
})

test.each<[string, object, string | undefined]>([
  ['client_id', { client_id: 'r', azp: 's' }, 'r'],
  ['azp', { azp: 's' }, 's'],
  ['azp, where client_id is no name', { client_id: '', azp: 's' }, 's'],
  ['a number', { client_id: 42 }, '42'],
  ['nothing that is no name', { client_id: {} }, undefined],
  ['never sub', { sub: 'r' }, undefined],
])('the client is named by %s', (_title, claims, client) => {
  expect(ownerWith(claims).client).toBe(client)
})

describe('what somebody else says of the owner', () => {
  test('counts for each issuer, in place of user and client', () => {
    expect(said('x').id).toBe(said('x', { iss: 'a' }, 'd.e.f').id)
    expect(said('x').id).not.toBe(said('x', { iss: 'b' }).id)
    expect(said('x').id).not.toBe(said('y').id)
    expect(said('x').account).toBe(said('x', { iss: 'a' }).account)
    expect(said('ada').id).not.toBe(ownerWith(ADA).id)
  })

  test.each([undefined, null, '', 1, {}, ['x'], Promise.resolve('x')])(
    '%j says nothing: this very token',
    (stated) => {
      expect(said(stated).id).not.toBe(said(stated, ADA, 'd.e.f').id)
      expect(said(stated).account).toBe(ownerWith({ iss: 'a', client_id: 'robot' }).account)
    },
  )

  test('where the issuer cannot be told from others, it is this very token as well', () => {
    const claims = { ...ADA, iss: {} }
    expect(said('x', claims).id).not.toBe(said('x', claims, 'd.e.f').id)
  })
})

test('of several verifiers, the one that has proven a token stands for its issuer', async () => {
  const issuer = await createTestIssuer({ issuer: 'https://a.test' })
  const one = createVerifier(issuer.verifierOptions)
  const two = stubVerifier()
  const selected = createSelectedVerifier<unknown>([one, two], (token) =>
    token.includes('.') ? one : two,
  )
  const token = await issuer.token()
  expect([proverOf(one, token), proverOf(two, token)]).toEqual([one, two])
  expect([proverOf(selected, token), proverOf(selected, 'opaque')]).toEqual([one, two])
  // One that a function finds may be another object later: the issuer is the same.
  expect(
    proverOf(
      byIssuer(() => one),
      token,
    ),
  ).toBe('https://a.test')
})

import {
  issuedBeforeEntry,
  readRevocationEntry,
  revokedTokenEntry,
} from '@portcullis/core/verifier'
import { describe, expect, test } from 'vitest'

import { localRevocations } from '../../src/revocation/local-revocations.ts'
import type { RevocationEntry } from '../../src/revocation/revocations.ts'
import { digestOf } from '../../src/revocation/token-digest.ts'

const NOW = 1_767_225_600
const iss = 'https://issuer.test'
const header = { alg: 'RS512' }
const token = 'opaque'

const tokenEntry = (given: unknown) => revokedTokenEntry('revoke', given)

describe('the entry of a revoked token', () => {
  test.each([
    ['its names', { iss, jti: 'one', exp: NOW }, { type: 'token', iss, jti: 'one', exp: NOW }],
    ['its jti alone', { jti: 'one' }, { type: 'token', jti: 'one' }],
    ['names that are undefined', { iss: undefined, jti: 'one' }, { type: 'token', jti: 'one' }],
    ['a jti that is a number', { jti: 7 }, { type: 'token', jti: '7' }],
    ['an exp long ago', { jti: 'one', exp: 0 }, { type: 'token', jti: 'one', exp: 0 }],
    [
      'its Auth',
      { token, header, claims: { iss, jti: 'one' } },
      { type: 'token', iss, jti: 'one' },
    ],
    [
      'its Auth without jti',
      { token, header, claims: { iss, exp: NOW } },
      { type: 'digest', iss, digest: digestOf(token), exp: NOW },
    ],
  ])('made of %s', (_, given, entry) => {
    expect({ ...tokenEntry(given) }).toStrictEqual(entry)
  })

  test.each([
    ['no object', 'one', 'revoke: the token must be an object'],
    ['no jti', {}, 'revoke: the token has no jti, so it cannot be revoked by itself'],
    ['another member', { jti: 'one', sub: 'ann' }, 'revoke: unknown member "sub"'],
    ['an exp in milliseconds', { jti: 'one', exp: NOW * 1000 }, 'revoke: exp must be in seconds'],
  ])('is not made of %s', (_, given, message) => {
    expect(() => tokenEntry(given)).toThrow(TypeError)
    expect(() => tokenEntry(given)).toThrow(message)
  })
})

describe('the entry of what was issued before a time', () => {
  test.each([
    ['now, where no time is given', { iss, sub: 'ann' }, {}, { iss, sub: 'ann', time: NOW }],
    ['that time', { iss }, { time: 5 }, { iss, time: 5 }],
    ['now, for ever', { iss }, { time: undefined, until: undefined }, { iss, time: NOW }],
    ['now, until its end', { sid: 's' }, { until: 9 }, { sid: 's', time: NOW, until: 9 }],
  ])('means %s', (_, whose, given, entry) => {
    expect({ ...issuedBeforeEntry('revokeBefore', whose, given, NOW) }).toStrictEqual({
      type: 'issued_before',
      ...entry,
    })
  })

  test.each([
    ['an owner that is undefined', { sub: undefined }, {}, NOW, 'sub is undefined'],
    ['two owners', { sub: 'ann', sid: 's' }, {}, NOW, 'name one of sub, client_id and sid'],
    ['a misspelt option', { iss }, { untill: 9 }, NOW, 'untill'],
    ['a clock that shows no number', { iss }, {}, Number.NaN, 'time must be a number of seconds'],
  ])('is not made of %s', (_, whose, given: object, now, message) => {
    const make = () => issuedBeforeEntry('revokeBefore', whose, given, now)
    expect(make).toThrow(TypeError)
    expect(make).toThrow(message)
  })
})

const MADE: readonly (readonly [name: string, entry: RevocationEntry])[] = [
  ['of a token', tokenEntry({ jti: 'one' })],
  ['of a token without jti', tokenEntry({ token, header, claims: {} })],
  ['of a user', issuedBeforeEntry('revokeBefore', { sub: 'ann' }, {}, NOW)],
  ['of an issuer', issuedBeforeEntry('revokeBefore', { iss }, {}, NOW)],
]

describe('an entry', () => {
  test.each(MADE)('%s can be loaded, and comes back as it was made', (_, entry) => {
    const revocations = localRevocations()
    revocations.load([entry])
    expect(revocations.toSnapshot().entries).toStrictEqual([{ ...entry }])
  })

  test.each(MADE)('%s inherits nothing that Object.prototype may have', (_, entry) => {
    expect(Object.getPrototypeOf(entry)).toBeNull()
  })

  test.each(MADE)('%s is read with all its members, of which none is inherited', (_, entry) => {
    const read = readRevocationEntry('load', entry)
    const end = entry.type === 'issued_before' ? 'until' : 'exp'
    expect([Object.hasOwn(read, 'iss'), Object.hasOwn(read, end)]).toEqual([true, true])
    expect(read).toEqual(entry)
  })
})

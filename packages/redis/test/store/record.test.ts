import type { RevocationEntry } from '@portcullis/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'

import { readRecord, writeIdentity, writeRecord } from '../../src/store/record.ts'

/** SHA-256 of some text, in base64url. */
const DIGEST = 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg'

const text = fc.string({ minLength: 1, unit: 'grapheme' })
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0)
const optional = { requiredKeys: [] as [] }

const entry: fc.Arbitrary<RevocationEntry> = fc.oneof(
  fc.record(
    { type: fc.constant('token' as const), iss: text, jti: text, exp: number },
    { requiredKeys: ['type', 'jti'] },
  ),
  fc.record(
    { type: fc.constant('digest' as const), iss: text, digest: fc.constant(DIGEST), exp: number },
    { requiredKeys: ['type', 'digest'] },
  ),
  fc
    .tuple(
      fc.oneof(
        fc.record({ sub: text }, optional),
        fc.record({ client_id: text }),
        fc.record({ sid: text }),
      ),
      fc.record(
        { type: fc.constant('issued_before' as const), iss: text, time: number, until: number },
        { requiredKeys: ['type', 'time'] },
      ),
    )
    .map(([whose, rest]) => Object.assign(rest, whose)),
)

test('what is written is read as it was', () => {
  fc.assert(
    fc.property(entry, (each) => {
      expect(readRecord(writeRecord(each))).toEqual({ kind: 'revocation', entry: each })
    }),
  )
})

test.each<RevocationEntry>([
  { type: 'token', jti: 'a\ud800' },
  { type: 'token', jti: 'a', iss: '\udc00\ud800' },
  { type: 'issued_before', time: 1, sub: '\ud83d' },
])('a text that UTF-8 cannot write is not written as another one: %j', (each) => {
  expect(() => writeRecord(each)).toThrow(/^revoke: (?:jti|iss|sub) cannot be written in UTF-8$/)
})

test('a digest is a record of a type that earlier versions do not know, so that they call it unreadable', () => {
  const fields = writeRecord({ type: 'digest', iss: 'a', digest: DIGEST, exp: 1 })
  expect(fields).toEqual(['v', '1', 'type', 'digest', 'iss', 'a', 'digest', DIGEST, 'exp', '1'])
})

test.each([
  ['none', []],
  ['one that is cut', ['digest', DIGEST.slice(1)]],
  ['one that is padded', ['digest', `${DIGEST}=`]],
  ['one of hexadecimal digits', ['digest', '0'.repeat(64)]],
  ['an exp that is no number', ['digest', DIGEST, 'exp', 'soon']],
])('a record of a digest with %s is unreadable', (_name, fields) => {
  expect(readRecord(['v', '1', 'type', 'digest', ...fields])).toEqual({ kind: 'unreadable' })
})

test.each([
  { id: 'a', replaces: [], isMarked: false },
  { id: 'a', replaces: ['b', 'c'], isMarked: true },
])('an identity is read as it was written: $replaces', (identity) => {
  expect(readRecord(writeIdentity(identity))).toEqual({ kind: 'identity', identity })
})

test('fields that this version does not know are ignored', () => {
  const fields = ['v', '1', 'type', 'token', 'jti', 'a', 'note', 'log-out']
  expect(readRecord(fields)).toEqual({ kind: 'revocation', entry: { type: 'token', jti: 'a' } })
})

test('a claim that is empty is not one that is absent', () => {
  const fields = ['v', '1', 'type', 'token', 'iss', '', 'jti', 'a']
  const found = { type: 'token', iss: '', jti: 'a' }
  expect(readRecord(fields)).toEqual({ kind: 'revocation', entry: found })
})

test.each([[[]], [['hello', 'world']], [['type', 'token', 'jti', 'a']], [['V', '1']]])(
  'not ours: %j',
  (fields) => {
    expect(readRecord(fields).kind).toBe('foreign')
  },
)

test.each([
  [['v', '2', 'type', 'token', 'jti', 'a']],
  [['v', '01', 'type', 'token', 'jti', 'a']],
  [['v', '1']],
  [['v', '1', 'type', 'tokens', 'jti', 'a']],
  [['v', '1', 'type', '__proto__', 'jti', 'a']],
  [['v', '1', 'type', 'token']],
  [['v', '1', 'type', 'token', 'jti', 'a', 'jti', 'b']],
  [['v', '1', 'v', '2', 'type', 'token', 'jti', 'a']],
  [['v', '1', 'type', 'token', 'jti', 'a', 'exp', '']],
  [['v', '1', 'type', 'token', 'jti', 'a', 'exp', '0x10']],
  [['v', '1', 'type', 'token', 'jti', 'a', 'exp', ' 1']],
  [['v', '1', 'type', 'token', 'jti', 'a', 'exp', '1e999']],
  [['v', '1', 'type', 'token', 'jti', 'a', 'exp', 'Infinity']],
  [['v', '1', 'type', 'issued_before', 'sub', 'a']],
  [['v', '1', 'type', 'issued_before', 'sub', 'a', 'time', '2026-01-01']],
  [['v', '1', 'type', 'issued_before', 'sub', 'a', 'sid', 'b', 'time', '1']],
  [['v', '1', 'type', 'issued_before', 'time', '1', 'until', 'never']],
  [['v', '1', 'type', 'identity']],
  [['v', '1', 'type', 'identity', 'id', '']],
])('ours, and not to be read: %j', (fields) => {
  expect(readRecord(fields).kind).toBe('unreadable')
})

import { createHash } from 'node:crypto'

import type { Clock } from '@portcullis/kit/time'
import { manualClock } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import type { PresentedProof } from '../../src/dpop/proof-check.ts'
import { createProofMaker, NOW, ORIGIN, TOKEN } from './proof-maker.ts'
import { verdictOnDraft } from './proof-verdicts.ts'

const ANYTHING = [undefined, null, true, 0, -1, '', 'x', [], {}, ['GET'], { a: 1 }]

describe('the claims', () => {
  test.each([...ANYTHING.filter((value) => value !== 'x'), 'j'.repeat(257)])(
    'with the jti %j: malformed_proof',
    async (jti) => {
      expect(await verdictOnDraft({ claims: { jti } })).toBe('malformed_proof')
    },
  )

  test.each([...ANYTHING, 'get', 'GET ', 'POST', 'HEAD'])(
    'with the htm %j: proof_method',
    async (htm) => {
      expect(await verdictOnDraft({ claims: { htm } })).toBe('proof_method')
    },
  )

  test.each([...ANYTHING, ORIGIN, `${ORIGIN}/b`, 'https://evil.test/a', '/a'])(
    'with the htu %j: proof_url',
    async (htu) => {
      expect(await verdictOnDraft({ claims: { htu } })).toBe('proof_url')
    },
  )

  test.each([...ANYTHING, `${NOW}`, NOW - 66, NOW + 31, NOW * 1000, 1e308, -1e308])(
    'with the iat %j: proof_time',
    async (iat) => {
      expect(await verdictOnDraft({ claims: { iat } })).toBe('proof_time')
    },
  )

  test.each([NOW - 65, NOW - 60, NOW, NOW + 30])('with the iat %j: accepted', async (iat) => {
    expect(await verdictOnDraft({ claims: { iat } })).toBe('accepted')
  })

  test.each([
    { exp: NOW - 5 },
    { exp: null },
    { exp: `${NOW + 9}` },
    { nbf: NOW + 31 },
    { nbf: [] },
  ])('with %j: proof_time', async (claims) => {
    expect(await verdictOnDraft({ claims })).toBe('proof_time')
  })

  test.each([{ exp: NOW - 4 }, { exp: NOW }, { nbf: NOW + 30 }])(
    'with %j, which the tolerance of clocks covers: accepted',
    async (claims) => {
      expect(await verdictOnDraft({ claims })).toBe('accepted')
    },
  )

  test.each([
    { stated: undefined, ahead: 30, behind: 5 },
    { stated: 0, ahead: 0, behind: 0 },
    { stated: 5, ahead: 5, behind: 5 },
    { stated: 29, ahead: 29, behind: 29 },
    { stated: 600, ahead: 600, behind: 600 },
  ])('with the clockTolerance $stated: $ahead s ahead, $behind s behind', async (row) => {
    const { stated: clockTolerance, ahead, behind } = row
    const verdict = async (claims: Readonly<Record<string, unknown>>) =>
      await verdictOnDraft({ claims }, { clockTolerance })
    expect(await verdict({ iat: NOW + ahead })).toBe('accepted')
    expect(await verdict({ iat: NOW + ahead + 0.1 })).toBe('proof_time')
    expect(await verdict({ nbf: NOW + ahead })).toBe('accepted')
    expect(await verdict({ nbf: NOW + ahead + 0.1 })).toBe('proof_time')
    expect(await verdict({ iat: NOW - 60 - behind })).toBe('accepted')
    expect(await verdict({ iat: NOW - 60.1 - behind })).toBe('proof_time')
    expect(await verdict({ exp: NOW - behind + 0.1 })).toBe('accepted')
    expect(await verdict({ exp: NOW - behind })).toBe('proof_time')
  })

  test('without htm, of a request without a method: proof_method', async () => {
    const request = { method: undefined as never }
    expect(await verdictOnDraft({ claims: { htm: undefined } }, {}, request)).toBe('proof_method')
  })

  test.each([
    ...ANYTHING,
    TOKEN,
    createHash('sha256').update(TOKEN).digest('base64'),
    createHash('sha256').update(TOKEN).digest('hex'),
    createHash('sha256').update(`${TOKEN} `).digest('base64url'),
    createHash('sha512').update(TOKEN).digest('base64url'),
  ])('with the ath %j: proof_token', async (ath) => {
    expect(await verdictOnDraft({ claims: { ath } })).toBe('proof_token')
  })

  test.each([
    ['no JSON', '{'],
    ['a list', '[]'],
    ['a text', '"a"'],
    ['a member twice', `{"jti":"a","jti":"b"}`],
    ['no UTF-8', Buffer.from('{"jti":"\xFF"}', 'latin1')],
  ])('that are %s: malformed_proof', async (_, payloadText) => {
    expect(await verdictOnDraft({ payloadText })).toBe('malformed_proof')
  })

  test('are not looked at before the signature', async () => {
    const stranger = await createProofMaker('ES256')
    const draft = { header: { jwk: stranger.jwk }, claims: { htm: 'POST', iat: 0, jti: '' } }
    expect(await verdictOnDraft(draft)).toBe('proof_signature')
  })

  test.each<[string, Partial<PresentedProof>, string]>([
    ['another method', { method: 'POST' }, 'proof_method'],
    ['the method in small letters', { method: 'get' }, 'proof_method'],
    ['no method', { method: undefined as never }, 'proof_method'],
    ['another path', { target: '/b' }, 'proof_url'],
    ['no target', { target: undefined as never }, 'proof_url'],
    ['another token', { token: 'other' }, 'proof_token'],
    ['no token', { token: undefined as never }, 'proof_token'],
  ])('of a good proof with a request that has %s', async (_, request, reason) => {
    expect(await verdictOnDraft({}, {}, request)).toBe(reason)
  })

  test('are refused whatever they say, if the clock shows no number', async () => {
    const clock: Clock = { ...manualClock(NOW), now: () => NaN }
    expect(await verdictOnDraft({}, { clock })).toBe('proof_time')
  })
})

import { type Claims, localRevocations, type RevocationEntry } from '@portcullis/core'
import { manualClock } from '@portcullis/testing'
import fc from 'fast-check'
import { expect, test } from 'vitest'

import { createCompaction } from '../../src/program/compaction.ts'
import { writeIdentity, writeRecord } from '../../src/store/record.ts'

const NOW = 10_000

/** Which of the entries, by their place, are not needed at that time. */
function superfluous(entries: readonly RevocationEntry[], now = NOW): readonly number[] {
  const stream = entries.map((entry, at) => ({ id: `${at}-0`, fields: writeRecord(entry) }))
  return createCompaction(now)
    .superfluous(stream)
    .map((id) => Number.parseInt(id, 10))
}

const token = (jti: string, exp?: number, iss?: string): RevocationEntry => ({
  type: 'token',
  jti,
  ...(exp !== undefined && { exp }),
  ...(iss !== undefined && { iss }),
})
const digestLike = (letter: string) => letter.repeat(43)
const digest = (letter: string, exp?: number): RevocationEntry => ({
  type: 'digest',
  digest: digestLike(letter),
  ...(exp !== undefined && { exp }),
})
const before = (sub: string, time: number, until?: number): RevocationEntry => ({
  type: 'issued_before',
  sub,
  time,
  ...(until !== undefined && { until }),
})

test.each<[string, readonly RevocationEntry[], readonly number[]]>([
  ['a token that can still be accepted somewhere stays', [token('a', NOW - 900)], []],
  ['a token 600 s and the difference of clocks after its exp goes', [token('a', NOW - 901)], [0]],
  ['a token without exp stays', [token('a')], []],
  ['an entry that has not ended stays', [before('a', 1, NOW - 300)], []],
  ['an entry that has ended goes', [before('a', 1, NOW - 301)], [0]],
  ['the same once more: one stays', [token('a', NOW), token('a', NOW)], [1]],
  ['the later exp stays', [token('a', NOW), token('a', NOW + 1), token('a', NOW)], [0, 2]],
  ['of a digest the later exp stays', [digest('a', NOW), digest('a', NOW + 1), digest('b')], [0]],
  ['a digest goes when a token does', [digest('a', NOW - 901), digest('b', NOW - 900)], [0]],
  ['a digest is no jti', [token(digestLike('a')), digest('a')], []],
  ['other issuers are others', [token('a'), token('a', undefined, 'x')], []],
  ['the latest time stays', [before('a', 1), before('a', 3), before('a', 2)], [0, 2]],
  ['a later time that ends earlier leaves both', [before('a', 1), before('a', 3, NOW)], []],
])('%s', (_, entries, expected) => {
  expect(superfluous(entries)).toEqual(expected)
})

test('an identity, records of others and records that cannot be read stay', () => {
  const stream = [
    { id: '0-1', fields: writeIdentity({ id: 'a', replaces: [], isMarked: false }) },
    { id: '1-0', fields: ['hello', 'world'] },
    { id: '2-0', fields: ['v', '2'] },
  ]
  expect(createCompaction(NOW).superfluous(stream)).toEqual([])
})

test('whoever reads only what stays gives the same verdicts', () => {
  const time = fc.integer({ min: NOW - 2000, max: NOW + 2000 })
  const entry = fc.oneof(
    fc
      .tuple(fc.constantFrom('a', 'b'), fc.option(time, { nil: undefined }))
      .map(([jti, exp]) => token(jti, exp)),
    fc
      .tuple(fc.constantFrom('a', 'b'), time, fc.option(time, { nil: undefined }))
      .map(([sub, issued, until]) => before(sub, issued, until)),
  )
  fc.assert(
    fc.property(fc.array(entry), time, (entries, iat) => {
      const gone = new Set(superfluous(entries))
      const kept = entries.filter((_, at) => !gone.has(at))
      const [all, some] = [entries, kept].map((each) => {
        const list = localRevocations({ clock: manualClock(NOW) })
        list.load(each)
        return (claims: Claims) => list.statusOf(claims, NOW)
      })
      for (const claims of [{ jti: 'a' }, { jti: 'b' }, { sub: 'a', iat }, { sub: 'b', iat }]) {
        expect(some?.(claims)).toBe(all?.(claims))
      }
    }),
  )
})

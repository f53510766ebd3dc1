import { localRevocations, type RevocationEntry } from '@portcullis/core'
import { manualClock } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { INITIAL_STATE, type ReplicaState } from '../../src/revocations/following.ts'
import { wordOf } from '../../src/revocations/readiness.ts'
import {
  covers,
  hasLapsed,
  isOwed,
  lackingFrom,
  mayLack,
  nameOf,
  partedIn,
  standingIn,
  standingOf,
} from '../../src/revocations/restoring.ts'

const token = (exp?: number): RevocationEntry => ({
  type: 'token',
  iss: 'i',
  jti: 'a',
  ...(exp === undefined ? {} : { exp }),
})
const DIGEST = 'd'.repeat(43)
const digest = (exp: number): RevocationEntry => ({ type: 'digest', iss: 'i', digest: DIGEST, exp })
const before = (whose: object, time: number, until?: number): RevocationEntry => ({
  type: 'issued_before',
  iss: 'i',
  ...whose,
  time,
  ...(until === undefined ? {} : { until }),
})

describe('what the stream has covers an entry', () => {
  test.each<[string, RevocationEntry[], RevocationEntry, boolean]>([
    ['nothing is there', [], token(1e10), false],
    ['the same', [token(1e10)], token(1e10), true],
    ['one that ends later', [token(2e10)], token(1e10), true],
    ['one without an end', [token()], token(1e10), true],
    ['one that ends earlier', [token(1e10 - 1)], token(1e10), false],
    ['one with an end, of one without', [token(1e10)], token(), false],
    ['the same without an end', [token()], token(), true],
    ['another token', [{ ...token(1e10), jti: 'b' } as RevocationEntry], token(1e10), false],
    ['that of another issuer', [{ ...token(1e10), iss: 'j' }], token(1e10), false],
    // When the token was issued is not known.
    ['all of the issuer until now', [before({}, 1e10)], token(1e10), false],
    ['all of the issuer until now, of a digest', [before({}, 1e10)], digest(1e10), false],
    ['the same digest', [digest(1e10)], digest(1e10), true],
    ['a digest that ends earlier', [digest(1e9)], digest(1e10), false],
    ['a digest, of a token', [digest(1e10)], token(1e10), false],
    ['the same time', [before({ sub: 's' }, 100)], before({ sub: 's' }, 100), true],
    ['a later time', [before({ sub: 's' }, 101)], before({ sub: 's' }, 100), true],
    ['an earlier time', [before({ sub: 's' }, 99.999)], before({ sub: 's' }, 100), false],
    ['a later time that ends earlier', [before({}, 200, 1e10)], before({}, 100), false],
    [
      'a later time that ends earlier, of one that ends',
      [before({ sid: 's' }, 200, 2e9)],
      before({ sid: 's' }, 100, 3e9),
      false,
    ],
    ['all of the issuer', [before({}, 100)], before({ sub: 's' }, 100), true],
    ['a session of that name', [before({ sid: 's' }, 100)], before({ sub: 's' }, 100), false],
    ['the same session', [before({ sid: 's' }, 100)], before({ sid: 's' }, 100), true],
    ['another client', [before({ client_id: 'c' }, 100)], before({ client_id: 's' }, 100), false],
    ['the client', [before({ client_id: 's' }, 100)], before({ client_id: 's' }, 100), true],
    ['a time of zero', [before({}, 0)], before({}, 0), true],
    ['a time below zero, of zero', [before({}, -1)], before({}, 0), false],
  ])('%s', (_, others, entry, expected) => {
    const seen = localRevocations({ clock: manualClock(1000) })
    seen.load(others)
    expect(covers(seen, entry)).toBe(expected)
  })
})

test('however many the stream lacks, each entry is looked at once', () => {
  const known = Array.from({ length: 30_000 }, (_, at): RevocationEntry => ({
    type: 'token',
    iss: 'i',
    jti: `t${at}`,
  }))
  let looks = 0
  const seen = {
    statusOf({ jti }: { readonly jti?: unknown }) {
      looks += 1
      return Number(String(jti).slice(1)) % 2 === 0 ? ('revoked' as const) : ('valid' as const)
    },
  }
  const written: RevocationEntry[] = []
  for (let at = 0; at < known.length;) {
    const { page, next } = lackingFrom(known, at, seen, 1000)
    expect(page.length).toBeLessThanOrEqual(500)
    written.push(...page)
    at = next
  }
  expect(written).toEqual(known.filter((_, at) => at % 2 === 1))
  expect(looks).toBe(known.length)
  // The event loop turns in between, also where nothing lacks.
  expect(lackingFrom(known, 0, { statusOf: () => 'revoked' }, 1000).next).toBe(20_000)
})

test.each<[RevocationEntry, number, boolean]>([
  [token(1000), 1900, false],
  [token(1000), 1901, true],
  [token(), 1e12, false],
  [before({}, 1, 1000), 1300, false],
  [before({}, 1, 1000), 1301, true],
  [before({}, 1), 1e12, false],
])('%j has lapsed at %d by whatever clock: %s', (entry, now, expected) => {
  expect(hasLapsed(entry, now)).toBe(expected)
})

test.each([
  ['start', true],
  ['identity', true],
  ['step_back', true],
  ['history', true],
  ['gap', true],
  ['removed', false],
  ['full', false],
  ['clock', false],
] as const)(
  'read from its beginning for %s, the stream may lack what is known: %s',
  (trigger, so) => {
    const freshAt = { wall: 1, monotonic: 1 }
    expect(mayLack({ freshAt }, trigger, true)).toBe(so)
    // What it knew may be gone, or have lapsed: that it was looked for is said all the same.
    expect(mayLack({ freshAt }, trigger, false)).toBe(so)
    // Who has not read all of one knows what it has read.
    expect(mayLack({ freshAt: undefined }, trigger, true)).toBe(so)
    expect(mayLack({ freshAt: undefined }, trigger, false)).toBe(false)
  },
)

test('a stream was left in the state of the moment at which it was found to be gone, whatever comes later', () => {
  expect(partedIn({ parted: undefined, store: 'sound' }, 'current')).toBe('current')
  expect(partedIn({ parted: 'current', store: 'missing' }, 'missing')).toBe('current')
  expect(partedIn({ parted: undefined, store: 'unread' }, 'loading')).toBeUndefined()
})

const AT = { wall: 100, monotonic: 100 }
const POSITION: ReplicaState['position'] = {
  read: { last: '1-0', anchor: undefined },
  reported: {
    identity: 'x',
    isMarked: true,
    info: {
      last: '1-0',
      maxDeleted: '0-0',
      entriesAdded: 1,
      length: 1,
      first: undefined,
      newest: undefined,
    },
    unread: 0,
  },
  lead: 0,
}
const SOUND: ReplicaState = {
  ...INITIAL_STATE,
  identity: 'x',
  store: 'sound',
  freshAt: AT,
  position: POSITION,
}

test.each<[string, Partial<ReplicaState>, string, string | undefined]>([
  ['nothing was lost', {}, 'current', 'follows'],
  ['no stream was read yet', { identity: undefined, freshAt: undefined }, 'loading', undefined],
  ['it has joined', { isRestoring: true }, 'restoring', 'joined'],
  ['it has joined, and knows something', { isRestoring: true, losses: 1 }, 'restoring', 'writing'],
  [
    'it followed all of the former one',
    { isRestoring: true, former: 'current', losses: 1 },
    'current',
    'writing',
  ],
  [
    'it has written',
    { isRestoring: true, former: 'current', losses: 1, settled: 1 },
    'current',
    'written',
  ],
  [
    'it followed some of it',
    { isRestoring: true, former: 'stale', losses: 1, settled: 1 },
    'restoring',
    'written',
  ],
  ['an operator has ended that', { former: 'stale', losses: 1, settled: 1 }, 'current', 'follows'],
  ['its stream is gone', { store: 'missing', parted: 'current' }, 'missing', 'lost'],
  ['another is in its place', { store: 'replaced', parted: 'full' }, 'replaced', 'lost'],
])('%s', (_, changes, word, standing) => {
  const state = { ...SOUND, ...changes }
  expect(wordOf(state, AT, 10)).toBe(word)
  const said = standingOf('p', state, 10)
  expect(said?.word).toBe(standing)
  expect(said && standingIn(nameOf(said))).toEqual(said)
})

test.each<[string, Partial<ReplicaState>, boolean]>([
  ['nothing was lost', {}, false],
  ['something may be lacking', { losses: 2, settled: 1 }, true],
  ['the stream is another', { losses: 1, store: 'replaced' }, false],
  ['it is away', { losses: 1, position: undefined }, false],
  ['it was read, and no report has said yet whose it is', { losses: 1, identity: 'former' }, false],
  ['it was closed', { losses: 1, isClosed: true }, false],
])('%s: to be written back: %s', (_, changes, expected) => {
  expect(isOwed({ ...SOUND, ...changes })).toBe(expected)
})

test('an identity with spaces and colons is read from a name as it is', () => {
  const standing = {
    process: 'p',
    identity: 'a b:c%',
    word: 'lost',
    former: 'full',
    maxStaleness: 0.5,
  } as const
  expect(nameOf(standing)).toMatch(/^[!-~]+$/)
  expect(standingIn(nameOf(standing))).toEqual(standing)
})

test.each([
  '',
  'api',
  'portcullis-revocations',
  'portcullis-revocations:p:a:sleeping:full:10',
  'portcullis-revocations:p:%:lost:full:10',
  'portcullis-replays:p:a:lost:full:10',
  'portcullis-revocations::a:lost:full:10',
  'portcullis-revocations:p:a:lost::10',
  'portcullis-revocations:p:a:lost:full',
  'portcullis-revocations:p:a:lost:full:0',
  'portcullis-revocations:p:a:lost:full:soon',
])('a name of others says nothing: %j', (name) => {
  expect(standingIn(name)).toBeUndefined()
})

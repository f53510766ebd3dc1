import { describe, expect, test } from 'vitest'

import { RevocationStoreError } from '../src/errors.ts'
import {
  adopt,
  followStep,
  freshSince,
  INITIAL_STATE,
  type Position,
  readiness,
  type ReplicaState,
  wordOf,
} from '../src/following.ts'
import type { StreamInfo, StreamReport } from '../src/stream.ts'
import type { Instant } from '../src/time.ts'

const at = (seconds: number): Instant => ({ wall: seconds, monotonic: seconds })

const INFO: StreamInfo = { last: '20-0', maxDeleted: '5-0', entriesAdded: 9, length: 7 }
const ANCHOR = { id: '20-0', fields: ['v', '1'] }
const NEWEST = { id: '30-0', fields: ['v', '1'] }
const POSITION: Position = {
  identity: 'first',
  last: '20-0',
  verified: '20-0',
  anchor: ANCHOR,
  newest: undefined,
  addedThen: 9,
  readSince: 0,
  lead: 0,
  info: INFO,
}
const REPORT: StreamReport = {
  identity: { id: 'first', replaces: [] },
  info: INFO,
  found: [ANCHOR],
}

describe('after a report', () => {
  const read = { count: 0, first: undefined }
  const info = (changes: Partial<StreamInfo>) => ({ ...REPORT, info: { ...INFO, ...changes } })

  test.each<[string, string, StreamReport, Position | undefined]>([
    ['there is no stream', 'absent', { ...REPORT, info: undefined }, POSITION],
    ['nothing was read yet', 'start', REPORT, undefined],
    ['nothing has changed', 'follow', REPORT, POSITION],
    ['entries were added', 'follow', info({ last: '30-0', entriesAdded: 10, length: 8 }), POSITION],
    ['an entry was deleted that was read', 'follow', info({ maxDeleted: '19-0' }), POSITION],
    [
      'the last entry was deleted, which was read',
      'follow',
      { ...info({ maxDeleted: '20-0', length: 6 }), found: [undefined] },
      POSITION,
    ],
    [
      'an entry was deleted that was not',
      'gap',
      info({ maxDeleted: '21-0', last: '30-0', entriesAdded: 10 }),
      POSITION,
    ],
    [
      'an entry was deleted that was read, but perhaps before that',
      'gap',
      info({ maxDeleted: '25-0', last: '30-0' }),
      { ...POSITION, last: '30-0' },
    ],
    ['the last id is lower', 'step_back', info({ last: '19-9' }), POSITION],
    ['the last deleted id is lower', 'step_back', info({ maxDeleted: '4-0' }), POSITION],
    ['fewer entries were ever added', 'step_back', info({ entriesAdded: 8 }), POSITION],
    ['our entry is not there', 'history', { ...REPORT, found: [undefined] }, POSITION],
    [
      'our entry has another content',
      'history',
      { ...REPORT, found: [{ id: '20-0', fields: ['v', '2'] }] },
      POSITION,
    ],
    [
      'our entry has more content',
      'history',
      { ...REPORT, found: [{ id: '20-0', fields: ['v', '1', 'w', '1'] }] },
      POSITION,
    ],
    [
      'what was read since is there as well',
      'follow',
      { ...info({ last: '30-0', entriesAdded: 10, length: 8 }), found: [ANCHOR, NEWEST] },
      { ...POSITION, last: '30-0', newest: NEWEST, readSince: 1 },
    ],
    [
      'what was read since is not there',
      'history',
      { ...info({ last: '30-0', entriesAdded: 10, length: 8 }), found: [ANCHOR, undefined] },
      { ...POSITION, last: '30-0', newest: NEWEST, readSince: 1 },
    ],
    [
      'more entries were added than were read',
      'history',
      { ...info({ last: '30-0', entriesAdded: 11, length: 9 }), found: [ANCHOR, NEWEST] },
      { ...POSITION, last: '30-0', newest: NEWEST, readSince: 1 },
    ],
    ['the last id is larger, and nothing was added', 'history', info({ last: '30-0' }), POSITION],
    [
      'the identity is another',
      'identity',
      { ...REPORT, identity: { id: 'second', replaces: ['first'] } },
      POSITION,
    ],
    ['the identity is gone', 'identity', { ...REPORT, identity: undefined }, POSITION],
    ['the identity is there again', 'identity', REPORT, { ...POSITION, identity: undefined }],
    [
      'ids are compared as numbers of 64 bits',
      'step_back',
      info({ last: '9007199254740993-0' }),
      { ...POSITION, last: '9007199254740993-1' },
    ],
  ])('%s: %s', (_, word, report, position) => {
    expect(followStep({ position, unreadable: read }, report, at(1))).toBe(word)
  })

  test.each<[string, Partial<StreamInfo>]>([
    ['removed', { length: 6 }],
    ['follow', { last: '30-0', length: 8, entriesAdded: 10 }],
  ])('with a record that cannot be read: %s', (word, changes) => {
    const unreadable = { count: 1, first: '7-0' }
    expect(followStep({ position: POSITION, unreadable }, info(changes), at(1))).toBe(word)
  })
})

test.each([
  ['forward', 60, 'follow'],
  ['back, by a leap second', -1, 'follow'],
  ['back', -60, 'clock'],
])('the wall clock was set %s', (_, by, word) => {
  const state = { position: POSITION, unreadable: { count: 0, first: undefined } }
  expect(followStep(state, REPORT, { wall: 100 + by, monotonic: 100 })).toBe(word)
})

test.each([
  ['no identity yet, none now', undefined, undefined, undefined, 'missing'],
  ['no identity yet', undefined, { id: 'b', replaces: [] }, 'b', 'sound'],
  ['the same', 'a', { id: 'a', replaces: [] }, 'a', 'sound'],
  ['none any more', 'a', undefined, 'a', 'missing'],
  ['another', 'a', { id: 'b', replaces: [] }, 'a', 'replaced'],
  ['another that replaces a third', 'a', { id: 'b', replaces: ['c'] }, 'a', 'replaced'],
  ['another that replaces it', 'a', { id: 'b', replaces: ['c', 'a'] }, 'b', 'sound'],
])('identity: %s', (_, known, seen, identity, store) => {
  expect(adopt(known, seen)).toEqual({ identity, store })
})

describe('the replica lacks nothing before', () => {
  const behind = { freshAt: at(1), position: { ...POSITION, last: '10-0' } }
  test.each([
    ['the report, if everything was read', { freshAt: at(1), position: POSITION }, undefined, 5],
    ['the last read, if more has come since', behind, { sentAt: at(3), wasFull: false }, 3],
    ['what was known, if more could be read', behind, { sentAt: at(3), wasFull: true }, 1],
    ['what was known, if nothing was read', behind, undefined, 1],
    [
      'the later moment',
      { freshAt: at(9), position: POSITION },
      { sentAt: at(3), wasFull: false },
      9,
    ],
  ])('%s', (_, state, read, expected) => {
    expect(freshSince(state, INFO, at(5), read)).toEqual(at(expected))
  })

  test('nothing at all, without a position', () => {
    const state = { freshAt: undefined, position: undefined }
    expect(freshSince(state, INFO, at(5), undefined)).toBeUndefined()
  })
})

const SOUND: ReplicaState = {
  ...INITIAL_STATE,
  identity: 'first',
  position: POSITION,
  store: 'sound',
  freshAt: at(100),
}

test.each<[string, Partial<ReplicaState>, Instant]>([
  ['current', {}, at(110)],
  ['stale', {}, at(110.1)],
  ['stale', {}, { wall: 111, monotonic: 100 }],
  ['stale', {}, { wall: 100, monotonic: 111 }],
  ['stale', {}, at(Number.NaN)],
  ['loading', { freshAt: undefined }, at(100)],
  ['missing', { store: 'missing' }, at(100)],
  ['replaced', { store: 'replaced' }, at(100)],
  ['unreadable', { unreadable: { count: 1, first: '7-0' } }, at(100)],
  ['full', { isFull: true }, at(100)],
  ['closed', { isClosed: true, store: 'missing' }, at(100)],
  ['current', { foreign: { count: 3, first: '7-0' }, failures: 4 }, at(105)],
])('word: %s', (word, changes, now) => {
  expect(wordOf({ ...SOUND, ...changes }, now, 10)).toBe(word)
})

describe('whoever waits for ready()', () => {
  const before = { reports: 1, lastFailure: undefined }
  const failure = { error: new RevocationStoreError('timeout'), at: at(1) }
  const after: ReplicaState = { ...SOUND, reports: 2 }

  test.each<[string, ReplicaState, Parameters<typeof readiness>[1], 'refuse' | 'accept', unknown]>([
    ['is let go', SOUND, 'current', 'refuse', 'ready'],
    ['waits while nothing has happened', { ...SOUND, reports: 1 }, 'missing', 'refuse', undefined],
    ['waits while it is read', after, 'loading', 'refuse', undefined],
    ['is told of a failure', { ...after, lastFailure: failure }, 'stale', 'refuse', 'timeout'],
    ['does not mind a failure', { ...after, lastFailure: failure }, 'stale', 'accept', 'ready'],
    ['is told that there is none', after, 'missing', 'refuse', 'no_stream'],
    ['is told that it is another', after, 'replaced', 'refuse', 'other_stream'],
    ['is told of a record', after, 'unreadable', 'refuse', 'unreadable_record'],
    ['is told of the bound', after, 'full', 'refuse', 'full'],
    ['does not mind any of that', after, 'missing', 'accept', 'ready'],
    ['is told of the end', after, 'closed', 'accept', 'closed'],
  ])('%s', (_, state, word, whenStale, expected) => {
    const verdict = readiness(state, word, before, whenStale)
    expect(verdict instanceof RevocationStoreError ? verdict.reason : verdict).toBe(expected)
  })
})

import type { Instant } from '@portcullis/kit/time'
import { describe, expect, test } from 'vitest'

import type { LoadTrigger } from '../../src/revocations/diagnostics.ts'
import {
  adopt,
  followStep,
  INITIAL_STATE,
  NOTHING_SKIPPED,
  type Position,
  type ReplicaState,
} from '../../src/revocations/following.ts'
import { afterReport } from '../../src/revocations/replica-state.ts'
import { causeOfLoad } from '../../src/revocations/restoring.ts'
import type { StreamInfo } from '../../src/store/stream-replies.ts'
import type { StreamReport } from '../../src/store/stream-report.ts'

const at = (seconds: number): Instant => ({ wall: seconds, monotonic: seconds })

const ANCHOR = { id: '20-0', fields: ['v', '1'] }
const NEXT = { id: '30-0', fields: ['v', '1'] }
const INFO: StreamInfo = {
  last: '20-0',
  maxDeleted: '5-0',
  entriesAdded: 9,
  length: 7,
  first: undefined,
  newest: ANCHOR,
}
const READ = { last: '20-0', anchor: ANCHOR }
const REPORTED = { identity: 'first', isMarked: false, info: INFO, unread: 0 }
const POSITION: Position = { read: READ, reported: REPORTED, lead: 0 }
const REPORT: StreamReport = {
  identity: { id: 'first', replaces: [], isMarked: false },
  info: INFO,
  entries: [],
  anchor: ANCHOR,
  isRestoring: false,
}
/** Of one page. */
const COUNT = 2
const STATE = { unreadable: NOTHING_SKIPPED, isFull: false, shortage: undefined }

describe('what is read from its beginning since', () => {
  const reading = { identity: REPORT.identity, info: INFO }
  const other = { ...reading, identity: { id: 'second', replaces: ['first'], isMarked: true } }
  const shorter = { ...reading, info: { ...INFO, last: '19-0', entriesAdded: 8, length: 6 } }

  test.each<[string, LoadTrigger, Position | undefined, typeof reading, LoadTrigger]>([
    ['the clock was set back', 'clock', POSITION, reading, 'clock'],
    ['that, and has another identity', 'clock', POSITION, other, 'identity'],
    ['there was no room, and has another identity', 'full', POSITION, other, 'identity'],
    ['that, and has none', 'full', POSITION, { ...reading, identity: undefined }, 'identity'],
    ['a record was removed, and has less', 'removed', POSITION, shorter, 'step_back'],
    ['it has begun', 'start', undefined, other, 'start'],
    ['something may be lost, and has less', 'gap', POSITION, shorter, 'gap'],
  ])('%s', (_, trigger, position, read, cause) => {
    expect(causeOfLoad(trigger, position, read)).toBe(cause)
  })
})

describe('after a report', () => {
  const info = (changes: Partial<StreamInfo>) => ({ ...REPORT, info: { ...INFO, ...changes } })
  const added = { ...info({ last: '30-0', entriesAdded: 10, length: 8 }), entries: [NEXT] }

  test.each<[string, string, StreamReport, Position]>([
    ['there is no stream', 'absent', { ...REPORT, info: undefined }, POSITION],
    ['nothing has changed', 'follow', REPORT, POSITION],
    ['an entry was added', 'follow', added, POSITION],
    [
      'more entries were added than a page has',
      'follow',
      {
        ...info({ last: '50-0', entriesAdded: 12, length: 10 }),
        entries: [NEXT, { ...NEXT, id: '40-0' }],
      },
      POSITION,
    ],
    [
      'the rest of them comes',
      'follow',
      { ...info({ last: '30-0' }), entries: [NEXT] },
      { ...POSITION, reported: { ...REPORTED, unread: 1, info: { ...INFO, last: '30-0' } } },
    ],
    ['an entry was deleted that was read', 'follow', info({ maxDeleted: '19-0' }), POSITION],
    [
      'the last entry was deleted, which was read',
      'follow',
      { ...info({ maxDeleted: '20-0', length: 6 }), anchor: undefined },
      POSITION,
    ],
    [
      'an entry was deleted that was not',
      'gap',
      info({ maxDeleted: '21-0', last: '30-0', entriesAdded: 10 }),
      POSITION,
    ],
    ['the last id is lower', 'step_back', info({ last: '19-9' }), POSITION],
    ['the last deleted id is lower', 'step_back', info({ maxDeleted: '4-0' }), POSITION],
    ['fewer entries were ever added', 'step_back', info({ entriesAdded: 8 }), POSITION],
    ['fewer entries were ever deleted', 'step_back', info({ length: 8 }), POSITION],
    ['our entry is not there', 'history', { ...REPORT, anchor: undefined }, POSITION],
    [
      'our entry has another content',
      'history',
      { ...REPORT, anchor: { id: '20-0', fields: ['v', '2'] } },
      POSITION,
    ],
    [
      'our entry has more content',
      'history',
      { ...REPORT, anchor: { id: '20-0', fields: ['v', '1', 'w', '1'] } },
      POSITION,
    ],
    [
      'more entries were added than are there',
      'history',
      { ...info({ last: '30-0', entriesAdded: 11, length: 9 }), entries: [NEXT] },
      POSITION,
    ],
    ['more entries are there than were added', 'history', { ...REPORT, entries: [NEXT] }, POSITION],
    [
      'the last entry that is there is not the last that was added',
      'history',
      { ...added, entries: [{ ...NEXT, id: '29-0' }] },
      POSITION,
    ],
    ['the last id is larger, and nothing was added', 'history', info({ last: '30-0' }), POSITION],
    [
      'the identity is another',
      'identity',
      { ...REPORT, identity: { id: 'second', replaces: ['first'], isMarked: false } },
      POSITION,
    ],
    ['the identity is gone', 'identity', { ...REPORT, identity: undefined }, POSITION],
    [
      'the identity is there again',
      'identity',
      REPORT,
      { ...POSITION, reported: { ...REPORTED, identity: undefined } },
    ],
    [
      'ids are compared as numbers of 64 bits',
      'step_back',
      info({ last: '9007199254740993-0' }),
      { ...POSITION, read: { ...READ, last: '9007199254740993-1' } },
    ],
  ])('%s: %s', (_, word, report, position) => {
    expect(followStep(STATE, position, report, at(1), COUNT).word).toBe(word)
  })

  test.each<[string, StreamReport]>([
    ['removed', info({ length: 6 })],
    ['follow', added],
  ])('with a record that cannot be read: %s', (word, report) => {
    const state = { ...STATE, unreadable: { count: 1, first: '7-0' } }
    expect(followStep(state, POSITION, report, at(1), COUNT).word).toBe(word)
  })

  const rest = { soonest: 60, longest: 600 }
  test.each<[string, string, number, StreamReport]>([
    ['entries were deleted since, a minute later', 'full', 161, info({ length: 6 })],
    ['entries were deleted since, sooner', 'follow', 159, info({ length: 6 })],
    ['none was deleted, a minute later', 'follow', 161, REPORT],
    ['none was deleted, much later', 'full', 701, REPORT],
  ])('without room for all, %s: %s', (_, word, now, report) => {
    const state = { ...STATE, isFull: true, shortage: { at: at(100), deleted: 2, rest } }
    expect(followStep(state, POSITION, report, at(now), COUNT).word).toBe(word)
  })

  test('without room for a revocation of this process that no reader has seen: it is read again', () => {
    expect(followStep({ ...STATE, isFull: true }, POSITION, REPORT, at(1), COUNT).word).toBe('full')
  })
})

test.each([
  ['forward', 60, 'follow'],
  ['back, by a leap second', -1, 'follow'],
  ['back', -60, 'clock'],
])('the wall clock was set %s', (_, by, word) => {
  const now = { wall: 100 + by, monotonic: 100 }
  expect(followStep(STATE, POSITION, REPORT, now, COUNT).word).toBe(word)
})

test.each([
  ['no identity yet, none now', undefined, undefined, undefined, 'missing'],
  ['no identity yet', undefined, { id: 'b', replaces: [], isMarked: false }, 'b', 'sound'],
  ['the same', 'a', { id: 'a', replaces: [], isMarked: false }, 'a', 'sound'],
  ['none any more', 'a', undefined, 'a', 'missing'],
  ['another', 'a', { id: 'b', replaces: [], isMarked: false }, 'a', 'replaced'],
  [
    'another that replaces a third',
    'a',
    { id: 'b', replaces: ['c'], isMarked: false },
    'a',
    'replaced',
  ],
  [
    'another that replaces it',
    'a',
    { id: 'b', replaces: ['c', 'a'], isMarked: false },
    'b',
    'sound',
  ],
])('identity: %s', (_, known, seen, identity, store) => {
  expect(adopt(known, seen)).toEqual({ identity, store })
})

describe('the replica lacks nothing before', () => {
  const state = { ...INITIAL_STATE, freshAt: at(1) }
  const batch = { unreadable: [], foreign: [], isFull: false }
  const info = { ...INFO, last: '30-0', entriesAdded: 10, length: 8 }
  test.each<[string, Partial<ReplicaState>, StreamInfo, number, number]>([
    ['the report, if it brought all that there is', {}, info, 5, 5],
    ['what sentinels last said of the server, if that is earlier', {}, info, 3, 3],
    ['what was known, if there is more', {}, { ...info, entriesAdded: 12, length: 10 }, 5, 1],
    ['the later moment', { freshAt: at(9) }, info, 5, 9],
  ])('%s', (_, changes, said, asOf, expected) => {
    const report = { ...REPORT, info: said, entries: [NEXT] }
    const next = afterReport(
      { ...state, ...changes },
      POSITION,
      report,
      { info: said, askedAt: at(5), asOf: at(asOf) },
      batch,
    )
    expect(next.freshAt).toEqual(at(expected))
  })
})

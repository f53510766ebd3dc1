import type { Instant } from '@portcullis/kit/time'
import { describe, expect, test } from 'vitest'

import { INITIAL_STATE, type ReplicaState } from '../../src/revocations/following.ts'
import { readiness, wordOf } from '../../src/revocations/readiness.ts'
import { RevocationStoreError } from '../../src/store/errors.ts'

const at = (seconds: number): Instant => ({ wall: seconds, monotonic: seconds })

const SOUND: ReplicaState = {
  ...INITIAL_STATE,
  identity: 'first',
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

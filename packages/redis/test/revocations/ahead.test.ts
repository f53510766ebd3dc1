import { localRevocations } from '@portcullis/core'
import { manualClock } from '@portcullis/testing'
import { expect, test } from 'vitest'

import { createAhead } from '../../src/revocations/ahead.ts'
import { createOurs } from '../../src/revocations/ours.ts'
import type { RedisRevocations } from '../../src/revocations/redis-revocations.ts'
import {
  following,
  ISS,
  jtiListIn,
  jtisIn,
  MAX_STALENESS,
  processes,
  tokenRecord,
  wayTo,
} from './processes.ts'

// What is read between two reports: an answer to XREAD does not say of which stream it is.

const A_WHILE = 3 * MAX_STALENESS
/** Sooner than the next report. */
const AT_ONCE = 0.1

function verdict(replica: RedisRevocations, jti: string): unknown {
  return replica.statusOf({ iss: ISS, jti, iat: 1 }, 1)
}

test('another stream comes in the place of ours while a process waits for entries: they are refused at once, and never written into ours', async () => {
  const { store, clock, replica } = await following()
  await replica.revoke({ iss: ISS, jti: 'a' })
  await clock.advance(1)
  const { data } = store
  store.data = new Map()
  store.create('of another environment')
  store.add(tokenRecord('theirs'))
  await clock.advance(AT_ONCE)
  expect(verdict(replica, 'theirs')).toBe('revoked')
  await clock.advance(A_WHILE)
  expect(replica.status().state).toBe('replaced')
  store.data = data
  await clock.advance(A_WHILE)
  expect(replica.status().state).toBe('current')
  expect(jtiListIn(store)).toEqual(['a'])
  expect(verdict(replica, 'theirs')).toBe('revoked')
})

test('the same for a moment, so that no report has seen it: what it has revoked stays refused, and is not written into ours', async () => {
  const { store, clock, replica } = await following()
  await clock.advance(1)
  const { data } = store
  store.data = new Map()
  store.create('of another environment')
  store.add(tokenRecord('theirs'))
  await clock.advance(AT_ONCE)
  store.data = data
  await clock.advance(A_WHILE)
  expect(verdict(replica, 'theirs')).toBe('revoked')
  expect(jtiListIn(store)).toEqual([])
})

test('ours comes back while a process waits for entries of another one: what that had is not taken for ours', async () => {
  const { store, clock, replica } = await following()
  const { data } = store
  store.data = new Map()
  store.create('of another environment')
  await clock.advance(A_WHILE)
  store.add(tokenRecord('theirs'))
  await clock.advance(AT_ONCE)
  expect(verdict(replica, 'theirs')).toBe('revoked')
  store.data = data
  await clock.advance(A_WHILE)
  expect(replica.status().state).toBe('current')
  expect(jtiListIn(store)).toEqual([])
})

test('a revocation is read, and lost before a report: whoever has read it writes it back, and goes on to refuse it', async () => {
  const { store, clock, replica } = await following()
  store.add(tokenRecord('known'))
  await clock.advance(MAX_STALENESS)
  store.add(tokenRecord('a'))
  await clock.advance(AT_ONCE)
  store.data = new Map()
  await clock.advance(MAX_STALENESS)
  store.create('second', ['first'])
  await clock.advance(A_WHILE)
  expect(verdict(replica, 'a')).toBe('revoked')
  expect(new Set(jtiListIn(store))).toEqual(new Set(['known', 'a']))
})

test.for([
  ['a report of the new primary finds it', 0],
  ['the new primary has more than a page that was not read, too', 3],
] as const)(
  'a revocation is read, and a fail-over loses that alone: whoever has read it refuses it, and writes it back: %s',
  async ([, others]) => {
    const { store, clock, start } = processes()
    store.create('first')
    const way = wayTo(store)
    const replica = start({ connect: way.connect, page: 2 })
    await replica.ready()
    const former = structuredClone(store.data)
    store.add(tokenRecord('a'))
    await clock.advance(AT_ONCE)
    store.data = former
    for (let at = 0; at < others; at += 1) store.add(tokenRecord(`other ${at}`))
    way.cut()
    await clock.advance(A_WHILE)
    expect(verdict(replica, 'a')).toBe('revoked')
    expect(jtisIn(store)).toContain('a')
  },
)

test('the same, and ours is lost afterwards: it is not written into the one that replaces that either', async () => {
  const { store, clock, replica } = await following()
  await clock.advance(1)
  const { data } = store
  store.data = new Map()
  store.create('of another environment')
  store.add(tokenRecord('theirs'))
  await clock.advance(AT_ONCE)
  store.data = data
  store.add(tokenRecord('ours'))
  await clock.advance(A_WHILE)
  store.data = new Map()
  await clock.advance(MAX_STALENESS)
  store.create('second', ['first'])
  await clock.advance(A_WHILE)
  expect([verdict(replica, 'theirs'), replica.status().state]).toEqual(['revoked', 'current'])
  expect(jtiListIn(store)).toEqual(['ours'])
})

test('a revocation is read, a fail-over loses it, and there is no room for it: it stays refused, and is written back', async () => {
  const { store, clock, start } = processes()
  store.create('first')
  const way = wayTo(store)
  const replica = start({ connect: way.connect, max: 3 })
  await replica.ready()
  const exp = clock.now() + 100
  for (const jti of ['s', 't']) store.add(tokenRecord(jti, exp))
  await clock.advance(MAX_STALENESS)
  const former = structuredClone(store.data)
  store.add(tokenRecord('a'))
  await clock.advance(AT_ONCE)
  expect(verdict(replica, 'a')).toBe('revoked')
  store.data = former
  store.add(tokenRecord('u', exp))
  way.cut()
  await clock.advance(A_WHILE)
  expect([verdict(replica, 'a'), replica.status().state]).toEqual(['revoked', 'full'])
  expect(jtiListIn(store)).toEqual(['s', 't', 'u', 'a'])
  // Until the first three have lapsed, and the stream is read again.
  await clock.advance(1800)
  expect([verdict(replica, 'a'), replica.status().state]).toEqual(['revoked', 'current'])
  expect(jtiListIn(store)).toEqual(['s', 't', 'u', 'a'])
})

test('a report brings another record with the id of what was read: both count, since two primaries may give one id twice', () => {
  const clock = manualClock()
  const index = localRevocations({ clock })
  const ahead = createAhead(index, 10, clock)
  ahead.take(['a', 'b'].map((jti, at) => ({ id: `${at}-0`, fields: tokenRecord(jti) })))
  ahead.settle(['c', 'b'].map((jti, at) => ({ id: `${at}-0`, fields: tokenRecord(jti) })))
  ahead.mayBeLost()
  ahead.moveTo(createOurs(index, 10, clock))
  ahead.clear()
  expect(index.toSnapshot().entries).toEqual([{ type: 'token', iss: ISS, jti: 'a' }])
  // It is nowhere else any more.
  expect(ahead.statusOf({ iss: ISS, jti: 'a' }, 1)).toBe('valid')
  const other = localRevocations({ clock })
  ahead.moveTo(createOurs(other, 10, clock))
  expect(other.size).toBe(0)
})

test('whoever watches revocations is told of each of them at once, also after many reports', async () => {
  const { store, clock, replica } = await following()
  let told = 0
  const end = replica.subscribe(() => {
    told += 1
  })
  for (const jti of ['a', 'b']) {
    const before = told
    store.add(tokenRecord(jti))
    await clock.advance(AT_ONCE)
    expect([jti, verdict(replica, jti), told > before]).toEqual([jti, 'revoked', true])
    await clock.advance(MAX_STALENESS)
  }
  end()
  const before = told
  store.add(tokenRecord('c'))
  await clock.advance(A_WHILE)
  expect(told).toBe(before)
})

test('what was read since the last report takes up room: several processes do not record more than all have room for', async () => {
  const { store, clock, start } = await following()
  const [one, other] = [start({ max: 2 }), start({ max: 2 })]
  await Promise.all([one.ready(), other.ready()])
  for (const jti of ['a', 'b']) await one.revoke({ iss: ISS, jti })
  await clock.advance(AT_ONCE)
  await expect(other.revoke({ iss: ISS, jti: 'c' })).rejects.toMatchObject({ reason: 'full' })
  // It is known already.
  await expect(other.revoke({ iss: ISS, jti: 'a' })).resolves.toBeUndefined()
  await clock.advance(A_WHILE)
  expect(new Set(jtiListIn(store))).toEqual(new Set(['a', 'b']))
  expect([one, other].map((each) => each.status().state)).toEqual(['current', 'current'])
})

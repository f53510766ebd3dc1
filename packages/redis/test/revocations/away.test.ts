import { describe, expect, test } from 'vitest'

import type { RedisRevocations } from '../../src/revocations/redis-revocations.ts'
import { type FakeStore, KEY } from '../store/fake-store.ts'
import { following, ISS, MAX_STALENESS, processes, tokenRecord } from './processes.ts'

// The stream is away for a moment, or another thing is in its place, between any two commands of a process: sooner or later the
// process knows everything, and it is not `current` before.

/** Three pages of a replica. */
const MANY = 4001
const LAST = `t${MANY - 1}`
/** More commands than a process needs to start: a page, a question for the role, and a read that blocks are three. */
const COMMANDS = 12

function fill(store: FakeStore): void {
  store.create('first')
  const jtis = Array.from({ length: MANY }, (_, at) => `t${at}`)
  store.data = plus(
    store.data,
    jtis.map((jti, at) => [`${1_000_000 + at}-0`, jti]),
  )
}

/** The same with more entries, which nobody is told of. */
function plus(
  data: FakeStore['data'],
  added: readonly (readonly [id: string, jti: string])[],
): FakeStore['data'] {
  const stream = data.get(KEY)
  if (stream === undefined) return data
  const more = added.map(([id, jti]) => ({ id, fields: tokenRecord(jti) }))
  const entries = [...stream.entries, ...more]
  const last = entries.at(-1)?.id ?? stream.last
  return new Map([[KEY, { ...stream, entries, last, added: stream.added + more.length }]])
}

function verdictOf(replica: RedisRevocations, jti: string): unknown {
  return replica.statusOf({ iss: ISS, jti }, 1)
}

/** Before the n-th command that the store performs, and before a later one. */
function between(store: FakeStore, from: number, to: number, data: FakeStore['data']): void {
  const { data: before } = store
  let performed = 0
  store.before = () => {
    performed += 1
    if (performed === from) store.data = data
    if (performed === to) store.data = before
  }
}

describe('while a process reads the whole stream, it is away', () => {
  const moments = Array.from({ length: COMMANDS }, (_, at) => at + 1)
  test.each([
    ...moments.map((from) => ['up', from] as const),
    ...moments.map((from) => ['full', from] as const),
  ])(
    'and the store is %s: for command %i, or from it on for three: it is current only when it knows everything',
    async (mode, from) => {
      for (const commands of [1, 3]) {
        const { store, start, clock } = processes()
        fill(store)
        store.mode = mode
        between(store, from, from + commands, new Map())
        const replica = start({ max: 10_000 })
        replica.ready().catch(() => undefined)
        for (let at = 0; at < 2 * MAX_STALENESS; at += 2.5) {
          await clock.advance(2.5)
          if (replica.status().state !== 'current') continue
          expect(['t0', 't2500', LAST].map((jti) => verdictOf(replica, jti))).toEqual([
            'revoked',
            'revoked',
            'revoked',
          ])
        }
        expect(replica.status()).toMatchObject({ state: 'current', entries: MANY })
      }
    },
  )
})

test('away each time that the stream is read: it is read three times, then nothing is valid and the reason is said', async () => {
  const { store, start, clock } = processes()
  fill(store)
  const { data } = store
  // Away for every second page.
  store.before = (name, nth) => {
    if (name === 'EXEC') store.data = nth % 2 === 0 ? new Map() : data
  }
  const replica = start({ max: 10_000 })
  await expect(replica.ready()).rejects.toMatchObject({ reason: 'incomplete' })
  expect(store.commands.filter((name) => name === 'EXEC')).toHaveLength(6)
  expect(replica.status()).toMatchObject({
    state: 'loading',
    lastFailure: { reason: 'incomplete' },
  })
  expect([verdictOf(replica, 't0'), verdictOf(replica, LAST)]).toEqual(['revoked', 'unknown'])
  await clock.advance(3 * MAX_STALENESS)
  expect(verdictOf(replica, LAST)).toBe('unknown')
  store.before = () => undefined
  store.data = data
  await clock.advance(MAX_STALENESS)
  expect(replica.status()).toMatchObject({ state: 'current', entries: MANY })
})

test('a process that knows the stream reads it again and cannot: it is too old after maxStaleness, not current for ever', async () => {
  const { store, clock, replica } = await following()
  const { data } = store
  store.before = (name, nth) => {
    if (name === 'EXEC') store.data = nth % 2 === 0 ? new Map() : data
  }
  await clock.advance(2 * MAX_STALENESS)
  expect(verdictOf(replica, 'b')).toBe('unknown')
})

test('another stream is in its place for a moment, with as many entries as come meanwhile: those are read', async () => {
  const { store, clock, replica } = await following()
  const { data } = store
  store.data = new Map()
  store.create('first')
  // The read that is waiting is given this one.
  store.add(tokenRecord('theirs'), '9999999999999-0')
  store.data = plus(data, [
    ['9999999999998-0', 'ours'],
    ['9999999999999-1', 'later'],
  ])
  await clock.advance(2 * MAX_STALENESS)
  expect(replica.status().state).toBe('current')
  expect(['ours', 'later'].map((jti) => verdictOf(replica, jti))).toEqual(['revoked', 'revoked'])
})

test('a read that finds nothing because the stream is away says nothing of how fresh the replica is', async () => {
  const { store, start, clock } = processes()
  store.create('first')
  const whole = plus(store.data, [['1000000-0', 'early']])
  const empty = store.data
  const replica = start()
  // It comes when the process has read the stream, and each read after that finds no key.
  store.before = (name) => {
    if (store.commands.includes('XREAD')) store.data = name === 'XREAD' ? new Map() : whole
    else store.data = empty
  }
  for (let at = 0; at < 2 * MAX_STALENESS; at += 0.1) {
    const { state, age = Infinity } = replica.status()
    const isCertain = state === 'current' && age < at - 0.1
    expect(isCertain ? verdictOf(replica, 'early') : 'revoked').toBe('revoked')
    await clock.advance(0.1)
  }
  expect(verdictOf(replica, 'early')).toBe('revoked')
})

test('very many entries come at once while a process follows: all are read, and the stream is not read again', async () => {
  const { store, start, clock } = processes()
  store.create('first')
  const replica = start({ max: 10_000 })
  await replica.ready()
  const { length } = store.commands
  store.data = plus(
    store.data,
    Array.from({ length: MANY }, (_, at) => [`${1_000_000 + at}-0`, `t${at}`] as const),
  )
  await clock.advance(MAX_STALENESS)
  expect(replica.status()).toMatchObject({ state: 'current', entries: MANY, failures: 0 })
  expect(store.commands.length - length).toBeLessThan(30)
})

test.each([1, 2])(
  'very many entries come at once, and page %i of them is away: they are read all the same',
  async (page) => {
    const { store, start, clock } = processes()
    store.create('first')
    const replica = start({ max: 10_000 })
    await replica.ready()
    const more = Array.from({ length: MANY }, (_, at) => [`${1_000_000 + at}-0`, `t${at}`] as const)
    const full = plus(store.data, more)
    const { length } = store.commands.filter((name) => name === 'EXEC')
    store.data = full
    store.before = (name, nth) => {
      store.data = name === 'EXEC' && nth === length + page ? new Map() : full
    }
    await clock.advance(2 * MAX_STALENESS)
    expect(replica.status()).toMatchObject({ state: 'current', entries: MANY })
  },
)

test('an entry is deleted between the moment that it comes and the next comparison: the stream is read again', async () => {
  const { store, clock, replica } = await following()
  const id = store.add(tokenRecord('a'))
  await clock.advance(0.1)
  expect(verdictOf(replica, 'a')).toBe('revoked')
  store.delete(id)
  await clock.advance(MAX_STALENESS)
  expect([replica.status().state, verdictOf(replica, 'a')]).toEqual(['current', 'revoked'])
})

test('a store whose reports never fit what it gives is not asked again and again without a pause', async () => {
  const { store, start, clock } = processes()
  store.create('first')
  const stream = store.data.get(KEY)
  // No server says that it has deleted more than it has ever had.
  if (stream !== undefined) store.data = new Map([[KEY, { ...stream, maxDeleted: '5-0' }]])
  const replica = start()
  await expect(replica.ready()).rejects.toMatchObject({ reason: 'incomplete' })
  await clock.advance(1)
  expect(store.commands.length).toBeLessThan(100)
})

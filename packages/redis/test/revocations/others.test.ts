import { localRevocations } from '@portcullis/core'
import { manualClock } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { createOthers, type Others } from '../../src/revocations/others.ts'
import { createOurs } from '../../src/revocations/ours.ts'
import type { RedisRevocations } from '../../src/revocations/redis-revocations.ts'
import type { FakeStore } from '../store/fake-store.ts'
import {
  following,
  ISS,
  jtiListIn,
  jtisIn,
  MAX_STALENESS,
  operatorOf,
  processes,
  tokenRecord,
} from './processes.ts'

// What other streams than the followed one revoke is refused. It is written back if the followed stream replaces that one.

const A_WHILE = 3 * MAX_STALENESS
/** Sooner than the next report. */
const AT_ONCE = 0.1

function verdict(replica: RedisRevocations, jti: string): unknown {
  return replica.statusOf({ iss: ISS, jti, iat: 1 }, 1)
}

const identity = (id: string, ...replaces: string[]) => ({ id, replaces, isMarked: false })
const revoking = (jti: string) => ({ id: '1-0', fields: tokenRecord(jti) })
const revokes = (by: Pick<Others, 'statusOf'>, jti: string) =>
  by.statusOf({ iss: ISS, jti }, 1) === 'revoked'

/** A process that has followed two streams, the second in place of the first, and what the store held of each. */
async function restored() {
  const made = await following()
  const { store, clock } = made
  const first = store.data
  store.data = new Map()
  await clock.advance(MAX_STALENESS)
  store.create('second', ['first'])
  await clock.advance(A_WHILE)
  return { ...made, first, second: store.data }
}

/** The copy has room for three: two are in the second stream, and two are revoked in the first when that is back. */
async function withoutRoom() {
  const { store, clock, start } = processes()
  store.create('first')
  const first = store.data
  const replica = start({ max: 3 })
  await replica.ready()
  store.data = new Map()
  await clock.advance(MAX_STALENESS)
  store.create('second', ['first'])
  for (const jti of ['s', 't']) store.add(tokenRecord(jti, clock.now() + 1))
  await clock.advance(A_WHILE)
  const second = store.data
  store.data = first
  for (const jti of ['a', 'b']) store.add(tokenRecord(jti))
  await clock.advance(A_WHILE)
  expect(['a', 'b'].map((jti) => verdict(replica, jti))).toEqual(['revoked', 'revoked'])
  return { store, clock, start, replica, second }
}

type Next = (store: FakeStore, second: FakeStore['data']) => void

const NEXT: readonly [string, Next][] = [
  [
    'ours comes back',
    (store, second) => {
      store.data = second
    },
  ],
  [
    'another replaces both',
    (store) => {
      store.data = new Map()
      store.create('third', ['first', 'second'])
    },
  ],
  [
    'another replaces ours, whose record has named the one before',
    (store) => {
      store.data = new Map()
      store.create('third', ['second'])
    },
  ],
]

describe('a fail-over brings back the stream that ours replaces, and something is revoked there', () => {
  test.each(NEXT)('%s: it is written back', async (_, next) => {
    const { store, clock, replica, first, second } = await restored()
    store.data = first
    await clock.advance(A_WHILE)
    expect(replica.status().state).toBe('replaced')
    store.add(tokenRecord('a'))
    await clock.advance(A_WHILE)
    expect([verdict(replica, 'a'), replica.status().state]).toEqual(['revoked', 'replaced'])
    next(store, second)
    await clock.advance(A_WHILE)
    expect([verdict(replica, 'a'), replica.status().state]).toEqual(['revoked', 'current'])
    expect(jtiListIn(store)).toEqual(['a'])
  })

  test.each(NEXT)(
    'before any report has shown that, and %s: it is written back',
    async (_, next) => {
      const { store, clock, replica, first, second } = await restored()
      store.data = first
      store.add(tokenRecord('a'))
      await clock.advance(A_WHILE)
      expect(verdict(replica, 'a')).toBe('revoked')
      next(store, second)
      await clock.advance(A_WHILE)
      expect(jtiListIn(store)).toEqual(['a'])
    },
  )

  test.each(NEXT)(
    'right before %s, so that no report has it: it is written back',
    async (_, next) => {
      const { store, clock, replica, first, second } = await restored()
      store.data = first
      await clock.advance(A_WHILE)
      store.add(tokenRecord('a'))
      await clock.advance(AT_ONCE)
      expect(verdict(replica, 'a')).toBe('revoked')
      next(store, second)
      await clock.advance(A_WHILE)
      expect(jtiListIn(store)).toEqual(['a'])
    },
  )

  test('by a process that ends then: each that has read it writes it back, and a new process refuses it', async () => {
    const { store, clock, start, replica, first } = await restored()
    const other = start({ identity: 'second' })
    await clock.advance(A_WHILE)
    store.data = first
    await replica.revoke({ iss: ISS, jti: 'a' })
    await replica.close()
    await clock.advance(A_WHILE)
    expect(verdict(other, 'a')).toBe('revoked')
    store.data = new Map()
    await clock.advance(MAX_STALENESS)
    const operate = operatorOf(store)
    await operate('create --replaces first --replaces second')
    await clock.advance(A_WHILE)
    expect(await operate('restore --finish --processes 1')).toMatchObject({
      code: 0,
      data: { contributed: { processes: 1, entries: 1 }, pending: [] },
    })
    const newcomer = start()
    await newcomer.ready()
    expect(verdict(newcomer, 'a')).toBe('revoked')
  })

  test('and a process starts in the middle, which states ours: what it has read there it writes back', async () => {
    const { store, clock, start, replica, first } = await restored()
    store.data = first
    store.add(tokenRecord('a'))
    await replica.close()
    const again = start({ identity: 'second' })
    await clock.advance(MAX_STALENESS)
    expect([verdict(again, 'a'), again.status().state]).toEqual(['revoked', 'replaced'])
    store.data = new Map()
    await clock.advance(MAX_STALENESS)
    const operate = operatorOf(store)
    await operate('create --replaces first --replaces second')
    await clock.advance(A_WHILE)
    expect(jtiListIn(store)).toEqual(['a'])
    // Of the one that was lost it had read nothing.
    expect([verdict(again, 'b'), again.status().state]).toEqual(['unknown', 'restoring'])
  })

  test('after two replacements: what was revoked in the first stream is written into the fourth, which names the third alone', async () => {
    const { store, clock, replica, first } = await restored()
    store.data = new Map()
    await clock.advance(MAX_STALENESS)
    store.create('third', ['second'])
    await clock.advance(A_WHILE)
    store.data = first
    store.add(tokenRecord('a'))
    await clock.advance(A_WHILE)
    expect([verdict(replica, 'a'), replica.status().state]).toEqual(['revoked', 'replaced'])
    store.data = new Map()
    await clock.advance(MAX_STALENESS)
    store.create('fourth', ['third'])
    await clock.advance(A_WHILE)
    expect(jtiListIn(store)).toEqual(['a'])
  })

  describe('and the copy has no room for it', () => {
    test('it stays refused, and is written back at once: that needs no room', async () => {
      const { store, clock, replica, second } = await withoutRoom()
      store.data = second
      await clock.advance(A_WHILE)
      expect(replica.status().state).toBe('full')
      expect(['a', 'b'].map((jti) => verdict(replica, jti))).toEqual(['revoked', 'revoked'])
      expect(jtiListIn(store).toSorted()).toEqual(['a', 'b', 's', 't'])
      // Until the first two have lapsed, and the stream is read again.
      await clock.advance(900)
      expect(replica.status().state).toBe('current')
      expect(['a', 'b'].map((jti) => verdict(replica, jti))).toEqual(['revoked', 'revoked'])
      expect(jtiListIn(store).toSorted()).toEqual(['a', 'b', 's', 't'])
    })

    test('a restoration that ends has it: a new process refuses it', async () => {
      const { store, clock, start } = await withoutRoom()
      store.data = new Map()
      await clock.advance(MAX_STALENESS)
      const operate = operatorOf(store)
      await operate('create --replaces first --replaces second')
      await clock.advance(A_WHILE)
      expect(await operate('restore --finish --processes 1')).toMatchObject({
        code: 0,
        data: { pending: [], ended: true },
      })
      const newcomer = start()
      await newcomer.ready()
      expect(['a', 'b'].map((jti) => verdict(newcomer, jti))).toEqual(['revoked', 'revoked'])
    })
  })

  test('more than there is room for, which has lapsed since: what is revoked there later is written back', async () => {
    const { store, clock, start } = processes()
    store.create('first')
    const first = store.data
    const replica = start({ max: 3 })
    await replica.ready()
    store.data = new Map()
    await clock.advance(MAX_STALENESS)
    store.create('second', ['first'])
    await clock.advance(A_WHILE)
    const second = store.data
    store.data = first
    for (const jti of ['x', 'y', 'z']) store.add(tokenRecord(jti, clock.now() + 1))
    await clock.advance(2000)
    store.add(tokenRecord('late'))
    await clock.advance(A_WHILE)
    expect(verdict(replica, 'late')).toBe('revoked')
    store.data = second
    await clock.advance(A_WHILE)
    expect([verdict(replica, 'late'), replica.status().state]).toEqual(['revoked', 'current'])
    expect(jtiListIn(store)).toEqual(['late'])
  })
})

describe('another environment has its stream in the place of ours, and revokes something', () => {
  test.each(NEXT)('%s: that gets nothing of it, and it stays refused', async (_, next) => {
    const { store, clock, replica, second } = await restored()
    store.data = new Map()
    store.create('theirs', ['before-theirs'])
    await clock.advance(A_WHILE)
    store.add(tokenRecord('a'))
    await clock.advance(A_WHILE)
    expect([verdict(replica, 'a'), replica.status().state]).toEqual(['revoked', 'replaced'])
    next(store, second)
    await clock.advance(A_WHILE)
    expect([verdict(replica, 'a'), replica.status().state]).toEqual(['revoked', 'current'])
    // Also not after the next loss.
    store.data = new Map()
    await clock.advance(MAX_STALENESS)
    store.create('last', ['first', 'second', 'third'])
    await clock.advance(A_WHILE)
    expect(replica.status().state).toBe('current')
    expect([verdict(replica, 'a'), jtiListIn(store)]).toEqual(['revoked', []])
  })

  test('and one that an operator makes replaces both: then it is written back', async () => {
    const { store, clock, replica } = await restored()
    store.data = new Map()
    store.create('theirs', ['before-theirs'])
    store.add(tokenRecord('a'))
    await clock.advance(A_WHILE)
    store.data = new Map()
    store.create('before-theirs')
    store.add(tokenRecord('b'))
    await clock.advance(A_WHILE)
    store.data = new Map()
    store.create('third', ['second', 'theirs'])
    await clock.advance(A_WHILE)
    expect(replica.status().state).toBe('current')
    expect(jtisIn(store)).toEqual(new Set(['a', 'b']))
  })

  test('right after the one that ours replaces is back: that gets nothing of it, and ours neither', async () => {
    const { store, clock, first } = await restored()
    store.data = first
    await clock.advance(A_WHILE)
    store.data = new Map()
    store.create('theirs')
    store.add(tokenRecord('a'))
    await clock.advance(MAX_STALENESS)
    store.data = first
    await clock.advance(MAX_STALENESS)
    store.data = new Map()
    await clock.advance(MAX_STALENESS)
    store.create('third', ['first', 'second'])
    await clock.advance(A_WHILE)
    expect(jtiListIn(store)).toEqual([])
  })

  test('of more entries than there is room for: the process says so, and goes on as before when ours is back', async () => {
    const { store, clock, start } = processes()
    store.create('first')
    const { data } = store
    const replica = start({ max: 5, page: 3 })
    await replica.ready()
    store.data = new Map()
    store.create('theirs')
    for (let at = 0; at < 50; at += 1) store.add(tokenRecord(`t${at}`))
    await clock.advance(A_WHILE)
    expect(replica.status()).toMatchObject({ state: 'replaced', lastFailure: { reason: 'full' } })
    expect([verdict(replica, 't0'), verdict(replica, 't49')]).toEqual(['revoked', 'unknown'])
    store.data = data
    await clock.advance(A_WHILE)
    expect(replica.status().state).toBe('current')
    expect([verdict(replica, 't0'), verdict(replica, 'b')]).toEqual(['revoked', 'valid'])
    expect(jtiListIn(store)).toEqual([])
  })
})

const named = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, at) => `${prefix}${at}`)

async function inTurn<Each, Result>(
  all: readonly Each[],
  work: (each: Each) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = []
  for (const each of all) results.push(await work(each))
  return results
}

describe('of many streams', () => {
  test('64 are told apart: what more revoke is refused, and moves nowhere', async () => {
    const clock = manualClock()
    const [others, index] = [createOthers(1000, clock), localRevocations({ clock })]
    for (let at = 0; at < 70; at += 1) await others.take(identity(`s${at}`), [revoking(`t${at}`)])
    const all = Array.from({ length: 70 }, (_, at) => at)
    expect(all.filter((at) => !revokes(others, `t${at}`))).toEqual([])
    const ours = identity('ours', ...all.map((at) => `s${at}`))
    expect(await others.moveTo(createOurs(index, 1000, clock), ours)).toBe(true)
    expect(all.filter((at) => revokes(index, `t${at}`))).toEqual(all.slice(0, 64))
    expect(all.filter((at) => revokes(others, `t${at}`))).toEqual(all.slice(64))
    expect(await others.moveTo(createOurs(index, 1000, clock), ours)).toBe(false)
  })

  test('those that have revoked nothing are forgotten first, the oldest before others', async () => {
    const clock = manualClock()
    const [others, index] = [createOthers(1000, clock), localRevocations({ clock })]
    await others.take(identity('idle', 'x'), [])
    await others.take(identity('later', 'y'), [])
    await others.take(identity('x'), [revoking('a')])
    await others.take(identity('y'), [revoking('b')])
    for (let at = 0; at < 60; at += 1) await others.take(identity(`s${at}`), [revoking(`t${at}`)])
    await others.moveTo(createOurs(index, 1000, clock), identity('ours', 'idle', 'later'))
    expect(['a', 'b'].map((jti) => revokes(index, jti))).toEqual([false, true])
    expect(['a', 'b'].map((jti) => revokes(others, jti))).toEqual([true, false])
  })

  test('more than the index has room for is divided: as much as it can take is there, and the rest stays refused', async () => {
    const clock = manualClock()
    const max = 50_000
    const [others, index] = [createOthers(max, clock), localRevocations({ max, clock })]
    index.load(named(25_000, 'own').map((jti) => ({ type: 'token', iss: ISS, jti })))
    const theirs = named(30_000, 'their')
    await others.take(identity('former'), theirs.map(revoking))
    const ours = createOurs(index, max, clock)
    await others.moveTo(ours, identity('ours', 'former'))
    expect([index.size, [...ours.entries()].length, ours.isFull]).toEqual([max, 55_000, true])
    expect(theirs.filter((jti) => revokes(index, jti) === revokes(ours, jti))).toEqual([])
    expect(theirs.some((jti) => revokes(others, jti))).toBe(false)
  })

  test('all have room for as many entries as one, and a page', async () => {
    const others = createOthers(3, manualClock())
    const takes = await inTurn(['a', 'b', 'c', 'd', 'e'], (each) =>
      others.take(identity(each), [revoking(each)]),
    )
    expect(takes.map(({ isFull }) => isFull)).toEqual([false, false, false, true, true])
    expect(['c', 'd'].map((jti) => revokes(others, jti))).toEqual([true, false])
  })

  test('also what those revoke that are not told apart takes up that room', async () => {
    const others = createOthers(66, manualClock())
    const takes = await inTurn(named(70, ''), (at) =>
      others.take(identity(`s${at}`), [revoking(`t${at}`)]),
    )
    expect(takes.filter(({ isFull }) => isFull)).toHaveLength(4)
  })

  test('a page without entries finds room, also where there is none', async () => {
    const others = createOthers(1, manualClock())
    await others.take(identity('a'), [revoking('a')])
    expect(await others.take(identity('b'), [])).toMatchObject({ isFull: false })
  })

  test('what has lapsed takes up no room, of whichever stream it is, and is looked for at most once a minute', async () => {
    const clock = manualClock()
    const others = createOthers(2, clock)
    for (const [jti, exp] of [['a', 1] as const, ['b', 61] as const]) {
      const fields = tokenRecord(jti, clock.now() + exp)
      await others.take(identity(jti), [{ id: '1-0', fields }])
    }
    const isFull = async (jti: string) => (await others.take(identity('c'), [revoking(jti)])).isFull
    expect(await isFull('c')).toBe(true)
    await clock.advance(602)
    expect(await isFull('c')).toBe(false)
    expect(await isFull('d')).toBe(true)
    // The second one has lapsed by now.
    await clock.advance(59.5)
    expect(await isFull('e')).toBe(true)
    await clock.advance(1)
    expect(await isFull('f')).toBe(false)
    const known = ['a', 'b', 'c', 'd', 'e', 'f'].filter((jti) => revokes(others, jti))
    expect(known).toEqual(['c', 'f'])
  })

  test('whoever watches is told of what any of them revokes, also after what has lapsed was removed', async () => {
    const clock = manualClock()
    const others = createOthers(2, clock)
    let told = 0
    const end = others.subscribe(() => {
      told += 1
    })
    const tells = async (id: string, jti: string, exp?: number) => {
      const before = told
      await others.take(identity(id), [{ id: '1-0', fields: tokenRecord(jti, exp) }])
      return told > before
    }
    expect(await tells('x', 'a', clock.now() + 1)).toBe(true)
    expect(await tells('y', 'b')).toBe(true)
    await clock.advance(602)
    expect([await tells('x', 'c'), revokes(others, 'c')]).toEqual([true, true])
    end()
    await clock.advance(602)
    expect(await tells('x', 'd')).toBe(false)
  })

  test('two that name each other have an end', async () => {
    const clock = manualClock()
    const [others, index] = [createOthers(1000, clock), localRevocations({ clock })]
    await others.take(identity('x', 'y'), [revoking('a')])
    await others.take(identity('y', 'x'), [revoking('b')])
    await others.moveTo(createOurs(index, 1000, clock), identity('ours', 'x'))
    expect(['a', 'b'].map((jti) => revokes(index, jti))).toEqual([true, true])
  })
})

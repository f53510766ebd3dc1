import { subscribe, unsubscribe } from 'node:diagnostics_channel'

import type { ManualClock } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import type { RedisRevocations } from '../../src/revocations/redis-revocations.ts'
import { readRecord } from '../../src/store/record.ts'
import { type FakeStore, fakeStore, KEY } from '../store/fake-store.ts'
import {
  following,
  ISS,
  jtiListIn,
  jtisIn,
  MAX_STALENESS,
  operatorOf,
  processes,
  tokenRecord,
  type Way,
  wayTo,
} from './processes.ts'

// A stream is lost, and made again in its place: who writes back what they know, and what is refused until an operator ends that.

/** Until every process has seen the stream, and has written back what it knows. */
const A_WHILE = 3 * MAX_STALENESS

function verdict(replica: RedisRevocations, jti: string): unknown {
  return replica.statusOf({ iss: ISS, jti, iat: 1 }, 1)
}

interface Fleet {
  readonly store: FakeStore
  readonly clock: ManualClock
  readonly way: Way
}

/** A fleet that knows `a`, whose store is emptied, and an operator who does as the runbook says. */
async function restored(count = 4) {
  const made = await following()
  const { store, clock, start, replica } = made
  await replica.revoke({ iss: ISS, jti: 'a' })
  const fleet = [replica, ...Array.from({ length: count - 1 }, () => start())]
  await clock.advance(MAX_STALENESS)
  store.data = new Map()
  await clock.advance(MAX_STALENESS)
  const operate = operatorOf(store)
  await operate('create --replaces first')
  return { ...made, fleet, operate }
}

test.each([1, 2, 3])(
  'a stream is read again for another reason, and is replaced before command %i of that: what was known of the former one is written back',
  async (nth) => {
    const { store, clock, replica } = await following()
    await replica.revoke({ iss: ISS, jti: 'a' })
    await clock.advance(MAX_STALENESS)
    // What had lapsed by the former time may count again.
    clock.set(clock.now() - 3600)
    let commands = 0
    store.before = () => {
      commands += 1
      if (commands !== nth) return
      store.data = new Map()
      store.create('second', ['first'], true)
    }
    await clock.advance(A_WHILE)
    expect(replica.status()).toMatchObject({ identity: 'second', writtenBack: 1 })
    expect([verdict(replica, 'a'), jtiListIn(store)]).toEqual(['revoked', ['a']])
  },
)

describe('a stream that replaces a lost one', () => {
  test('is given what the processes know, and a new process refuses everything until the operator ends it', async () => {
    const { fleet, clock, start, operate, ...made } = await restored()
    const newcomer = start()
    await clock.advance(A_WHILE)
    expect(fleet.map((each) => verdict(each, 'a'))).toEqual(fleet.map(() => 'revoked'))
    expect(fleet.map((each) => verdict(each, 'b'))).toEqual(fleet.map(() => 'valid'))
    expect(new Set(jtiListIn(made.store))).toEqual(new Set(['a']))
    expect([verdict(newcomer, 'a'), verdict(newcomer, 'b')]).toEqual(['revoked', 'unknown'])
    expect(newcomer.status()).toMatchObject({
      state: 'restoring',
      restoration: { former: undefined, isWritten: false },
    })
    expect(newcomer.whyUnknown()).toContain('restore --finish')
    await Promise.all([
      expect(newcomer.ready()).rejects.toMatchObject({ reason: 'restoring' }),
      clock.advance(MAX_STALENESS),
    ])

    const { code, data } = await operate('restore --finish --processes 5')
    expect({ code, data }).toMatchObject({
      code: 0,
      data: { ended: true, contributed: { processes: 4 }, incomplete: [], pending: [], joined: 1 },
    })
    await clock.advance(MAX_STALENESS)
    expect([verdict(newcomer, 'a'), verdict(newcomer, 'b')]).toEqual(['revoked', 'valid'])
  })

  test('a process that starts again in the middle refuses everything until the end: it has forgotten', async () => {
    const { fleet, clock, start, operate } = await restored()
    await fleet[3]?.close()
    const again = start()
    await clock.advance(A_WHILE)
    expect([verdict(again, 'a'), verdict(again, 'b')]).toEqual(['revoked', 'unknown'])
    expect((await operate('restore')).data).toMatchObject({ ended: false, joined: 1, pending: [] })
    expect(again.status().state).toBe('restoring')
  })

  test('nobody ends it while a process has not seen it yet, or still writes back: that is said', async () => {
    const { operate, clock } = await restored()
    for (const seconds of [0, 3]) {
      await clock.advance(seconds)
      const { code, said, data } = await operate('restore --finish --processes 4')
      expect({ code, data }).toEqual({ code: 1, data: {} })
      expect(said).toContain(
        '4 processes still write back what they know: it was not ended. They begin within 8 s',
      )
    }
    await clock.advance(A_WHILE)
    expect(await operate('restore --finish --processes 4')).toMatchObject({ code: 0 })
  })

  test('a process without the right to append is listed, and what it alone knows is said to be missing', async () => {
    const { store, clock, start, operate, replica } = await restored(1)
    const { data } = store
    await replica.close()
    store.data = new Map()
    store.create('other')
    const way = wayTo(store)
    way.forbidden.add('XADD')
    const reader = start({ connect: way.connect })
    store.add(tokenRecord('a'))
    await clock.advance(MAX_STALENESS)
    store.data = data
    store.data = new Map()
    await clock.advance(MAX_STALENESS)
    await operate('create --replaces other')
    await clock.advance(A_WHILE)
    expect(verdict(reader, 'a')).toBe('revoked')
    expect(reader.status()).toMatchObject({
      state: 'current',
      writtenBack: 0,
      restoration: {
        former: 'current',
        isWritten: false,
      },
      writeBackFailure: {
        reason: 'refused',
        detail: 'the store of revocations refused: NOPERM, the user lacks a permission',
      },
    })
    const { data: said } = await operate('restore')
    expect(said).toMatchObject({
      contributed: { processes: 0, entries: 0 },
      pending: [{ state: 'failed', former: 'current' }],
      lost: 'what no process had read when the former stream was lost',
    })
    // As soon as it has the right, it does so.
    way.forbidden.clear()
    await clock.advance(A_WHILE)
    expect((await operate('restore')).data).toMatchObject({
      contributed: { processes: 1, entries: 1 },
      pending: [],
    })
  })

  test.each<[string, (made: Fleet, id: string) => Promise<void>]>([
    [
      'stale',
      async ({ clock, way }) => {
        way.isDown = true
        way.cut()
        await clock.advance(2 * MAX_STALENESS)
      },
    ],
    [
      'unreadable',
      async ({ store, clock }) => {
        store.add(['v', '2'])
        await clock.advance(MAX_STALENESS)
      },
    ],
    [
      'full',
      async ({ store, clock }) => {
        for (let at = 0; at < 6; at += 1) store.add(tokenRecord(`t${at}`))
        await clock.advance(MAX_STALENESS)
      },
    ],
  ])(
    'a process that was %s when it last followed the lost one writes back what it knows, is listed, and refuses until the end',
    async (state, disturb) => {
      const { store, clock, start } = await following()
      const way = wayTo(store)
      const reader = start({ connect: way.connect, max: 5 })
      store.add(tokenRecord('a'))
      await clock.advance(MAX_STALENESS)
      await disturb({ store, clock, way }, 'first')
      expect(reader.status().state).toBe(state)
      store.data = new Map()
      const operate = operatorOf(store)
      await operate('create --replaces first')
      way.isDown = false
      await clock.advance(A_WHILE)
      expect([verdict(reader, 'a'), verdict(reader, 'b')]).toEqual(['revoked', 'unknown'])
      expect(reader.status().restoration).toMatchObject({ former: state, isWritten: true })
      expect((await operate('restore')).data).toMatchObject({
        contributed: { processes: 2 },
        incomplete: expect.arrayContaining([
          { process: expect.any(String) as string, former: state },
        ]) as unknown,
      })
      await operate('restore --finish --processes 2')
      await clock.advance(MAX_STALENESS)
      expect(reader.status()).toMatchObject({ restoration: undefined })
    },
  )

  test.each([
    ['and it has seen that it is away', 1],
    ['and it sees the new one at once', 0],
  ])(
    'a process that had not read all of the lost one writes back what it had read, is listed, and refuses until the end: %s',
    async (_, away) => {
      const { clock, store, start } = processes()
      store.create('first')
      for (let at = 0; at < 50; at += 1) store.add(tokenRecord(`t${at}`))
      store.delay = 0.2
      const reader = start({ page: 10 })
      await clock.advance(0.9)
      expect([reader.status().state, verdict(reader, 't0')]).toEqual(['loading', 'revoked'])
      store.data = new Map()
      store.delay = 0
      await clock.advance(away)
      const operate = operatorOf(store)
      await operate('create --replaces first')
      await clock.advance(3)
      expect((await operate('restore')).data).toMatchObject({
        joined: 0,
        pending: [{ former: 'loading' }],
      })
      await clock.advance(A_WHILE)
      expect([verdict(reader, 't0'), verdict(reader, 'b')]).toEqual(['revoked', 'unknown'])
      expect(await operate('restore --finish --processes 1')).toMatchObject({
        code: 0,
        data: { contributed: { processes: 1 }, incomplete: [{ former: 'loading' }] },
      })
      expect(jtisIn(store)).toContain('t0')
      const newcomer = start()
      await newcomer.ready()
      expect(verdict(newcomer, 't0')).toBe('revoked')
    },
  )

  test.each([
    ['for less than two heartbeats before the loss', 1, 'current', 'valid'],
    ['for longer, though it is not stale yet', 5, 'restoring', 'unknown'],
  ] as const)(
    'a process that was cut off %s, while the one that knows what was recorded then may not append',
    async (_, seconds, state, other) => {
      const { store, clock, start, replica } = await following()
      await replica.close()
      const [cutOff, readOnly] = [wayTo(store), wayTo(store)]
      readOnly.forbidden.add('XADD')
      const reader = start({ connect: cutOff.connect })
      const knowing = start({ connect: readOnly.connect })
      await clock.advance(MAX_STALENESS)
      cutOff.isDown = true
      cutOff.cut()
      await clock.advance(0.1)
      store.add(tokenRecord('a'))
      await clock.advance(seconds)
      expect(reader.status().state).toBe('current')
      store.data = new Map()
      const operate = operatorOf(store)
      await operate('create --replaces first')
      cutOff.isDown = false
      await clock.advance(A_WHILE)
      expect(reader.status().state).toBe(state)
      expect([verdict(knowing, 'a'), verdict(reader, 'b')]).toEqual(['revoked', other])
    },
  )

  test('a process that had not read all of a lost one, and finds that of another environment: that gets nothing', async () => {
    const { clock, store, start } = processes()
    store.create('first')
    for (let at = 0; at < 50; at += 1) store.add(tokenRecord(`t${at}`))
    store.delay = 0.2
    const reader = start({ page: 10 })
    await clock.advance(0.9)
    expect(verdict(reader, 't0')).toBe('revoked')
    store.data = new Map()
    store.create('of another environment')
    await clock.advance(A_WHILE)
    expect(reader.status().state).toBe('replaced')
    expect(jtiListIn(store)).toEqual([])
  })

  test('an emptied store, twice: who followed the first stream, and the second, writes back again', async () => {
    const { store, fleet, clock, start, operate } = await restored()
    await clock.advance(A_WHILE)
    const { identity: second } = fleet[0]?.status() ?? {}
    const late = start()
    await clock.advance(MAX_STALENESS)
    store.data = new Map()
    await clock.advance(MAX_STALENESS)
    await operate(`create --replaces ${second} --replaces first`)
    await clock.advance(A_WHILE)
    expect(fleet.map((each) => verdict(each, 'b'))).toEqual(fleet.map(() => 'valid'))
    // It never read the first one.
    expect([verdict(late, 'a'), verdict(late, 'b')]).toEqual(['revoked', 'unknown'])
    const { code, data } = await operate('restore --finish --processes 5')
    expect(code).toBe(0)
    expect(data['contributed']).toMatchObject({ processes: 5 })
    expect(data['incomplete']).toMatchObject([{ former: 'restoring' }])
    const newcomer = start()
    await newcomer.ready()
    expect([verdict(newcomer, 'a'), verdict(newcomer, 'b')]).toEqual(['revoked', 'valid'])
  })

  test('an emptied store, and the second loss before anything was written back: nothing is lost', async () => {
    const { store, clock, start, operate } = await restored()
    store.data = new Map()
    await clock.advance(MAX_STALENESS)
    await operate('create --replaces first')
    await clock.advance(A_WHILE)
    await operate('restore --finish --processes 4')
    const newcomer = start()
    await newcomer.ready()
    expect(verdict(newcomer, 'a')).toBe('revoked')
  })

  test('a stream that does not replace its own gets nothing, and neither does its own get anything of that one', async () => {
    const { store, clock, replica } = await following()
    await replica.revoke({ iss: ISS, jti: 'a' })
    const { data } = store
    store.data = new Map()
    store.create('of another environment', ['theirs'], true)
    store.add(tokenRecord('theirs'))
    const appended = store.commands.filter((name) => name === 'XADD').length
    await clock.advance(A_WHILE)
    expect(replica.status()).toMatchObject({ state: 'replaced', identity: 'first' })
    expect(verdict(replica, 'theirs')).toBe('revoked')
    store.data = data
    await clock.advance(A_WHILE)
    expect(replica.status()).toMatchObject({ state: 'current', identity: 'first' })
    expect(store.commands.filter((name) => name === 'XADD').length).toBe(appended)
  })

  test('while a process writes back, another stream comes in the place of its own: it stops before the next page', async () => {
    const { store, clock, replica } = await following()
    for (let at = 0; at < 1200; at += 1) store.add(tokenRecord(`t${at}`))
    store.before = () => undefined
    await clock.advance(MAX_STALENESS)
    store.data = new Map()
    await clock.advance(MAX_STALENESS)
    store.create('second', ['first'], true)
    store.before = (name, nth) => {
      if (name !== 'XADD' || nth !== 500) return
      store.before = () => undefined
      // What was sent before arrives at the one that was there.
      void Promise.resolve().then(() => {
        store.data = new Map()
        store.create('of another environment')
      })
    }
    await clock.advance(A_WHILE)
    expect(replica.status()).toMatchObject({ state: 'replaced', identity: 'second' })
    expect(store.data.get(KEY)?.entries).toHaveLength(1)
  })

  test('many entries come back by pages, and what others have written between them is not written again', async () => {
    const { store, clock, start } = await following()
    for (let at = 0; at < 1200; at += 1) store.add(tokenRecord(`t${at}`))
    // They begin at other moments, and at other entries.
    const [one, other] = [
      start({ max: 5000, random: () => 0 }),
      start({ max: 5000, random: () => 0.5 }),
    ]
    await clock.advance(MAX_STALENESS)
    store.data = new Map()
    await clock.advance(MAX_STALENESS)
    store.create('second', ['first'], true)
    await clock.advance(A_WHILE)
    const jtis = jtiListIn(store)
    expect(new Set(jtis).size).toBe(1200)
    expect(jtis.length).toBeLessThan(1800)
    expect(one.status().writtenBack + other.status().writtenBack).toBeGreaterThan(0)
  })

  test('what has lapsed, and what another entry includes, is not written back', async () => {
    const { store, clock, replica, start } = await following()
    const now = clock.now()
    await replica.revoke({ iss: ISS, jti: 'lapsed', exp: now + 60 })
    await replica.revoke({ iss: ISS, jti: 'a', exp: now + 86_400 })
    await replica.revokeBefore({ iss: ISS, sub: 'ann' }, { time: 100 })
    await clock.advance(1200)
    store.data = new Map()
    await clock.advance(MAX_STALENESS)
    store.create('second', ['first'], true)
    store.add(['v', '1', 'type', 'issued_before', 'iss', ISS, 'sub', 'ann', 'time', '200'])
    await clock.advance(A_WHILE)
    expect(jtiListIn(store)).toEqual(['a'])
    expect(replica.status().writtenBack).toBe(1)
    const newcomer = start()
    await clock.advance(1)
    expect(newcomer.statusOf({ iss: ISS, sub: 'ann', iat: 150 }, now)).toBe('revoked')
  })

  test('what has lapsed lately is written back once, not by each process', async () => {
    const { store, clock, replica, start } = await following()
    start({ random: () => 0 })
    start({ random: () => 0.5 })
    await replica.revoke({ iss: ISS, jti: 'a', exp: clock.now() + 60 })
    // It lapses 600 seconds after its end, and by other clocks later.
    await clock.advance(760)
    store.data = new Map()
    await clock.advance(MAX_STALENESS)
    store.create('second', ['first'], true)
    await clock.advance(A_WHILE)
    expect(jtiListIn(store)).toEqual(['a'])
  })

  test('a wall clock that is set forward at that moment makes nothing lapse', async () => {
    const { store, clock, replica } = await following()
    const now = clock.now()
    await replica.revoke({ iss: ISS, jti: 'a', exp: now + 3600 })
    store.data = new Map()
    await clock.advance(MAX_STALENESS)
    clock.set(now + 86_400)
    store.create('second', ['first'], true)
    await clock.advance(A_WHILE)
    expect(jtiListIn(store)).toEqual(['a'])
  })

  test('that an earlier version made has no mark: everybody goes on with it, and it is given what they know', async () => {
    const { store, clock, replica, start } = await following()
    await replica.revoke({ iss: ISS, jti: 'a' })
    store.data = new Map()
    await clock.advance(MAX_STALENESS)
    store.create('second', ['first'])
    const newcomer = start()
    await newcomer.ready()
    expect(newcomer.status()).toMatchObject({ state: 'current', restoration: undefined })
    await clock.advance(A_WHILE)
    expect(verdict(newcomer, 'a')).toBe('revoked')
    expect(replica.status()).toMatchObject({ state: 'current', writtenBack: 1 })
  })

  test('has no record that an earlier version cannot read: what it does not know has no v', async () => {
    const { store, clock } = await restored()
    await clock.advance(A_WHILE)
    const [identity, ...others] = store.data.get(KEY)?.entries ?? []
    expect(identity?.fields.slice(0, 6)).toEqual([
      'v',
      '1',
      'type',
      'identity',
      'id',
      expect.any(String),
    ])
    const unknown = others.filter(({ fields }) => readRecord(fields).kind !== 'revocation')
    expect(unknown.map(({ fields }) => fields.includes('v'))).toEqual(unknown.map(() => false))
    expect(unknown).toHaveLength(5)
  })

  test('is emptied between two questions about it: its mark is not taken for removed', async () => {
    const { store, clock, start } = await restored()
    const newcomer = start()
    store.before = (name) => {
      if (name === 'EXEC' && store.commands.filter((each) => each === 'EXEC').length % 2 === 0) {
        store.data = new Map()
      }
    }
    for (let at = 0; at < A_WHILE; at += 0.5) {
      await clock.advance(0.5)
      expect(verdict(newcomer, 'b')).toBe('unknown')
    }
  })
})

describe('the end of a restoration', () => {
  test('is not there to be had for a stream that is not being restored', async () => {
    const { store } = await following()
    const { code, said } = await operatorOf(store)('restore --finish --processes 1')
    expect(code).toBe(1)
    expect(said).toContain('is not being restored')
  })

  test('does not come while all processes pause before they connect again: they know what was revoked', async () => {
    const { store, clock, start, replica } = await following()
    await replica.revoke({ iss: ISS, jti: 'a' })
    store.mode = 'unreachable'
    store.cut()
    await clock.advance(4)
    store.data = new Map()
    store.mode = 'up'
    const operate = operatorOf(store)
    await operate('create --replaces first')
    const { code, said } = await operate('restore --finish --processes 1')
    expect(code).toBe(1)
    expect(said).toContain('1 of 1 processes are not connected')
    const newcomer = start()
    await clock.advance(A_WHILE)
    expect(await operate('restore --finish --processes 2')).toMatchObject({
      code: 0,
      data: { contributed: { processes: 1 }, joined: 1 },
    })
    await clock.advance(MAX_STALENESS)
    expect(verdict(newcomer, 'a')).toBe('revoked')
  })

  test('does not come while one of several processes is cut off: that one may know what nobody else does', async () => {
    const { store, clock, start, operate } = await restored()
    const way = wayTo(store)
    start({ connect: way.connect })
    await clock.advance(A_WHILE)
    way.isDown = true
    way.cut()
    await clock.advance(1)
    const { code, said } = await operate('restore --finish --processes 5')
    expect(code).toBe(1)
    expect(said).toContain('1 of 5 processes are not connected')
    way.isDown = false
    await clock.advance(MAX_STALENESS)
    expect(await operate('restore --finish --processes 5')).toMatchObject({ code: 0 })
  })

  test('does not come while one of several processes follows another store, where others have gone on to revoke', async () => {
    const { store, clock, start, replica } = await following()
    const other = fakeStore(clock)
    let isLedAway = false
    const lost = start({ connect: () => (isLedAway ? other : store).connect() })
    await lost.ready()
    isLedAway = true
    store.cut()
    await clock.advance(3600)
    await replica.revoke({ iss: ISS, jti: 'a' })
    const operate = operatorOf(other)
    await operate('create --replaces first')
    const newcomer = start({ connect: other.connect })
    await clock.advance(A_WHILE)
    const { code, said } = await operate('restore --finish --processes 3')
    expect(code).toBe(1)
    expect(said).toContain('1 of 3 processes are not connected')
    expect(verdict(newcomer, 'a')).toBe('unknown')
  })

  /** Redis lists them in any order, and goes on to list what is half-open. */
  const ORDERS = [1, 2, 3, 4]

  test('comes though a former connection of a process is still listed: what its newest one says counts', async () => {
    const { store, clock, start, replica } = await following()
    await replica.close()
    const way = wayTo(store)
    start({ connect: way.connect })
    await clock.advance(MAX_STALENESS)
    way.isHalfOpen = true
    way.isDown = true
    way.cut()
    await clock.advance(MAX_STALENESS)
    store.data = new Map()
    const operate = operatorOf(store)
    await operate('create --replaces first')
    for (const _ of ORDERS) {
      expect(await operate('restore --finish --processes 1')).toMatchObject({ code: 1 })
    }
    way.isDown = false
    await clock.advance(A_WHILE)
    for (const _ of ORDERS) expect((await operate('restore')).data).toMatchObject({ pending: [] })
    expect(await operate('restore --finish --processes 1')).toMatchObject({ code: 0 })
  })

  test('does not come while the newest connection of a process says that it writes, whatever its former one had said', async () => {
    const { store, clock, start, replica } = await following()
    await replica.close()
    const way = wayTo(store)
    const reader = start({ connect: way.connect })
    await clock.advance(MAX_STALENESS)
    store.data = new Map()
    await clock.advance(MAX_STALENESS)
    const operate = operatorOf(store)
    await operate('create --replaces first')
    const { data } = store
    await reader.revoke({ iss: ISS, jti: 'a' })
    await clock.advance(A_WHILE)
    expect((await operate('restore')).data).toMatchObject({ pending: [] })
    way.isHalfOpen = true
    way.isDown = true
    way.cut()
    // A fail-over has lost it.
    store.data = data
    await clock.advance(1)
    way.isDown = false
    await clock.advance(3)
    for (const _ of ORDERS) {
      expect((await operate('restore')).data).toMatchObject({ pending: [{ state: 'writing' }] })
    }
    await clock.advance(A_WHILE)
    expect(await operate('restore --finish --processes 1')).toMatchObject({ code: 0 })
    expect(jtiListIn(store)).toEqual(['a'])
  })

  test.each([
    'restore --finish',
    'restore --finish --processes 0',
    'restore --finish --processes 1.5',
    'restore --finish --processes all',
    'restore --processes 4',
  ])('is not asked for without the number of processes that run: %s', async (command) => {
    const { operate, clock } = await restored()
    await clock.advance(A_WHILE)
    expect(await operate(command)).toMatchObject({ code: 2, data: {} })
    expect((await operate('restore')).data).toMatchObject({ ended: false })
  })

  test('takes the right to delete, which processes have not: whoever appends ends nothing', async () => {
    const { store, clock, start } = await restored()
    const newcomer = start()
    store.add(['portcullis', 'restored', 'id', 'first'])
    store.add(['v', '1', 'type', 'identity', 'id', 'first'])
    await clock.advance(A_WHILE)
    expect(verdict(newcomer, 'b')).toBe('unknown')
  })

  test('is lost by a fail-over: everybody who joined refuses again, until it is ended again', async () => {
    const { store, clock, start, operate } = await restored()
    const newcomer = start()
    await clock.advance(A_WHILE)
    const { data } = store
    await operate('restore --finish --processes 5')
    await clock.advance(MAX_STALENESS)
    expect(verdict(newcomer, 'b')).toBe('valid')
    store.data = data
    await clock.advance(MAX_STALENESS)
    expect(verdict(newcomer, 'b')).toBe('unknown')
  })
})

describe('a fail-over that loses entries under the same identity', () => {
  test('gets them back from every process that has read them, and a new process refuses them', async () => {
    const { store, clock, start } = await following()
    const { data } = store
    store.add(tokenRecord('a'))
    await clock.advance(MAX_STALENESS)
    store.data = data
    await clock.advance(A_WHILE)
    const newcomer = start()
    await newcomer.ready()
    expect(verdict(newcomer, 'a')).toBe('revoked')
    expect(jtiListIn(store)).toEqual(['a'])
  })

  test('and an entry is added and deleted before a process reads the new one: nothing else shows the loss then', async () => {
    const { store, clock, start } = await following()
    const way = wayTo(store)
    start({ connect: way.connect })
    await clock.advance(MAX_STALENESS)
    const { data } = store
    store.add(tokenRecord('a'))
    await clock.advance(1)
    way.isDown = true
    way.cut()
    store.data = data
    await clock.advance(1)
    store.add(tokenRecord('b'))
    await clock.advance(0.1)
    store.delete(store.add(tokenRecord('c')))
    way.isDown = false
    await clock.advance(A_WHILE)
    expect(jtisIn(store)).toContain('a')
  })

  test('and new connections lead to the former primary for half a minute: what that acknowledges is repeated later', async () => {
    const { store, clock, start } = await following()
    const former = fakeStore(clock)
    former.data = store.data
    let isFormer = false
    const replica = start({ connect: () => (isFormer ? former : store).connect() })
    await replica.ready()
    isFormer = true
    await replica.revoke({ iss: ISS, jti: 'a' })
    await clock.advance(30)
    expect([jtiListIn(former), jtiListIn(store)]).toEqual([['a'], []])
    isFormer = false
    await clock.advance(A_WHILE)
    expect(jtiListIn(store)).toEqual(['a'])
  })

  test('and nobody has the right to append: that is told as a failure, and does not have the stream read all the time', async () => {
    const { store, clock, start, replica } = await following()
    await replica.close()
    const way = wayTo(store)
    way.forbidden.add('XADD')
    const reader = start({ connect: way.connect })
    await clock.advance(MAX_STALENESS)
    const { data } = store
    store.add(tokenRecord('a'))
    await clock.advance(MAX_STALENESS)
    const told: unknown[] = []
    const listen = (message: unknown) => told.push(message)
    subscribe('portcullis:revocations', listen)
    store.data = data
    store.delay = 1
    const before = store.connections()
    await clock.advance(3600)
    unsubscribe('portcullis:revocations', listen)
    expect(reader.status()).toMatchObject({
      state: 'current',
      writeBackFailure: { reason: 'refused', age: expect.any(Number) as number },
      failures: 0,
    })
    expect(told).toContainEqual(
      expect.objectContaining({
        event: 'failure',
        state: 'current',
        reason: 'refused',
        detail: 'the store of revocations refused: NOPERM, the user lacks a permission',
      }),
    )
    // An attempt takes a second.
    expect(store.connections() - before).toBeLessThan(400)
    way.forbidden.clear()
    await clock.advance(3600)
    expect(reader.status()).toMatchObject({ writtenBack: 1, writeBackFailure: undefined })
  })

  test('and the former primary acknowledges a revocation when its process reads the new one already: it is repeated there', async () => {
    const { store, clock, start } = await following()
    const former = fakeStore(clock)
    former.data = store.data
    let writesTo: typeof store = former
    const replica = start({
      connect: () => {
        const [reading, writing] = [store.connect(), former.connect()]
        return {
          send: async (command) =>
            await (command[0] === 'XADD' && writesTo === former ? writing : reading).send(command),
          destroy() {
            reading.destroy()
            writing.destroy()
          },
        }
      },
    })
    await replica.ready()
    await replica.revoke({ iss: ISS, jti: 'a' })
    expect(jtiListIn(store)).toEqual([])
    writesTo = store
    await clock.advance(A_WHILE)
    expect(jtiListIn(store)).toEqual(['a'])
    expect(replica.status()).toMatchObject({ state: 'current', writtenBack: 1 })
    // It was read now, so it is not looked for any more.
    const { length } = store.commands.filter((name) => name === 'XADD')
    await clock.advance(10 * A_WHILE)
    expect(store.commands.filter((name) => name === 'XADD')).toHaveLength(length)
  })
})

describe('a stated identity', () => {
  test('makes any other stream replaced from the first read, in a new process as well', async () => {
    const { store, clock, start } = processes()
    store.create('fresh')
    const replica = start({ identity: 'first' })
    await expect(replica.ready()).rejects.toMatchObject({ reason: 'other_stream' })
    expect(replica.status()).toMatchObject({
      state: 'replaced',
      identity: 'first',
      foundIdentity: 'fresh',
    })
    await clock.advance(MAX_STALENESS)
    expect(verdict(replica, 'b')).toBe('unknown')
  })

  test('is that of the stream, or one that it replaces: then it is followed, and a restoration is waited for', async () => {
    const { store, clock, start } = processes()
    store.create('second', ['first'], true)
    const [pinned, other] = [start({ identity: 'first' }), start({ identity: 'second' })]
    await clock.advance(MAX_STALENESS)
    // Neither has read the first one, whatever is stated.
    expect(pinned.status()).toMatchObject({ state: 'restoring', identity: 'second' })
    expect(other.status()).toMatchObject({ state: 'restoring', identity: 'second' })
    await operatorOf(store)('restore --finish --processes 2')
    await clock.advance(MAX_STALENESS)
    expect([pinned, other].map((each) => verdict(each, 'b'))).toEqual(['valid', 'valid'])
  })

  test('of `create` makes nothing: exit code 0 only if the stream has it, also when a Job runs it again after a loss', async () => {
    const { store } = processes()
    const operate = operatorOf(store)
    expect(await operate('create --identity first')).toMatchObject({ code: 1, data: {} })
    expect(store.data.size).toBe(0)
    store.create('first')
    expect(await operate('create --identity first')).toMatchObject({
      code: 0,
      data: { id: 'first', replaces: [] },
    })
    store.data = new Map()
    const { code, said } = await operate('create --identity first')
    expect(code).toBe(1)
    expect(said).toContain('does not exist, and first was stated: nothing was made')
    expect(store.data.size).toBe(0)
    store.create('second', ['first'], true)
    const other = await operate('create --identity first')
    expect(other.code).toBe(1)
    expect(other.said).toContain('has the identity second')
    const both = await operate('create --identity first --replaces first')
    expect(both).toMatchObject({ code: 2 })
  })
})

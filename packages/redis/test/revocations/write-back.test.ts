import type { Clock, RevocationEntry } from '@portcullis/core'
import { type ManualClock, manualClock } from '@portcullis/testing'
import { expect, test } from 'vitest'

import { INITIAL_STATE, type ReplicaState } from '../../src/revocations/following.ts'
import { createWriteBack } from '../../src/revocations/write-back.ts'
import { openConnection } from '../../src/store/connection.ts'
import { readRecord, type StreamRecord } from '../../src/store/record.ts'
import { openStream } from '../../src/store/stream.ts'
import { type FakeStore, fakeStore, KEY } from '../store/fake-store.ts'
import { ISS, jtiListIn, MAX_STALENESS, tokenRecord } from './processes.ts'

// How what a stream lacks is written back: when it begins, what is read before, when it stops, and what is told. That processes write
// back at all, and what, is in restoring.test.ts.

const entryOf = (jti: string, exp?: number): RevocationEntry => ({
  type: 'token',
  iss: ISS,
  jti,
  ...(exp === undefined ? {} : { exp }),
})
const FIRST = MAX_STALENESS / 2

interface Writing {
  readonly clock: ManualClock
  readonly store: FakeStore
  readonly writeBack: ReturnType<typeof createWriteBack>
  state: ReplicaState
  /** What was told of failures: the reasons. */
  readonly told: (string | undefined)[]
  /** Ids that were told. */
  readonly appended: string[]
  /** Timers that are neither over nor cancelled. */
  readonly timers: () => number
  /** Called once all was written back. */
  onSuccess: () => void
  readonly notes: () => readonly StreamRecord[]
}

/** A process that has read all that is in the stream by now, and then found that it lacks something. */
async function writing(
  known: readonly string[],
  {
    there = [],
    random = () => 1,
    ended,
    isMarked = false,
    ...changes
  }: Partial<ReplicaState> & {
    there?: readonly string[]
    random?: () => number
    /** So many seconds ago, all tokens. */
    ended?: number
    /** Whether the stream is being restored. */
    isMarked?: boolean
  } = {},
): Promise<Writing> {
  const clock = manualClock()
  const store = fakeStore(clock)
  const exp = ended === undefined ? undefined : clock.now() - ended
  store.create('first', isMarked ? ['former'] : [], isMarked)
  for (const jti of there) store.add(tokenRecord(jti, exp))
  const connection = openConnection(store.connect, clock)
  const stream = openStream(KEY, connection, 10)
  const report = await stream.report({
    after: '0-0',
    count: 10_000,
    anchor: undefined,
    isMarked,
  })
  connection.close()
  const { info, entries } = report
  if (info === undefined) throw new Error('no stream')
  const pending = new Set<object>()
  const counted: Clock = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    after(seconds, fn) {
      const timer = {}
      pending.add(timer)
      const cancel = clock.after(seconds, () => {
        pending.delete(timer)
        fn()
      })
      return () => {
        pending.delete(timer)
        cancel()
      }
    },
  }
  const made: Writing = {
    clock,
    store,
    told: [],
    appended: [],
    timers: () => pending.size,
    onSuccess: () => undefined,
    notes: () =>
      (store.data.get(KEY)?.entries ?? [])
        .map(({ fields }) => readRecord(fields))
        .filter(({ kind }) => kind === 'contribution'),
    state: {
      ...INITIAL_STATE,
      identity: 'first',
      store: 'sound',
      losses: 1,
      position: {
        read: { last: info.last, anchor: entries.at(-1) },
        reported: { identity: 'first', isMarked, info, unread: 0 },
        lead: 0,
      },
      ...changes,
    },
    writeBack: createWriteBack({
      connect: store.connect,
      key: KEY,
      ours: { entries: () => known.map((jti) => entryOf(jti, exp)).values() },
      clock: counted,
      maxStaleness: MAX_STALENESS,
      process: 'p',
      random,
      state: () => made.state,
      replace(next, told) {
        made.state = next
        if (told !== undefined) made.told.push(told.reason)
        else made.onSuccess()
        made.writeBack.look()
      },
      onAppended: (id) => made.appended.push(id),
    }),
  }
  return made
}

const settled = ({ state }: Writing) => state.losses === state.settled
const xadds = ({ store }: Writing) => store.commands.filter((name) => name === 'XADD').length

test('it begins after the pause and not before, once, however often it is looked', async () => {
  const made = await writing(['a'])
  const before = made.store.connections()
  for (let times = 0; times < 3; times += 1) made.writeBack.look()
  await made.clock.advance(FIRST - 0.1)
  expect(made.store.connections()).toBe(before)
  await made.clock.advance(0.2)
  expect([made.store.connections() - before, jtiListIn(made.store)]).toEqual([1, ['a']])
  expect(made.state).toMatchObject({ settled: 1, written: 1, writeFailure: undefined })
  expect(made.appended).toHaveLength(1)
  expect([made.told, made.store.open(), made.timers()]).toEqual([[], 0, 0])
})

test.each<[string, Partial<ReplicaState>]>([
  ['nothing is owed', { settled: 1 }],
  ['its stream is another one', { store: 'replaced' }],
])('nothing is asked while %s', async (_, changes) => {
  const made = await writing(['a'], changes)
  const before = made.store.connections()
  made.writeBack.look()
  await made.clock.advance(3 * FIRST)
  expect([made.store.connections(), made.timers()]).toEqual([before, 0])
})

test('closed in the first pause: it asks nothing, and leaves no timer', async () => {
  const made = await writing(['a'])
  const before = made.store.connections()
  made.writeBack.look()
  await made.clock.advance(1)
  made.state = { ...made.state, isClosed: true }
  made.writeBack.close()
  expect(made.timers()).toBe(0)
  await made.clock.advance(3 * FIRST)
  expect(made.store.connections()).toBe(before)
  // Afterwards there may be another reason to look.
  made.state = { ...made.state, isClosed: false }
  made.writeBack.look()
  expect(made.timers()).toBe(0)
})

test('closed while it waits for an answer: the connection ends, no failure is told, and no timer is left', async () => {
  const made = await writing(['a'])
  made.store.delay = 2
  made.writeBack.look()
  await made.clock.advance(FIRST + 1)
  expect(made.store.open()).toBe(1)
  made.state = { ...made.state, isClosed: true }
  made.writeBack.close()
  expect(made.store.open()).toBe(0)
  await made.clock.advance(0)
  expect([made.told, made.state.writeFailure, made.timers()]).toEqual([[], undefined, 0])
})

test('a loss that is found while it writes, or right after, is written back as well', async () => {
  // At each moment at which the promises of the first attempt may be, and of its end.
  for (let later = 0; later < 12; later += 1) {
    const made = await writing(['a'])
    const { data } = made.store
    let isFirst = true
    made.store.before = (name) => {
      if (name !== 'XADD' || !isFirst) return
      isFirst = false
      void (async () => {
        for (let turn = 0; turn < later; turn += 1) await Promise.resolve()
        made.store.data = data
        made.state = { ...made.state, losses: made.state.losses + 1 }
        made.writeBack.look()
      })()
    }
    made.writeBack.look()
    await made.clock.advance(6 * FIRST)
    expect([later, settled(made), jtiListIn(made.store)]).toEqual([later, true, ['a']])
  }
})

test('failures in a row make pauses longer, and the next success makes them short again', async () => {
  const made = await writing(['a'])
  const attempts: number[] = []
  made.store.before = (name) => {
    // Two of each connection.
    const now = made.clock.monotonic()
    if (name === 'HELLO' && attempts.at(-1) !== now) attempts.push(now)
  }
  const pauses = () =>
    attempts.slice(1).map((at, before) => Number((at - (attempts[before] ?? 0)).toFixed(3)))
  made.store.mode = 'full'
  made.writeBack.look()
  await made.clock.advance(FIRST + 12)
  expect(pauses().slice(0, 8)).toEqual([0.1, 0.2, 0.4, 0.8, 1.6, 2.5, 2.5, 2.5])
  expect(new Set(made.told)).toEqual(new Set(['out_of_memory']))
  expect(made.state.writeFailure?.error.reason).toBe('out_of_memory')
  expect([made.store.open(), made.state.settled]).toEqual([0, 0])
  attempts.length = 0
  made.store.mode = 'up'
  made.onSuccess = () => {
    made.onSuccess = () => undefined
    made.store.mode = 'full'
    made.store.data = new Map()
    made.store.create('first')
    made.state = { ...made.state, losses: made.state.losses + 1 }
  }
  await made.clock.advance(3)
  expect(pauses().slice(0, 3)).toEqual([0.1, 0.2, 0.4])
})

test('an attempt that failed late is not tried again for long: it read much', async () => {
  const made = await writing(['a'])
  made.store.delay = 4
  const attempts: number[] = []
  made.store.before = (name) => {
    if (name === 'XINFO' || name === 'EXEC') attempts.push(made.clock.monotonic())
  }
  made.store.mode = 'full'
  made.writeBack.look()
  await made.clock.advance(2000)
  const pauses = attempts.slice(1).map((at, before) => at - (attempts[before] ?? 0))
  // It takes 10 seconds and more, and pauses ten times as long at last.
  expect(Math.max(...pauses)).toBeGreaterThan(60)
})

test('a stream of several pages is read to its end first, each entry once, and what it has is not appended', async () => {
  const there = Array.from({ length: 5000 }, (_, at) => `t${at}`)
  const made = await writing([...there, 'a'], { there })
  made.writeBack.look()
  await made.clock.advance(FIRST + 5)
  expect(jtiListIn(made.store)).toEqual([...there, 'a'])
  const reports = made.store.commands.filter((name) => name === 'EXEC')
  // Three pages, and what came since, before what is known is looked at and after that. One was to find the position.
  expect(reports).toHaveLength(5)
})

test('a page that is exactly full is not the last one', async () => {
  const there = Array.from({ length: 1999 }, (_, at) => `t${at}`)
  // With its identity it has 2000 entries.
  const made = await writing([...there, 'late'], { there })
  made.writeBack.look()
  made.store.before = (name, nth) => {
    if (name === 'EXEC' && nth === 2) made.store.add(tokenRecord('late'))
  }
  await made.clock.advance(FIRST + 5)
  expect(jtiListIn(made.store)).toEqual([...there, 'late'])
})

test('pages of 500, with a pause before the next, and what others append in between is not appended again', async () => {
  const known = Array.from({ length: 1200 }, (_, at) => `t${at}`)
  const made = await writing(known)
  const counts: number[] = []
  made.writeBack.look()
  await made.clock.advance(FIRST)
  counts.push(xadds(made))
  // What the next page would begin with.
  for (const jti of known.slice(500, 900)) made.store.add(tokenRecord(jti))
  await made.clock.advance(0.09)
  counts.push(xadds(made))
  await made.clock.advance(0.5)
  counts.push(xadds(made))
  expect(counts).toEqual([500, 500, 800])
  const jtis = jtiListIn(made.store)
  expect([jtis.length, new Set(jtis).size]).toEqual([1200, 1200])
  expect(made.state.written).toBe(800)
})

test('where nothing lacks there is no pause: it ends at once', async () => {
  const there = Array.from({ length: 1200 }, (_, at) => `t${at}`)
  const made = await writing(there, { there })
  made.writeBack.look()
  await made.clock.advance(FIRST)
  expect([settled(made), xadds(made)]).toEqual([true, 0])
})

test.each([0, 0.25, 0.75, 1])(
  'processes begin elsewhere, and each comes to all: at %d of the entries',
  async (random) => {
    const known = ['a', 'b', 'c', 'd']
    const made = await writing(known, { random: () => random })
    made.writeBack.look()
    await made.clock.advance(FIRST + 1)
    const first = Math.floor(random * 4)
    expect(jtiListIn(made.store)).toEqual([...known.slice(first), ...known.slice(0, first)])
  },
)

test.each([
  ['by a clock that is ahead', 500],
  ['by this clock, and not by one that is behind', 750],
])('an entry that is there, and has lapsed %s, is not appended again', async (_, ended) => {
  const made = await writing(['a'], { there: ['a'], ended })
  made.writeBack.look()
  await made.clock.advance(FIRST + 1)
  expect([settled(made), xadds(made)]).toEqual([true, 0])
})

test.each<[string, string, (store: FakeStore) => void]>([
  ['is gone', 'no_stream', (store) => (store.data = new Map())],
  [
    'has lost its identity',
    'no_stream',
    (store) => {
      store.data = new Map()
      store.add(tokenRecord('other'))
    },
  ],
  [
    'is another one',
    'other_stream',
    (store) => {
      store.data = new Map()
      store.create('of another environment')
    },
  ],
  [
    'has less than was read: a former primary',
    'incomplete',
    (store) => {
      store.data = new Map()
      store.create('first')
    },
  ],
  [
    'has another entry with the id of the last one that was read',
    'incomplete',
    (store) => {
      const id = store.data.get(KEY)?.last
      store.data = new Map()
      store.create('first')
      store.add(tokenRecord('other'), id)
    },
  ],
])('nothing is appended to a stream that %s', async (_, reason, change) => {
  const made = await writing(['a'], { there: ['read'] })
  change(made.store)
  const { data } = made.store
  made.writeBack.look()
  await made.clock.advance(FIRST + 0.05)
  expect([made.store.data, made.told]).toEqual([data, [reason]])
  expect(made.state).toMatchObject({ settled: 0, written: 0 })
})

test('a stream that goes away between reading and appending: what was appended is counted, and the rest comes later', async () => {
  const made = await writing(['a', 'b'])
  const kept: (typeof made.store.data)[] = []
  made.store.before = (name, nth) => {
    if (name !== 'XADD' || nth !== 2) return
    kept.push(made.store.data)
    made.store.data = new Map()
  }
  made.writeBack.look()
  await made.clock.advance(FIRST + 0.05)
  expect([made.told, made.state.written, made.appended.length]).toEqual([['no_stream'], 1, 1])
  made.store.data = kept[0] ?? new Map()
  await made.clock.advance(1)
  expect([jtiListIn(made.store), made.state.written, settled(made)]).toEqual([['a', 'b'], 2, true])
})

test.each<[string, Partial<ReplicaState> & { isMarked?: boolean }, object[]]>([
  ['a fail-over', { former: 'current' }, []],
  ['whoever has joined', { isMarked: true }, []],
  [
    'whoever followed the lost one',
    { isMarked: true, former: 'full', written: 3 },
    [{ process: 'p', entries: 4, former: 'full' }],
  ],
])('a note of what was done, after %s', async (_, changes, notes) => {
  const made = await writing(['a'], changes)
  made.writeBack.look()
  await made.clock.advance(FIRST + 1)
  expect(settled(made)).toBe(true)
  expect(made.notes()).toEqual(
    notes.map((contribution) => ({ kind: 'contribution', contribution })),
  )
})

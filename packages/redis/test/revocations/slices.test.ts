import { setImmediate as turn } from 'node:timers/promises'

import { localRevocations, type RevocationEntry } from '@portcullis/core'
import { manualClock } from '@portcullis/testing'
import { expect, test } from 'vitest'

import { INITIAL_STATE, type ReplicaState } from '../../src/revocations/following.ts'
import { createOthers } from '../../src/revocations/others.ts'
import { createOurs } from '../../src/revocations/ours.ts'
import { SLICE } from '../../src/revocations/restoring.ts'
import { slicesOf } from '../../src/revocations/slices.ts'
import { createWriteBack } from '../../src/revocations/write-back.ts'
import { fakeStore, KEY } from '../store/fake-store.ts'
import { jtiListIn, MAX_STALENESS, tokenRecord } from './processes.ts'

// However many entries are known, none of those who read them holds up the event loop.

const MANY = 2 * SLICE + 1

/** Counts something in each turn of the event loop. */
function countedByTurns() {
  let count = 0
  let most = 0
  let turns = 0
  return {
    turns: () => turns,
    add(more: number): void {
      count += more
    },
    /** @returns The most of one turn, until the work is done. */
    async most(work: Promise<unknown>): Promise<number> {
      const done = work.then(() => true)
      while (!(await Promise.race([done, turn(false)]))) {
        most = Math.max(most, count)
        count = 0
        turns += 1
      }
      return most
    },
  }
}

test.each([0, 1, SLICE - 1, SLICE, SLICE + 1, MANY])(
  'all of %d entries are read, in their order',
  async (count) => {
    const entries = Array.from({ length: count }, (_, at): RevocationEntry => ({
      type: 'token',
      jti: `t${at}`,
    }))
    const read: RevocationEntry[] = []
    for await (const slice of slicesOf(entries)) {
      expect(slice.length).toBeLessThanOrEqual(SLICE)
      read.push(...slice)
    }
    expect(read).toEqual(entries)
  },
)

test('a process that writes back reads what it knows by slices', async () => {
  const clock = manualClock()
  const store = fakeStore(clock)
  store.create('first')
  const read = countedByTurns()
  let total = 0
  function* entries(): IterableIterator<RevocationEntry> {
    for (let at = 0; at < MANY; at += 1) {
      read.add(1)
      total += 1
      yield at === MANY - 1 ? { type: 'token', jti: 'a' } : { type: 'token', jti: `t${at}`, exp: 1 }
    }
  }
  const info = {
    last: '0-0',
    maxDeleted: '0-0',
    entriesAdded: 0,
    length: 0,
    first: undefined,
    newest: undefined,
  }
  let state: ReplicaState = {
    ...INITIAL_STATE,
    identity: 'first',
    store: 'sound',
    losses: 1,
    position: {
      read: { last: '0-0', anchor: undefined },
      reported: { identity: 'first', isMarked: false, info, unread: 0 },
      lead: 0,
    },
  }
  const writeBack = createWriteBack({
    connect: store.connect,
    key: KEY,
    ours: { entries },
    clock,
    maxStaleness: MAX_STALENESS,
    process: 'p',
    random: () => 0.5,
    state: () => state,
    replace(next) {
      state = next
    },
    onAppended: () => undefined,
  })
  writeBack.look()
  const written = (async () => {
    while (state.settled === 0) await clock.advance(0.1)
  })()
  expect(await read.most(written)).toBeLessThanOrEqual(SLICE + 1)
  expect([total, state.written, jtiListIn(store)]).toEqual([MANY, 1, ['a']])
  writeBack.close()
})

test('what moves from another stream is loaded by slices', async () => {
  const others = createOthers(MANY, manualClock())
  const theirs = { id: 'theirs', replaces: [], isMarked: false }
  const entries = Array.from({ length: MANY }, (_, at) => ({
    id: `${at}-0`,
    fields: tokenRecord(`t${at}`),
  }))
  await others.take(theirs, entries)
  const loaded = countedByTurns()
  let total = 0
  const ours = {
    take({ length }: readonly RevocationEntry[]) {
      loaded.add(length)
      total += length
    },
  }
  const moved = others.moveTo(ours, { id: 'ours', replaces: ['theirs'], isMarked: false })
  expect(await loaded.most(moved)).toBeLessThanOrEqual(SLICE)
  expect([total, await moved]).toEqual([MANY, true])
})

test('what found no room, and is tried again, is loaded by slices', async () => {
  const loaded = countedByTurns()
  let total = 0
  const clock = manualClock()
  const index = {
    ...localRevocations({ clock }),
    size: 0,
    load(given: Iterable<RevocationEntry>) {
      const { length } = Array.from(given)
      if (total === -1) throw new RangeError('no room')
      loaded.add(length)
      total += length
    },
  }
  const ours = createOurs(index, 0, clock)
  total = -1
  ours.take(Array.from({ length: MANY }, (_, at) => ({ type: 'token', jti: `t${at}` })))
  total = 0
  expect(await loaded.most(ours.retry())).toBeLessThanOrEqual(SLICE)
  expect([total, ours.isFull]).toEqual([MANY, false])
})

test('what other streams revoke is looked through by slices for what has lapsed', async () => {
  const clock = manualClock()
  const others = createOthers(MANY, clock)
  const theirs = { id: 'theirs', replaces: [], isMarked: false }
  const entries = Array.from({ length: MANY }, (_, at) => ({
    id: `${at}-0`,
    fields: tokenRecord(`t${at}`),
  }))
  await others.take(theirs, entries)
  const taken = others.take(theirs, entries.slice(0, 1))
  const turns = countedByTurns()
  await turns.most(taken)
  expect((await taken).isFull).toBe(true)
  expect(turns.turns()).toBeGreaterThanOrEqual(MANY / SLICE - 1)
})

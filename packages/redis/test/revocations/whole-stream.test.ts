import { manualClock } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { readWhole } from '../../src/revocations/whole-stream.ts'
import { openConnection } from '../../src/store/connection.ts'
import { writeIdentity } from '../../src/store/record.ts'
import type { StreamEntry } from '../../src/store/stream-replies.ts'
import { openStream, type Stream } from '../../src/store/stream.ts'
import { type FakeStore, fakeStore, KEY } from '../store/fake-store.ts'
import { tokenRecord } from './processes.ts'

// What happens to a stream between two commands of somebody who reads it whole: whatever it is, what was read counts as all of it
// only if it is.

const SIZE = 3
const ENTRIES = 10
/** So many pages are asked for, if nothing happens: four, and some more if it is longer. */
const PAGES = 5

function storeOfMany(): FakeStore {
  const store = fakeStore(manualClock())
  store.create('first')
  for (let at = 1; at < ENTRIES; at += 1) store.add(tokenRecord(`t${at}`))
  return store
}

function streamOf(store: FakeStore): Stream {
  return openStream(KEY, openConnection(store.connect, manualClock()), 10)
}

interface Outcome {
  readonly word: 'absent' | 'changed' | 'whole'
  /** Those that are in the stream at the end, and were not read. */
  readonly unread: readonly string[]
}

async function outcomeOf(store: FakeStore, stream = streamOf(store)): Promise<Outcome> {
  const read = new Set<string>()
  const reading = await readWhole(stream, SIZE, (entries) => {
    for (const { id } of entries) read.add(id)
  })
  const unread = idsIn(store).filter((id) => !read.has(id))
  return { word: typeof reading === 'string' ? reading : 'whole', unread }
}

function idsIn(store: FakeStore): readonly string[] {
  return (store.data.get(KEY)?.entries ?? []).map(({ id }) => id)
}

/** Something happens right before one page, and ends right before a later one. */
const SPANS = Array.from({ length: PAGES }, (_, from) =>
  Array.from({ length: PAGES - from }, (__, pages) => [from + 1, from + pages + 2] as const),
).flat()

const WHOLE: Outcome = { word: 'whole', unread: [] }

test('nothing happens: it is whole', async () => {
  expect(await outcomeOf(storeOfMany())).toEqual(WHOLE)
})

test.each([1, 2, 3, 4, 9])('it has %i entries, in pages of three: it is whole', async (count) => {
  const store = fakeStore(manualClock())
  store.create('first')
  for (let at = 1; at < count; at += 1) store.add(tokenRecord(`t${at}`))
  expect(await outcomeOf(store)).toEqual(WHOLE)
})

test('there is none', async () => {
  expect(await outcomeOf(fakeStore(manualClock()))).toMatchObject({ word: 'absent' })
})

/** What the key holds meanwhile. */
const REPLACEMENTS: readonly (readonly [string, (store: FakeStore) => FakeStore['data']])[] = [
  ['it is renamed away and back', () => new Map()],
  ['another stream is in its place', () => otherStream()],
  ['a copy that is behind is in its place', (store) => without(store, (at) => at >= 6)],
  [
    'a copy that lacks some in between is in its place',
    (store) => without(store, (at) => at === 5),
  ],
  ['an empty stream with its identity is in its place', (store) => without(store, (at) => at > 0)],
]

function otherStream(): FakeStore['data'] {
  const other = storeOfMany()
  other.data = new Map()
  other.create('other')
  for (let at = 1; at < ENTRIES; at += 1) other.add(tokenRecord(`other ${at}`))
  return other.data
}

/** As if it had never had them. */
function without(store: FakeStore, isLeftOut: (at: number) => boolean): FakeStore['data'] {
  const stream = store.data.get(KEY)
  if (stream === undefined) return store.data
  const entries = stream.entries.filter((_, at) => !isLeftOut(at))
  const last = entries.at(-1)?.id ?? '0-0'
  return new Map([[KEY, { ...stream, entries, last, added: entries.length }]])
}

describe.each(REPLACEMENTS)('%s', (_, replacement) => {
  test.each(SPANS)('from page %i to page %i: it is whole, or does not count', async (from, to) => {
    const store = storeOfMany()
    const { data } = store
    const meanwhile = replacement(store)
    store.before = (name, nth) => {
      if (name !== 'EXEC') return
      if (nth === from) store.data = meanwhile
      if (nth === to) store.data = data
    }
    const { word, unread } = await outcomeOf(store)
    store.data = data
    // What is away for good is another stream's business.
    const mayLack = word !== 'whole' || to > PAGES
    expect(mayLack || unread.length === 0).toBe(true)
    expect(word === 'changed' || from === 1 || from > 4).toBe(true)
  })
})

const CHANGES: readonly (readonly [string, (store: FakeStore) => void])[] = [
  [
    'entries come (XADD)',
    (store) => {
      for (let at = 0; at < 7; at += 1) store.add(tokenRecord(`new ${at}`))
    },
  ],
  [
    'each other entry is deleted (XDEL)',
    (store) => {
      store.delete(...idsIn(store).filter((__, at) => at % 2 === 1))
    },
  ],
  [
    'the last entries are deleted (XDEL)',
    (store) => {
      store.delete(...idsIn(store).slice(-4))
    },
  ],
  [
    'all but the identity is deleted (XDEL)',
    (store) => {
      store.delete(...idsIn(store).slice(1))
    },
  ],
  [
    'an entry comes, and what it includes is deleted (compact)',
    (store) => {
      store.add(tokenRecord('includes t4 and t8'))
      store.delete(...idsIn(store).filter((__, at) => at === 4 || at === 8))
    },
  ],
]

describe.each(CHANGES)('%s', (_, change) => {
  test.each([1, 2, 3, 4])('before page %i: it is whole', async (page) => {
    const store = storeOfMany()
    store.before = (name, nth) => {
      if (name === 'EXEC' && nth === page) change(store)
    }
    expect(await outcomeOf(store)).toEqual(WHOLE)
  })
})

describe('it is trimmed (XTRIM), so that its identity is gone', () => {
  test.each([2, 3, 4])('before page %i: it does not count', async (page) => {
    const store = storeOfMany()
    store.before = (name, nth) => {
      if (name === 'EXEC' && nth === page) store.trim(4)
    }
    expect(await outcomeOf(store)).toMatchObject({ word: 'changed' })
  })
})

describe('it is deleted, and restored from a copy that lacks the last entries (DEL, RESTORE)', () => {
  test.each([2, 3, 4])(
    'before page %i, and as many others come: it does not count',
    async (page) => {
      const store = storeOfMany()
      const behind = without(store, (at) => at >= 8)
      store.before = (name, nth) => {
        if (name !== 'EXEC' || nth !== page) return
        store.data = behind
        for (const at of [8, 9, 10]) store.add(tokenRecord(`other ${at}`), `9999999999999-${at}`)
      }
      const { word, unread } = await outcomeOf(store)
      // Until the last page was read, all of it is read anew: the stream that it is now.
      expect(word === 'changed' || unread.length === 0).toBe(true)
    },
  )
})

/** Of one page only some entries come. */
async function shortened(
  page: number,
  entries: (all: readonly StreamEntry[]) => readonly StreamEntry[],
  store = storeOfMany(),
): Promise<Outcome> {
  const stream = streamOf(store)
  let asked = 0
  return await outcomeOf(store, {
    ...stream,
    async page(question) {
      asked += 1
      const report = await stream.page(question)
      return asked === page ? { ...report, entries: entries(report.entries) } : report
    },
  })
}

describe('a page lacks entries', () => {
  test.each([1, 2, 3, 4])('page %i is empty', async (page) => {
    expect(await shortened(page, () => [])).toMatchObject({ word: 'changed' })
  })

  test.each([1, 2, 3])('page %i ends too soon', async (page) => {
    expect(await shortened(page, (all) => all.slice(0, 1))).toMatchObject({ word: 'changed' })
  })

  test('page 2 lacks the first one, and has the others', async () => {
    expect(await shortened(2, ([, ...others]) => others)).toMatchObject({ word: 'changed' })
  })

  test('page 2 lacks the first one, and others were deleted long ago', async () => {
    const store = storeOfMany()
    for (const name of ['a', 'b', 'c', 'd']) store.delete(store.add(tokenRecord(name)))
    const outcome = await shortened(2, ([, ...others]) => others, store)
    expect(outcome).toMatchObject({ word: 'changed' })
  })

  test('page 4 lacks the last one, and one that was read has been deleted', async () => {
    const store = storeOfMany()
    store.add(tokenRecord('the last'))
    store.before = (name, nth) => {
      if (name === 'EXEC' && nth === 4) store.delete(...idsIn(store).slice(1, 2))
    }
    const outcome = await shortened(4, (all) => all.slice(0, -1), store)
    expect(outcome).toMatchObject({ word: 'changed' })
  })
})

test('page 4 lacks the last one; the one before it and one that was read have been deleted', async () => {
  const store = storeOfMany()
  for (const name of ['one', 'the last']) store.add(tokenRecord(name))
  store.before = (name, nth) => {
    const ids = idsIn(store)
    if (name === 'EXEC' && nth === 4) store.delete(...ids.slice(1, 2), ...ids.slice(-2, -1))
  }
  const outcome = await shortened(4, (all) => all.slice(0, -1), store)
  expect(outcome).toMatchObject({ word: 'changed' })
})

test('more entries come than the stream says that it has: it does not count', async () => {
  const doubled = await shortened(4, (all) => [...all, ...all])
  expect(doubled).toMatchObject({ word: 'changed' })
})

test('all is deleted, its identity too: it is whole, and empty', async () => {
  const store = storeOfMany()
  store.delete(...idsIn(store))
  const reading = await readWhole(streamOf(store), SIZE, () => undefined)
  expect(reading).toMatchObject({ identity: undefined, count: 0, newest: undefined })
})

test('it has no identity, and is emptied before its last page: it is whole, and empty', async () => {
  const store = storeOfMany()
  store.delete(...idsIn(store).slice(0, 1))
  store.before = (name, nth) => {
    if (name === 'EXEC' && nth === 4) store.delete(...idsIn(store))
  }
  expect(await outcomeOf(store)).toEqual(WHOLE)
})

test('an identity that is not the first entry is none', async () => {
  const store = fakeStore(manualClock())
  store.add(writeIdentity({ id: 'later', replaces: [], isMarked: false }))
  const reading = await readWhole(streamOf(store), SIZE, () => undefined)
  expect(reading).toMatchObject({ identity: undefined, count: 1 })
})

test('its name is that of something else: the reason says so', async () => {
  const store = storeOfMany()
  const stream = openConnection(store.connect, manualClock())
  const wrong = new Error('WRONGTYPE Operation against a key holding the wrong kind of value')
  const other: typeof stream = {
    ...stream,
    async ask(command, timeout) {
      const reply = await stream.ask(command, timeout)
      return command[0] === 'EXEC' ? [wrong, wrong] : reply
    },
  }
  const reading = readWhole(openStream(KEY, other, 10), SIZE, () => undefined)
  await expect(reading).rejects.toMatchObject({ reason: 'refused' })
})

function storeWithoutMemory(store = storeOfMany()): FakeStore {
  store.mode = 'full'
  return store
}

describe('a server without memory, which takes nothing into a transaction', () => {
  test('nothing happens: it is whole', async () => {
    expect(await outcomeOf(storeWithoutMemory())).toEqual(WHOLE)
  })

  test('there is none', async () => {
    const store = storeWithoutMemory(fakeStore(manualClock()))
    expect(await outcomeOf(store)).toMatchObject({ word: 'absent' })
  })

  test('the stream changes while a page is read: that page does not count', async () => {
    const store = storeWithoutMemory()
    store.before = (name, nth) => {
      if (name === 'XRANGE' && nth === 2) store.delete(...idsIn(store).slice(-1))
    }
    await expect(outcomeOf(store)).rejects.toMatchObject({ reason: 'incomplete' })
  })

  test('it refuses to say what it has: that is no absence', async () => {
    const store = storeWithoutMemory()
    const connection = openConnection(store.connect, manualClock())
    const forbidden: typeof connection = {
      ...connection,
      async ask(command, timeout) {
        const reply = await connection.ask(command, timeout)
        if (command[0] === 'XINFO' && reply !== 'QUEUED') throw new Error('NOPERM no permissions')
        return reply
      },
    }
    const reading = readWhole(openStream(KEY, forbidden, 10), SIZE, () => undefined)
    await expect(reading).rejects.toMatchObject({ reason: 'refused' })
  })
})

/** What the stream says with the last page. */
async function saidOfNewest(
  change: (fields: readonly string[]) => readonly string[],
): Promise<Outcome> {
  const store = storeOfMany()
  const stream = streamOf(store)
  return await outcomeOf(store, {
    ...stream,
    async page(question) {
      const report = await stream.page(question)
      const { info } = report
      if (info?.newest === undefined) return report
      const newest = { ...info.newest, fields: change(info.newest.fields) }
      return { ...report, info: { ...info, newest } }
    },
  })
}

describe('the last entry that was read has another content than the stream says', () => {
  test.each([
    ['another value', (fields: readonly string[]) => [...fields.slice(0, -1), 'other']],
    ['fewer members', (fields: readonly string[]) => fields.slice(0, -2)],
    ['more members', (fields: readonly string[]) => [...fields, 'name', 'value']],
  ])('%s: it does not count', async (_, change) => {
    expect(await saidOfNewest(change)).toMatchObject({ word: 'changed' })
  })
})

test('a server that does not say how many entries were added (Redis 6) is refused', async () => {
  const store = storeOfMany()
  const connection = openConnection(store.connect, manualClock())
  const old = openStream(
    KEY,
    {
      ...connection,
      async ask(command, timeout) {
        const reply = await connection.ask(command, timeout)
        if (command[0] !== 'EXEC' || !Array.isArray(reply)) return reply
        const [said, ...others] = reply as [readonly unknown[], ...unknown[]]
        return [said.slice(0, said.indexOf('max-deleted-entry-id')), ...others]
      },
    },
    10,
  )
  await expect(readWhole(old, SIZE, () => undefined)).rejects.toMatchObject({
    reason: 'unsupported',
  })
})

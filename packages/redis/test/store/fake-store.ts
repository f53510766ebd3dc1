import type { Clock } from '@portcullis/core'

import type { Connect } from '../../src/store/connection.ts'
import { isLater } from '../../src/store/entry-id.ts'
import { IDENTITY_ID, MARK_ID, writeIdentity, writeMark } from '../../src/store/record.ts'

// A store in memory that answers the commands of streams as Redis 7 does, in virtual time, and fails in the ways that are asked.

interface Entry {
  readonly id: string
  readonly fields: readonly string[]
}

interface StreamData {
  readonly entries: readonly Entry[]
  readonly last: string
  readonly maxDeleted: string
  readonly added: number
}

/** What one server holds. Never changed, so that it can be kept as a backup or as a replica's. */
type StoreData = ReadonlyMap<string, StreamData>

export const KEY = 'portcullis:revocations'

interface Blocked {
  readonly after: string
  readonly answer: (reply: unknown) => void
}

export interface FakeStore {
  readonly connect: Connect
  /**
   * `unreachable` refuses connections; `silent` takes commands and never answers; `full` and `replica` refuse to write. `full`
   * takes no command into a transaction, either.
   */
  mode: 'up' | 'unreachable' | 'silent' | 'full' | 'loading' | 'replica'
  /** Replaced by a test: another server has taken over, or this one has lost something. */
  data: StoreData
  /** Seconds that an answer takes. */
  delay: number
  /** Seconds that a page of entries takes longer, as when many processes read at once. */
  pageDelay: number
  /** How many replicas it has: `WAIT` answers with that. */
  replicas: number
  /** Seconds that its clock is ahead. */
  ahead: number
  /** The commands that came, by name. */
  readonly commands: string[]
  /**
   * Called with the name of each command, and how many there were of it, right before it is performed: whatever a test does
   * here falls between two commands. A transaction is one command, `EXEC`.
   */
  before: (name: string, nth: number) => void
  connections: () => number
  open: () => number
  /** @param isMarked Whether it is to be restored, as `create --replaces` makes it. */
  create: (id: string, replaces?: readonly string[], isMarked?: boolean) => void
  /** Appends like any writer. @param id By default the next one of the time. */
  add: (fields: readonly string[], id?: string) => string
  delete: (...ids: readonly string[]) => void
  /** Removes the oldest, as `XTRIM MAXLEN` does. */
  trim: (length: number) => void
  /** Closes all connections, as when the server ends. */
  cut: () => void
}

const OUT_OF_MEMORY = "OOM command not allowed when used memory > 'maxmemory'."
const NO_STREAM: StreamData = { entries: [], last: '0-0', maxDeleted: '0-0', added: 0 }

export function fakeStore(clock: Clock): FakeStore {
  const transports = new Set<(error: Error) => void>()
  const blocked = new Set<Blocked>()
  /** Of those that are open. */
  const names = new Map<(error: Error) => void, string>()
  /** The last command of each. */
  const lastOf = new Map<(error: Error) => void, string>()
  const numbers = new Map<(error: Error) => void, number>()
  let connections = 0
  let lists = 0

  const store: FakeStore = {
    mode: 'up',
    data: new Map(),
    delay: 0,
    pageDelay: 0,
    replicas: 1,
    ahead: 0,
    commands: [],
    before: () => undefined,
    connections: () => connections,
    open: () => transports.size,
    create(id, replaces = [], isMarked = false) {
      put(KEY, IDENTITY_ID, writeIdentity({ id, replaces, isMarked }))
      if (isMarked) put(KEY, MARK_ID, writeMark())
    },
    add: (fields, id) => put(KEY, id, fields),
    delete: (...ids) => remove(KEY, ids),
    trim(length) {
      const stream = store.data.get(KEY) ?? NO_STREAM
      change(KEY, { ...stream, entries: stream.entries.slice(-length) })
    },
    cut() {
      for (const end of transports) end(new Error('Socket closed unexpectedly'))
    },
    connect() {
      connections += 1
      const pending = new Set<(error: Error) => void>()
      let queued: (readonly string[])[] | undefined
      const isRefused = store.mode === 'unreachable'
      function end(error: Error): void {
        transports.delete(end)
        names.delete(end)
        lastOf.delete(end)
        numbers.delete(end)
        for (const reject of pending) reject(error)
      }
      if (!isRefused) transports.add(end)
      numbers.set(end, connections)
      return {
        async send(command) {
          if (isRefused) throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
          if (!transports.has(end)) throw new Error('The client is closed')
          return await new Promise((resolve, reject) => {
            pending.add(reject)
            const answer = (reply: unknown) => {
              pending.delete(reject)
              if (reply instanceof Error) reject(reply)
              else resolve(reply)
            }
            later(() => {
              const [name = ''] = command
              lastOf.set(end, name.toLowerCase())
              if (name === 'MULTI') queued = []
              else if (name === 'EXEC') {
                perform(command, answer, queued)
                queued = undefined
                return
              } else if (queued !== undefined && store.mode === 'full') {
                later(() => {
                  answer(new Error(OUT_OF_MEMORY))
                })
                return
              } else if (queued !== undefined) queued.push(command)
              else if (name === 'HELLO' && command.length > 2) names.set(end, command[3] ?? '')
              if (queued === undefined) perform(command, answer)
              else if (store.mode !== 'silent') later(() => answer('QUEUED'))
            })
          })
        },
        destroy() {
          end(new Error('Disconnects client'))
        },
      }
    },
  }

  /** A command takes effect half-way of its round trip. */
  function later(fn: () => void): void {
    if (store.delay === 0) fn()
    else clock.after(store.delay / 2, fn)
  }

  function perform(
    command: readonly string[],
    answer: (reply: unknown) => void,
    queued: readonly (readonly string[])[] = [],
  ): void {
    const [name = '', ...args] = command
    store.commands.push(name)
    store.before(name, store.commands.filter((each) => each === name).length)
    if (store.mode === 'silent') return
    const answerLater = (reply: unknown) => {
      later(() => {
        answer(reply)
      })
    }
    if (store.mode === 'loading') {
      answerLater(new Error('LOADING Redis is loading the dataset in memory'))
    } else if (name === 'XREAD') read(args, answerLater)
    else if (name === 'EXEC' && store.mode === 'full') {
      answerLater(new Error('EXECABORT Transaction discarded because of previous errors.'))
    } else if (name === 'EXEC') {
      const replies = queued.map(([each = '', ...words]) => replyTo(each, words))
      const [, page] = replies
      if (!Array.isArray(page) || page.length === 0 || store.pageDelay === 0) answerLater(replies)
      else {
        clock.after(store.pageDelay, () => {
          answerLater(replies)
        })
      }
    } else answerLater(replyTo(name, args))
  }

  function replyTo(name: string, args: readonly string[]): unknown {
    const [first = '', second = '', third = '', ...others] = args
    if (name === 'HELLO')
      return ['proto', 2, 'role', store.mode === 'replica' ? 'replica' : 'master']
    if (name === 'CLIENT') {
      const lines = [...transports].map(
        (each) =>
          `id=${numbers.get(each)} name=${names.get(each) ?? ''} cmd=${lastOf.get(each) ?? 'hello'} user=api\n`,
      )
      // Redis turns its list around while it looks after its connections: the order says nothing.
      lists += 1
      const turned = lists % lines.length
      return [...lines.slice(turned), ...lines.slice(0, turned)].join('')
    }
    if (name === 'XINFO') return infoOf(store.data.get(second))
    if (name === 'XRANGE') return range(first, second, third, Number(others[1] ?? Infinity))
    if (name === 'WAIT') return store.replicas
    if (name === 'TIME') return [String(Math.floor(clock.now() + store.ahead)), '0']
    if (name === 'XDEL') return remove(first, args.slice(1))
    if (name !== 'XADD') return new Error(`ERR unknown command '${name}'`)
    if (store.mode === 'full') {
      return new Error(OUT_OF_MEMORY)
    }
    if (store.mode === 'replica') {
      return new Error("READONLY You can't write against a read only replica.")
    }
    if (second === 'NOMKSTREAM') return store.data.has(first) ? put(first, undefined, others) : null
    const last = store.data.get(first)?.last ?? '0-0'
    if (!isLater(second, last)) return new Error('ERR The ID specified in XADD is equal or smaller')
    return put(first, second, [third, ...others])
  }

  function range(key: string, from: string, to: string, count: number): unknown {
    const entries = entriesOf(key)
    const after = from.startsWith('(') ? from.slice(1) : undefined
    const start = firstOf(entries, (id) =>
      after === undefined ? !isLater(from, id) : isLater(id, after),
    )
    const end = to === '+' ? entries.length : firstOf(entries, (id) => isLater(id, to))
    return entries.slice(start, Math.min(end, start + count)).map(replyOf)
  }

  function read(args: readonly string[], answer: (reply: unknown) => void): void {
    const after = args.at(-1) ?? ''
    const entries = entriesOf(KEY)
    const found = entries.slice(firstOf(entries, (id) => isLater(id, after)))
    const block = args.includes('BLOCK') ? Number(args[args.indexOf('BLOCK') + 1]) : 0
    const count = Number(args[args.indexOf('COUNT') + 1])
    if (found.length > 0) answer([[KEY, found.slice(0, count).map(replyOf)]])
    else if (block === 0) answer(null)
    else {
      const waiting = { after, answer }
      blocked.add(waiting)
      clock.after(block / 1000, () => {
        if (blocked.delete(waiting) && store.mode !== 'silent') answer(null)
      })
    }
  }

  function put(key: string, id: string | undefined, fields: readonly string[]): string {
    const stream = store.data.get(key) ?? NO_STREAM
    const entry = { id: id ?? nextId(stream.last, clock), fields }
    const entries = [...stream.entries, entry]
    change(key, { ...stream, entries, last: entry.id, added: stream.added + 1 })
    for (const waiting of [...blocked].filter(({ after }) => isLater(entry.id, after))) {
      blocked.delete(waiting)
      if (store.mode !== 'silent') waiting.answer([[key, [replyOf(entry)]]])
    }
    return entry.id
  }

  function remove(key: string, ids: readonly string[]): number {
    const stream = store.data.get(key) ?? NO_STREAM
    const gone = new Set(stream.entries.map(({ id }) => id).filter((id) => ids.includes(id)))
    const maxDeleted = [...gone].reduce(
      (max, id) => (isLater(id, max) ? id : max),
      stream.maxDeleted,
    )
    const entries = stream.entries.filter(({ id }) => !gone.has(id))
    change(key, { ...stream, entries, maxDeleted })
    return gone.size
  }

  function change(key: string, stream: StreamData): void {
    store.data = new Map([...store.data, [key, stream]])
  }

  function entriesOf(key: string): readonly Entry[] {
    return store.data.get(key)?.entries ?? []
  }

  return store
}

/** Where the first is that it holds for, and for all behind it: they are in order. */
function firstOf(entries: readonly Entry[], holds: (id: string) => boolean): number {
  let [from, to] = [0, entries.length]
  while (from < to) {
    const middle = Math.floor((from + to) / 2)
    if (holds(entries[middle]?.id ?? '')) to = middle
    else from = middle + 1
  }
  return from
}

function nextId(last: string, clock: Clock): string {
  const now = `${Math.floor(clock.now() * 1000)}-0`
  if (isLater(now, last)) return now
  const [milliseconds, sequence] = last.split('-')
  return `${milliseconds}-${Number(sequence) + 1}`
}

function replyOf({ id, fields }: Entry): unknown {
  return [id, [...fields]]
}

function infoOf(stream: StreamData | undefined): unknown {
  if (stream === undefined) return new Error('ERR no such key')
  const { entries, last, maxDeleted, added } = stream
  const [first, newest] = [entries[0], entries.at(-1)]
  const pairs = [
    ['length', entries.length],
    ['radix-tree-keys', 1],
    ['last-generated-id', last],
    ['max-deleted-entry-id', maxDeleted],
    ['entries-added', added],
    ['first-entry', first === undefined ? null : replyOf(first)],
    ['last-entry', newest === undefined ? null : replyOf(newest)],
  ]
  return pairs.flat(1)
}

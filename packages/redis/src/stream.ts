import type { Connection } from './connection.ts'
import { isEntryId } from './entry-id.ts'
import { RevocationStoreError } from './errors.ts'
import { type Identity, IDENTITY_ID, readRecord } from './record.ts'

/** One entry of the stream. */
export interface StreamEntry {
  readonly id: string
  /** Names and values in turn. */
  readonly fields: readonly string[]
}

/** What `XINFO STREAM` says. */
export interface StreamInfo {
  /** The largest id that was ever given. */
  readonly last: string
  /** The largest id that was deleted by `XDEL`; trimming is not counted. */
  readonly maxDeleted: string
  /** How many entries were ever added. */
  readonly entriesAdded: number
  /** How many there are. */
  readonly length: number
}

/** What a reader compares with its own position: what a primary says. */
export interface StreamReport {
  readonly identity: Identity | undefined
  /** `undefined`: there is no stream of this name. */
  readonly info: StreamInfo | undefined
  /** The entries that were asked for, in that order: `undefined` for one that is not there. */
  readonly found: readonly (StreamEntry | undefined)[]
}

/** The stream by its commands. Every function throws `RevocationStoreError`. Times are seconds. */
export interface Stream {
  report(ids: readonly string[]): Promise<StreamReport>
  /** Entries after an id, up to another and with it. */
  page(after: string, upTo: string, count: number): Promise<readonly StreamEntry[]>
  /** Entries after an id. @param block How long the store waits for one, if there is none. */
  read(after: string, count: number, block: number): Promise<readonly StreamEntry[]>
  /** @returns The id, or `undefined` if there is no stream: a writer never makes one. */
  append(fields: readonly string[]): Promise<string | undefined>
  /** Makes the stream. Fails if there is one, even an empty one. */
  create(fields: readonly string[]): Promise<void>
  delete(ids: readonly string[]): Promise<void>
  /** By the clock of the store: since 1970-01-01T00:00:00Z. */
  time(): Promise<number>
}

/**
 * @param timeout Deadline of an answer, beyond the time that the store was told to wait.
 * @param pageTimeout The same of a page.
 */
export function openStream(
  key: string,
  connection: Connection,
  timeout: number,
  pageTimeout: number = timeout,
): Stream {
  async function ask(...command: readonly string[]): Promise<unknown> {
    return await connection.ask(command, timeout)
  }

  async function entryAt(id: string): Promise<StreamEntry | undefined> {
    const [entry] = entriesOf(await ask('XRANGE', key, id, id))
    return entry
  }

  async function info(): Promise<StreamInfo | undefined> {
    try {
      return infoOf(await ask('XINFO', 'STREAM', key))
    } catch (error) {
      if (error instanceof RevocationStoreError && error.reason === 'no_stream') return undefined
      throw error
    }
  }

  /** A replica answers as well as a primary does, however far it lags behind, and a primary may become one. */
  async function checkRole(): Promise<void> {
    const reply = listIn(await ask('HELLO'))
    const role = reply[reply.indexOf('role') + 1]
    if (role !== 'master') throw new RevocationStoreError('refused', 'it is a replica')
  }

  return {
    async report(ids) {
      const [first, said, found] = await Promise.all([
        entryAt(IDENTITY_ID),
        info(),
        Promise.all(ids.map(entryAt)),
        checkRole(),
      ])
      const record = first && readRecord(first.fields)
      const identity = record?.kind === 'identity' ? record.identity : undefined
      return { identity, info: said, found }
    },
    async page(after, upTo, count) {
      const command = ['XRANGE', key, `(${after}`, upTo, 'COUNT', String(count)]
      return entriesOf(await connection.ask(command, pageTimeout))
    },
    async read(after, count, block) {
      // 0 would be for ever.
      const milliseconds = Math.max(1, Math.floor(block * 1000))
      const waiting = block > 0 ? ['BLOCK', String(milliseconds)] : []
      const command = ['XREAD', 'COUNT', String(count), ...waiting, 'STREAMS', key, after]
      return streamOf(await connection.ask(command, timeout + Math.max(0, block)))
    },
    async append(fields) {
      const id = await ask('XADD', key, 'NOMKSTREAM', '*', ...fields)
      if (id === null) return undefined
      return isEntryId(id) ? id : unreadable()
    },
    async create(fields) {
      await ask('XADD', key, IDENTITY_ID, ...fields)
    },
    async delete(ids) {
      await ask('XDEL', key, ...ids)
    },
    async time() {
      const [seconds] = listIn(await ask('TIME'))
      return typeof seconds === 'string' && /^\d{1,15}$/.test(seconds)
        ? Number(seconds)
        : unreadable()
    },
  }
}

/** Of one stream, or `null` if there was nothing to read. */
function streamOf(reply: unknown): readonly StreamEntry[] {
  if (reply === null) return []
  const [stream] = listIn(reply)
  const [, entries] = listIn(stream)
  return entriesOf(entries)
}

function entriesOf(reply: unknown): readonly StreamEntry[] {
  return listIn(reply).map((entry) => {
    const [id, fields] = listIn(entry)
    if (!isEntryId(id) || !isTextList(fields)) return unreadable()
    return { id, fields }
  })
}

function infoOf(reply: unknown): StreamInfo {
  const list = listIn(reply)
  const found = new Map<unknown, unknown>()
  for (let at = 0; at + 1 < list.length; at += 2) found.set(list[at], list[at + 1])
  const last = found.get('last-generated-id')
  const maxDeleted = found.get('max-deleted-entry-id')
  const entriesAdded = found.get('entries-added')
  const length = found.get('length')
  const areIds = isEntryId(last) && isEntryId(maxDeleted)
  if (!areIds || typeof entriesAdded !== 'number' || typeof length !== 'number') return unreadable()
  return { last, maxDeleted, entriesAdded, length }
}

function listIn(reply: unknown): readonly unknown[] {
  return Array.isArray(reply) ? reply : unreadable()
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

function unreadable(): never {
  throw new RevocationStoreError('unsupported')
}

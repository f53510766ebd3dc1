import { isDeepStrictEqual } from 'node:util'

import type { Connection } from './connection.ts'
import { isEntryId } from './entry-id.ts'
import { RevocationStoreError, storeError } from './errors.ts'
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
  /** The first and the last of those. */
  readonly first: StreamEntry | undefined
  readonly newest: StreamEntry | undefined
}

/** What a reader asks for. */
interface Question {
  /** The next entries after this id. */
  readonly after: string
  /** At most so many of them, at least 1. */
  readonly count: number
  /** One entry more. */
  readonly anchor?: string | undefined
}

/** The answer of a primary. All of it is of one moment: nothing has changed the stream between. */
export interface StreamReport {
  readonly identity: Identity | undefined
  /** `undefined`: there is no stream of this name. */
  readonly info: StreamInfo | undefined
  readonly entries: readonly StreamEntry[]
  /** `undefined`: it is not there. */
  readonly anchor: StreamEntry | undefined
}

/** The stream by its commands. Every function throws `RevocationStoreError`. Times are seconds. */
export interface Stream {
  report(question: Question): Promise<StreamReport>
  /** The same with a longer deadline, for somebody who reads the whole stream. */
  page(question: Question): Promise<StreamReport>
  /**
   * Entries after an id, but nothing that could be compared with them.
   *
   * @param block How long the store waits for one, if there is none.
   */
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

  async function reportOn(
    { after, count, anchor }: Question,
    within: number,
  ): Promise<StreamReport> {
    const info = ['XINFO', 'STREAM', key]
    const ranges = [
      ['XRANGE', key, `(${after}`, '+', 'COUNT', String(count)],
      ...(anchor === undefined ? [] : [['XRANGE', key, anchor, anchor]]),
    ]
    const [replies] = await Promise.all([ofOneMoment(info, ranges, within), checkRole(within)])
    const [said, entries, found = []] = replies
    const stated = infoOf(said)
    const record = stated?.first && readRecord(stated.first.fields)
    const isIdentity = stated?.first?.id === IDENTITY_ID && record?.kind === 'identity'
    return {
      identity: isIdentity ? record.identity : undefined,
      info: stated,
      entries: entriesOf(entries),
      anchor: entriesOf(found).at(0),
    }
  }

  /** The replies to `XINFO` and to other commands that only read. */
  async function ofOneMoment(
    info: readonly string[],
    ranges: readonly (readonly string[])[],
    within: number,
  ): Promise<readonly unknown[]> {
    const askAll = async (commands: readonly (readonly string[])[]) =>
      await Promise.all(commands.map(async (command) => await connection.ask(command, within)))
    try {
      const replies = await askAll([['MULTI'], info, ...ranges, ['EXEC']])
      return listIn(replies.at(-1))
    } catch (error) {
      if (storeError(error).reason !== 'out_of_memory') throw error
    }
    // A server without memory takes no command into a transaction, but answers those that read. If it says the same of the
    // stream before and after them, the stream has not changed; and if it was away between, the entries are too few.
    const [said, entries, again] = await Promise.all([
      connection.ask(info, within).catch(absence),
      askAll(ranges),
      connection.ask(info, within).catch(absence),
    ])
    if (!isDeepStrictEqual(said, again)) throw new RevocationStoreError('incomplete')
    return [said, ...entries]
  }

  /** A replica answers as well as a primary does, however far it lags behind, and a primary may become one. */
  async function checkRole(within: number): Promise<void> {
    const reply = listIn(await connection.ask(['HELLO'], within))
    const role = reply[reply.indexOf('role') + 1]
    if (role !== 'master') throw new RevocationStoreError('refused', 'it is a replica')
  }

  return {
    report: async (question) => await reportOn(question, timeout),
    page: async (question) => await reportOn(question, pageTimeout),
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
  return listIn(reply).map(entryOf)
}

function entryOf(reply: unknown): StreamEntry {
  const [id, fields] = listIn(reply)
  if (!isEntryId(id) || !isTextList(fields)) return unreadable()
  return { id, fields }
}

/** `undefined`: there is no stream. */
function infoOf(reply: unknown): StreamInfo | undefined {
  if (reply instanceof Error) {
    const error = storeError(reply)
    if (error.reason === 'no_stream') return undefined
    throw error
  }
  const list = listIn(reply)
  const found = new Map<unknown, unknown>()
  for (let at = 0; at + 1 < list.length; at += 2) found.set(list[at], list[at + 1])
  const last = found.get('last-generated-id')
  const maxDeleted = found.get('max-deleted-entry-id')
  const entriesAdded = found.get('entries-added')
  const length = found.get('length')
  const [first, newest] = ['first-entry', 'last-entry'].map((name) => found.get(name))
  const areIds = isEntryId(last) && isEntryId(maxDeleted)
  if (!areIds || typeof entriesAdded !== 'number' || typeof length !== 'number') return unreadable()
  return {
    last,
    maxDeleted,
    entriesAdded,
    length,
    first: first === null ? undefined : entryOf(first),
    newest: newest === null ? undefined : entryOf(newest),
  }
}

/** As a transaction answers: an error is a reply there. */
function absence(error: unknown): RevocationStoreError {
  const known = storeError(error)
  if (known.reason !== 'no_stream') throw known
  return known
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

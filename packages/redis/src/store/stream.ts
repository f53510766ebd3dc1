import type { Connection } from './connection.ts'
import { isEntryId } from './entry-id.ts'
import { IDENTITY_ID } from './record.ts'
import { listIn, type StreamEntry, streamOf, unreadable } from './stream-replies.ts'
import { type Question, reportOn, type StreamReport } from './stream-report.ts'

// The stream as commands of Redis, whose replies are read strictly. What they mean for a replica is decided in `following.ts`.

/** The stream by its commands. Every function throws `RevocationStoreError`. Times are seconds. */
export interface Stream {
  report(question: Question): Promise<StreamReport>
  /** The same with a longer deadline, for somebody who reads the whole stream. */
  page(question: Question): Promise<StreamReport>
  /** Entries after an id, with nothing to compare them with. @param block How long the store waits for one, if there is none. */
  read(after: string, count: number, block: number): Promise<readonly StreamEntry[]>
  /** @returns The id, or `undefined` if there is no stream: a writer never makes one. */
  append(fields: readonly string[]): Promise<string | undefined>
  /** Makes the stream. Fails if there is one, even an empty one. */
  create(fields: readonly string[]): Promise<void>
  delete(ids: readonly string[]): Promise<void>
  /** By the clock of the store: since 1970-01-01T00:00:00Z. */
  time(): Promise<number>
}

/** @param timeout Of an answer, beyond the time that the store was told to wait. @param pageTimeout The same of a page. */
export function openStream(
  key: string,
  connection: Connection,
  timeout: number,
  pageTimeout: number = timeout,
): Stream {
  async function ask(...command: readonly string[]): Promise<unknown> {
    return await connection.ask(command, timeout)
  }

  return {
    report: async (question) => await reportOn(key, question, connection, timeout),
    page: async (question) => await reportOn(key, question, connection, pageTimeout),
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

import type { Instant } from '@portcullis/kit/time'

import type { Connection } from './connection.ts'
import { isEntryId } from './entry-id.ts'
import { storeError } from './errors.ts'
import { IDENTITY_ID, MARK_ID, writeMark } from './record.ts'
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
  /** Makes the stream. Fails if there is one, even an empty one. @param isMarked Whether it is to be restored. */
  create(fields: readonly string[], isMarked: boolean): Promise<void>
  delete(ids: readonly string[]): Promise<void>
  /** The connections to the store, a line of `CLIENT LIST` each. */
  clients(): Promise<readonly string[]>
  /** When sentinels were last asked that named this server; `undefined` without sentinels. */
  confirmedAt(): Instant | undefined
  /** By the clock of the store: since 1970-01-01T00:00:00Z. */
  time(): Promise<number>
}

/**
 * @param timeout Of an answer, beyond the time that the store was told to wait.
 * @param pageTimeout The same of a page.
 * @param name What operators see of the connection now.
 */
export function openStream(
  key: string,
  connection: Connection,
  timeout: number,
  pageTimeout: number = timeout,
  name: () => string | undefined = () => undefined,
): Stream {
  async function ask(...command: readonly string[]): Promise<unknown> {
    return await connection.ask(command, timeout)
  }

  return {
    report: async (question) => await reportOn(key, question, connection, timeout, name()),
    page: async (question) => await reportOn(key, question, connection, pageTimeout, name()),
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
    async create(fields, isMarked) {
      const identity = ['XADD', key, IDENTITY_ID, ...fields]
      if (!isMarked) {
        await ask(...identity)
        return
      }
      // In one step: without its mark, a stream that was made to be restored counts as restored.
      const commands = [['MULTI'], identity, ['XADD', key, MARK_ID, ...writeMark()], ['EXEC']]
      const replies = await Promise.all(commands.map(async (command) => await ask(...command)))
      const failure = listIn(replies.at(-1)).find((reply) => reply instanceof Error)
      if (failure !== undefined) throw storeError(failure)
    },
    async delete(ids) {
      await ask('XDEL', key, ...ids)
    },
    confirmedAt: () => connection.confirmedAt(),
    async clients() {
      const text = await ask('CLIENT', 'LIST', 'TYPE', 'normal')
      return typeof text === 'string'
        ? text.split('\n').filter((line) => line !== '')
        : unreadable()
    },
    async time() {
      const [seconds] = listIn(await ask('TIME'))
      return typeof seconds === 'string' && /^\d{1,15}$/.test(seconds)
        ? Number(seconds)
        : unreadable()
    },
  }
}

import { isDeepStrictEqual } from 'node:util'

import type { Connection } from './connection.ts'
import { RevocationStoreError, storeError } from './errors.ts'
import { type Identity, IDENTITY_ID, MARK_ID, readRecord } from './record.ts'
import { entriesOf, infoOf, listIn, type StreamEntry, type StreamInfo } from './stream-replies.ts'

// Reports: entries of the stream, and what it says of itself at the same moment.

export interface Question {
  /** The next entries after this id. */
  readonly after: string
  /** At most so many of them, at least 1. */
  readonly count: number
  /** One entry more. */
  readonly anchor?: string | undefined
  /** Whether the stream is known to have been made to be restored. */
  readonly isMarked?: boolean | undefined
}

/** The answer of a primary. All of it is of one moment: nothing has changed the stream between. */
export interface StreamReport {
  readonly identity: Identity | undefined
  /** `undefined`: there is no stream of this name. */
  readonly info: StreamInfo | undefined
  readonly entries: readonly StreamEntry[]
  /** `undefined`: it is not there. */
  readonly anchor: StreamEntry | undefined
  /** Whether the stream takes the place of one that was lost, and no operator has ended that yet. */
  readonly isRestoring: boolean
}

/**
 * @param timeout Of each answer. Seconds.
 * @param name What operators see of the connection, by `CLIENT LIST`.
 */
export async function reportOn(
  key: string,
  question: Question,
  connection: Connection,
  timeout: number,
  name: string | undefined,
): Promise<StreamReport> {
  const ask: Ask = async (...command) => await connection.ask(command, timeout)
  const report = await askOnce(key, question, ask, name)
  // The mark must be of the same moment as the identity: of a stream that is away since then, it would seem to be removed.
  if (report.identity?.isMarked !== true || question.isMarked === true) return report
  return await askOnce(key, { ...question, isMarked: true }, ask, name)
}

async function askOnce(
  key: string,
  { after, count, anchor, isMarked = false }: Question,
  ask: Ask,
  name: string | undefined,
): Promise<StreamReport> {
  const info = ['XINFO', 'STREAM', key]
  const ranges = [
    ['XRANGE', key, `(${after}`, '+', 'COUNT', String(count)],
    ...(isMarked ? [['XRANGE', key, MARK_ID, MARK_ID]] : []),
    ...(anchor === undefined ? [] : [['XRANGE', key, anchor, anchor]]),
  ]
  const [replies] = await Promise.all([ofOneMoment(info, ranges, ask), checkRole(ask, name)])
  const [said, entries, ...others] = replies
  const mark = isMarked ? others.shift() : undefined
  const [found = []] = others
  const stated = infoOf(said)
  const record = stated?.first && readRecord(stated.first.fields)
  const isIdentity = stated?.first?.id === IDENTITY_ID && record?.kind === 'identity'
  const identity = isIdentity ? record.identity : undefined
  // Another one between the two questions was made to be restored, and its mark was not asked for.
  const isRestoring = mark === undefined || entriesOf(mark).length > 0
  return {
    identity,
    isRestoring: identity?.isMarked === true && isRestoring,
    info: stated,
    entries: entriesOf(entries),
    anchor: entriesOf(found).at(0),
  }
}

type Ask = (...command: readonly string[]) => Promise<unknown>

/** The replies to `XINFO` and to other commands that only read. */
async function ofOneMoment(
  info: readonly string[],
  ranges: readonly (readonly string[])[],
  ask: Ask,
): Promise<readonly unknown[]> {
  const askAll = async (commands: readonly (readonly string[])[]) =>
    await Promise.all(commands.map(async (command) => await ask(...command)))
  try {
    const replies = await askAll([['MULTI'], info, ...ranges, ['EXEC']])
    return listIn(replies.at(-1))
  } catch (error) {
    if (storeError(error).reason !== 'out_of_memory') throw error
  }
  // A server without memory takes no command into a transaction, but answers those that read. If it says the same of the
  // stream before and after them, the stream has not changed; and if it was away between, the entries are too few.
  const [said, entries, again] = await Promise.all([
    ask(...info).catch(absence),
    askAll(ranges),
    ask(...info).catch(absence),
  ])
  if (!isDeepStrictEqual(said, again)) throw new RevocationStoreError('incomplete')
  return [said, ...entries]
}

/** A replica answers as well as a primary does, however far it lags behind, and a primary may become one. */
async function checkRole(ask: Ask, name: string | undefined): Promise<void> {
  // `CLIENT SETNAME` would be another right of the user.
  const words = name === undefined ? [] : ['2', 'SETNAME', name]
  const reply = listIn(await ask('HELLO', ...words))
  const role = reply[reply.indexOf('role') + 1]
  if (role !== 'master') throw new RevocationStoreError('refused', 'it is a replica')
}

/** As a transaction answers: an error is a reply there. */
function absence(error: unknown): RevocationStoreError {
  const known = storeError(error)
  if (known.reason !== 'no_stream') throw known
  return known
}

import { randomUUID } from 'node:crypto'

import type { IssuedBefore, RevocationEntry, RevokedToken } from '@portcullis/core'
import {
  issuedBeforeEntry,
  readRevocationEntry,
  revokedTokenEntry,
} from '@portcullis/core/verifier'
import { parseJson } from '@portcullis/kit/json'
import { backgroundClock } from '@portcullis/kit/time'

import { type Reading, readWhole } from '../revocations/whole-stream.ts'
import { LOWEST_ID } from '../store/entry-id.ts'
import { RevocationStoreError } from '../store/errors.ts'
import { IDENTITY_ID, readRecord, writeIdentity, writeRecord } from '../store/record.ts'
import type { StreamEntry } from '../store/stream-replies.ts'
import type { Question } from '../store/stream-report.ts'
import type { Stream } from '../store/stream.ts'
import { createCompaction } from './compaction.ts'

// What an operator does with the stream. Each function answers with what is printed, or prints it as it comes: JSON.

type Print = (data: object) => Promise<void>

const PAGE = 1000
export const BEGINNING: Question = { after: LOWEST_ID, count: 1 }

/** A mistake of the operator, or a state of the stream, that the command cannot go on with. */
export class CommandError extends Error {}

/**
 * @param replaces Identities of streams that were lost: replicas of those go on with this one, and write back what they know. Until an
 *   operator ends that, all others answer `unknown`.
 */
export async function createStream(stream: Stream, replaces: readonly string[]): Promise<object> {
  const { identity, info } = await stream.report(BEGINNING)
  if (identity !== undefined) {
    throw new CommandError(`the stream exists already: its identity is ${identity.id}`)
  }
  if (info !== undefined) {
    throw new CommandError(
      'the key exists, and its first entry is no identity: it was trimmed, or made by something else. ' +
        'RENAME the key, `create --replaces` the former identity, `export --stream` the other name, `import` that, and `restore --finish --processes N`. ' +
        'Do not delete it: revocations are still added to it',
    )
  }
  const created = { id: randomUUID(), replaces }
  const isMarked = replaces.length > 0
  // If somebody else has made it in between, this fails, since its first entry has this id or a later one.
  await stream.create(writeIdentity({ ...created, isMarked }), isMarked)
  return created
}

/** Never makes one: where an identity is stated, a stream that is not there was lost. */
export async function checkIdentity(stream: Stream, stated: string): Promise<object> {
  const { identity, info } = await stream.report(BEGINNING)
  if (identity?.id === stated) return { id: identity.id, replaces: identity.replaces }
  const found =
    identity === undefined
      ? `the stream ${info === undefined ? 'does not exist' : 'has lost its identity'}`
      : `the stream has the identity ${identity.id}`
  throw new CommandError(
    `${found}, and ${stated} was stated: nothing was made. If it was lost, \`create --replaces ${stated}\``,
  )
}

export async function revokeTokens(
  stream: Stream,
  tokens: readonly RevokedToken[],
  print: Print,
): Promise<void> {
  const entries = tokens.map((token) => revokedTokenEntry('revoke', token))
  for (const entry of entries) await print(await append(stream, entry))
}

export async function revokeBefore(
  stream: Stream,
  whose: IssuedBefore,
  options: { readonly time?: number; readonly until?: number },
): Promise<object> {
  return await append(
    stream,
    issuedBeforeEntry('revokeBefore', whose, options, backgroundClock.now()),
  )
}

/** @returns The entry, with the id of its record. */
async function append(stream: Stream, entry: RevocationEntry): Promise<object> {
  const id = await stream.append(writeRecord(entry))
  if (id === undefined) throw new RevocationStoreError('no_stream')
  return { id, ...entry }
}

export async function streamStatus(stream: Stream): Promise<object> {
  const { identity, isRestoring } = await stream.report(BEGINNING)
  const kinds = { revocation: 0, unreadable: 0, foreign: 0, identity: 0, mark: 0, contribution: 0 }
  const unreadable: string[] = []
  const reading = await readAll(stream, (entries) => {
    for (const { id, fields } of entries) {
      const { kind } = readRecord(fields)
      kinds[kind] += 1
      if (kind === 'unreadable' && unreadable.length < 100) unreadable.push(id)
    }
  })
  return {
    identity: identity?.id ?? null,
    replaces: identity?.replaces ?? [],
    restoring: isRestoring,
    exists: reading !== undefined,
    last: reading?.info.last ?? null,
    revocations: kinds.revocation,
    unreadable: kinds.unreadable,
    unreadableIds: unreadable,
    foreign: kinds.foreign,
  }
}

/**
 * Deletes what nobody needs. Replicas may read meanwhile: whatever covers a deleted entry is in the stream before.
 *
 * @param now Of this machine. The store's counts as well: one that is ahead must not delete what is needed.
 */
export async function compactStream(stream: Stream, now: number): Promise<object> {
  const { identity } = await stream.report(BEGINNING)
  if (identity === undefined) throw new RevocationStoreError('no_stream')
  const compaction = createCompaction(Math.min(now, await stream.time()))
  let deleted = 0
  const reading = await readAll(stream, async (entries) => {
    const ids = compaction.superfluous(entries).filter((id) => id !== IDENTITY_ID)
    deleted += ids.length
    if (ids.length > 0) await stream.delete(ids)
  })
  return { read: reading?.count, deleted }
}

/** Every revocation, also what comes meanwhile, as lines of JSON for `importEntries`; last how many: without that line it is not all. */
export async function exportEntries(stream: Stream, print: Print): Promise<void> {
  let exported = 0
  const unreadable: string[] = []
  const reading = await readAll(stream, async (entries) => {
    for (const { id, fields } of entries) {
      const record = readRecord(fields)
      if (record.kind === 'unreadable') unreadable.push(id)
      if (record.kind !== 'revocation') continue
      await print(record.entry)
      exported += 1
    }
  })
  if (reading === undefined) throw new RevocationStoreError('no_stream')
  const [first] = unreadable
  if (first !== undefined) {
    throw new CommandError(
      `the export lacks records that cannot be read: ${unreadable.length}, the first is ${first}`,
    )
  }
  await print({ type: 'end', entries: exported })
}

const END = /^\{"type":"end","entries":(?<count>\d{1,10})\}$/

/** Appends what `exportEntries` has printed, of this stream or another: all of it, or nothing if that is not whole. */
export async function importEntries(stream: Stream, lines: AsyncIterable<string>): Promise<object> {
  const entries = await checkLines(lines)
  let added = 0
  try {
    for (const entry of entries) {
      await append(stream, entry)
      added += 1
    }
  } catch (error) {
    if (!(error instanceof RevocationStoreError)) throw error
    throw new CommandError(`${error.message}; ${added} of ${entries.length} entries were added`)
  }
  return { read: entries.length, added }
}

async function checkLines(lines: AsyncIterable<string>): Promise<readonly RevocationEntry[]> {
  const entries: RevocationEntry[] = []
  let read = 0
  let end: number | undefined
  for await (const text of lines) {
    read += 1
    const line = text.trim()
    if (line === '') continue
    if (end !== undefined) throw notAdded(`line ${read} comes after the last line of an export`)
    const count = END.exec(line)?.groups?.['count']
    if (count === undefined) entries.push(entryIn(line, read))
    else end = Number(count)
  }
  if (end === undefined) {
    const last = JSON.stringify({ type: 'end', entries: entries.length })
    throw notAdded(
      `there is no last line with the number of entries: the file was cut, or version 1.0.0-rc.0 wrote it. ` +
        `If you know that it is whole, add the line ${last}`,
    )
  }
  if (end !== entries.length) {
    throw notAdded(`the last line says ${end} entries, but there are ${entries.length}`)
  }
  return entries
}

function notAdded(why: string): CommandError {
  return new CommandError(`nothing was added: ${why}`)
}

function entryIn(line: string, number: number): RevocationEntry {
  try {
    const entry = readRevocationEntry('import', parseJson(line))
    // What cannot be written is no entry either.
    writeRecord(entry)
    return entry
  } catch {
    throw notAdded(`line ${number} is no entry`)
  }
}

/** `undefined` if there is no stream. @throws RevocationStoreError if what was read may not be all. */
export async function readAll(
  stream: Stream,
  onPage: (entries: readonly StreamEntry[]) => unknown,
): Promise<Reading | undefined> {
  const reading = await readWhole(stream, PAGE, onPage)
  if (reading === 'changed') throw new RevocationStoreError('incomplete')
  return reading === 'absent' ? undefined : reading
}

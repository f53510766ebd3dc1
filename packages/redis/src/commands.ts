import { randomUUID } from 'node:crypto'

import type { IssuedBefore, RevocationEntry, RevokedToken } from '@portcullis/core'
import { parseJson } from '@portcullis/core/json'

import { createCompaction } from './compaction.ts'
import { LOWEST_ID } from './entry-id.ts'
import { RevocationStoreError } from './errors.ts'
import { newEntries } from './new-entries.ts'
import { IDENTITY_ID, readRecord, writeIdentity, writeRecord } from './record.ts'
import type { Stream, StreamEntry, StreamReport } from './stream.ts'
import { systemClock } from './time.ts'

// What an operator does with the stream. Each function answers with what it prints: JSON.

const PAGE = 1000

/** A mistake of the operator, or a state of the stream, that the command cannot go on with. */
export class CommandError extends Error {}

/**
 * Makes the stream.
 *
 * @param replaces Identities of streams that were lost: replicas of those go on with this one.
 */
export async function createStream(stream: Stream, replaces: readonly string[]): Promise<object> {
  const { identity, info } = await stream.report([])
  if (identity !== undefined) {
    throw new CommandError(`the stream exists already: its identity is ${identity.id}`)
  }
  if (info !== undefined) {
    throw new CommandError(
      'the key exists, and its first entry is no identity: it was trimmed, or made by something else. ' +
        'Save its entries with `export`, delete the key, `create --replaces` the former identity, and `import` them',
    )
  }
  const created = { id: randomUUID(), replaces }
  // If somebody else has made it in between, this fails, since its first entry has this id or a later one.
  await stream.create(writeIdentity(created))
  return created
}

export async function revokeToken(stream: Stream, token: RevokedToken): Promise<object> {
  const entries = await newEntries(systemClock, (made) => made.revoke(token))
  const [added = {}] = await append(stream, entries)
  return added
}

export async function revokeBefore(
  stream: Stream,
  whose: IssuedBefore,
  options: { readonly time?: number; readonly until?: number },
): Promise<object> {
  const entries = await newEntries(systemClock, (made) => made.revokeBefore(whose, options))
  const [added = {}] = await append(stream, entries)
  return added
}

/** @returns The entries, each with the id of its record. */
async function append(
  stream: Stream,
  entries: readonly RevocationEntry[],
): Promise<readonly object[]> {
  const added: object[] = []
  for (const entry of entries) {
    const id = await stream.append(writeRecord(entry))
    if (id === undefined) throw new RevocationStoreError('no_stream')
    added.push({ id, ...entry })
  }
  return added
}

/** What the stream says of itself, and what its records are. */
export async function streamStatus(stream: Stream): Promise<object> {
  const report = await stream.report([])
  const kinds = { revocation: 0, unreadable: 0, foreign: 0, identity: 0 }
  const unreadable: string[] = []
  for await (const entries of pages(stream, report)) {
    for (const { id, fields } of entries) {
      const { kind } = readRecord(fields)
      kinds[kind] += 1
      if (kind === 'unreadable' && unreadable.length < 100) unreadable.push(id)
    }
  }
  return {
    identity: report.identity?.id ?? null,
    replaces: report.identity?.replaces ?? [],
    exists: report.info !== undefined,
    last: report.info?.last ?? null,
    revocations: kinds.revocation,
    unreadable: kinds.unreadable,
    unreadableIds: unreadable,
    foreign: kinds.foreign,
  }
}

/**
 * Deletes what nobody needs any more, and nothing else. Replicas may read meanwhile: whatever covers a deleted entry is in
 * the stream before.
 *
 * @param now By the clock of this machine. The store's counts as well: one that is ahead must not delete what is needed.
 */
export async function compactStream(stream: Stream, now: number): Promise<object> {
  const report = await stream.report([])
  if (report.identity === undefined) throw new RevocationStoreError('no_stream')
  const compaction = createCompaction(Math.min(now, await stream.time()))
  let read = 0
  let deleted = 0
  for await (const entries of pages(stream, report)) {
    const ids = compaction.superfluous(entries).filter((id) => id !== IDENTITY_ID)
    read += entries.length
    deleted += ids.length
    if (ids.length > 0) await stream.delete(ids)
  }
  return { read, deleted }
}

/** Every revocation, one after the other: lines of JSON for `importEntries`. */
export async function* exportEntries(stream: Stream): AsyncGenerator<object> {
  const report = await stream.report([])
  if (report.info === undefined) throw new RevocationStoreError('no_stream')
  for await (const entries of pages(stream, report)) {
    for (const { fields } of entries) {
      const record = readRecord(fields)
      if (record.kind === 'revocation') yield record.entry
    }
  }
}

/** Appends what `exportEntries` gave, of this stream or another. */
export async function importEntries(stream: Stream, lines: AsyncIterable<string>): Promise<object> {
  let read = 0
  let added = 0
  for await (const line of lines) {
    if (line.trim() === '') continue
    read += 1
    const entries = await entriesIn(line).catch(() => {
      throw new CommandError(`line ${read} is no entry; ${added} were added before it`)
    })
    added += (await append(stream, entries)).length
  }
  return { read, added }
}

async function entriesIn(line: string): Promise<readonly RevocationEntry[]> {
  const entries = await newEntries(systemClock, (made) => {
    made.load([parseJson(line) as RevocationEntry]) // which `load` checks
  })
  // What cannot be written is no entry either.
  entries.map(writeRecord)
  return entries
}

/** The entries up to the last one that the report knew of. */
async function* pages(
  stream: Stream,
  { info }: StreamReport,
): AsyncGenerator<readonly StreamEntry[]> {
  if (info === undefined) return
  let after = LOWEST_ID
  for (;;) {
    const entries = await stream.page(after, info.last, PAGE)
    if (entries.length > 0) yield entries
    if (entries.length < PAGE) return
    after = entries.at(-1)?.id ?? after
  }
}

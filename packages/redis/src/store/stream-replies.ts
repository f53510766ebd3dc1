import { isEntryId } from './entry-id.ts'
import { RevocationStoreError, storeError } from './errors.ts'

// Replies of the store about the stream, read strictly.

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
  readonly length: number
  /** The first and the last of those. */
  readonly first: StreamEntry | undefined
  readonly newest: StreamEntry | undefined
}

/** Of one stream, or `null` if there was nothing to read. */
export function streamOf(reply: unknown): readonly StreamEntry[] {
  if (reply === null) return []
  const [stream] = listIn(reply)
  const [, entries] = listIn(stream)
  return entriesOf(entries)
}

export function entriesOf(reply: unknown): readonly StreamEntry[] {
  return listIn(reply).map(entryOf)
}

function entryOf(reply: unknown): StreamEntry {
  const [id, fields] = listIn(reply)
  if (!isEntryId(id) || !isTextList(fields)) return unreadable()
  return { id, fields }
}

/** `undefined`: there is no stream. */
export function infoOf(reply: unknown): StreamInfo | undefined {
  if (reply instanceof Error) {
    const error = storeError(reply)
    if (error.reason === 'no_stream') return undefined
    throw error
  }
  const found = pairsIn(reply)
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

export function listIn(reply: unknown): readonly unknown[] {
  return Array.isArray(reply) ? reply : unreadable()
}

/** Of a list with names and values in turn. */
export function pairsIn(reply: unknown): ReadonlyMap<unknown, unknown> {
  const list = listIn(reply)
  const found = new Map<unknown, unknown>()
  for (let at = 0; at + 1 < list.length; at += 2) found.set(list[at], list[at + 1])
  return found
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

export function unreadable(): never {
  throw new RevocationStoreError('unsupported')
}

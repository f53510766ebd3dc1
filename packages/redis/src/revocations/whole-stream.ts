import { isLater, LOWEST_ID } from '../store/entry-id.ts'
import type { Identity } from '../store/record.ts'
import type { StreamEntry, StreamInfo } from '../store/stream-replies.ts'
import type { Stream } from '../store/stream.ts'
import { deletedIn, hasSteppedBack, hasVanished } from './comparison.ts'

// Reads a whole stream, and makes sure that it was the whole one.

/** How much of the stream was read, from its first entry on. */
export interface Reading {
  readonly identity: Identity | undefined
  /** What the stream said of itself with the first page, and with the last one. */
  readonly start: StreamInfo
  readonly info: StreamInfo
  readonly count: number
  readonly newest: StreamEntry | undefined
}

/**
 * Reads to the end, page by page, also what comes meanwhile, each page with what the stream says of itself: without that, one of a stream
 * that is away for a moment looks like the end. @returns `changed`: what was read may not be all, so it must be read again.
 */
export async function readWhole(
  stream: Stream,
  size: number,
  onPage: (entries: readonly StreamEntry[], identity: Identity | undefined) => unknown,
): Promise<Reading | 'absent' | 'changed'> {
  let reading: Reading | undefined
  for (;;) {
    const after = reading?.newest?.id ?? LOWEST_ID
    const isMarked = reading?.identity?.isMarked
    const { identity, info, entries } = await stream.page({ after, count: size, isMarked })
    if (info === undefined) return reading === undefined ? 'absent' : 'changed'
    reading ??= {
      identity,
      start: info,
      info,
      count: 0,
      newest: undefined,
    }
    if (reading.identity?.id !== identity?.id || hasSteppedBack(reading.info, info))
      return 'changed'
    const count = reading.count + entries.length
    reading = { ...reading, info, count, newest: entries.at(-1) ?? reading.newest }
    const isEnd = entries.length < size
    if (isEnd && !isWhole(reading)) return 'changed'
    await onPage(entries, identity)
    if (isEnd) return reading
  }
}

/**
 * Whether nothing lacks but what may have been deleted before it was read, and the last entry is the stream's. An entry that
 * is deleted because another one includes it is no loss: that one is read, now or by whoever follows the stream.
 */
function isWhole({ start, info, count, newest: last }: Reading): boolean {
  const lacking = start.length + info.entriesAdded - start.entriesAdded - count
  const deleted = deletedIn(info) - deletedIn(start)
  return lacking >= 0 && lacking <= deleted && endsWith(info, last)
}

function endsWith(info: StreamInfo, last: StreamEntry | undefined): boolean {
  const { newest } = info
  if (last === undefined) return newest === undefined
  if (newest !== undefined && isLater(newest.id, last.id)) return false
  return !hasVanished(last, newest?.id === last.id ? newest : undefined, info)
}

import { isLater } from '../store/entry-id.ts'
import type { StreamEntry, StreamInfo } from '../store/stream-replies.ts'

// What a stream says of itself, compared with what it said before and with what was read of it: pure functions.

/** How many entries were ever deleted or trimmed. */
export function deletedIn({ entriesAdded, length }: StreamInfo): number {
  return entriesAdded - length
}

/** Nothing that a stream does makes one of these numbers smaller. A primary with less does, and a backup. */
export function hasSteppedBack(before: StreamInfo, info: StreamInfo): boolean {
  return (
    isLater(before.last, info.last) ||
    isLater(before.maxDeleted, info.maxDeleted) ||
    info.entriesAdded < before.entriesAdded ||
    deletedIn(info) < deletedIn(before)
  )
}

/**
 * Whether an entry that was read is not there although nobody has deleted it, or has another content: two primaries may give
 * the same id to different entries.
 *
 * @param found What is there now with its id.
 */
export function hasVanished(
  entry: StreamEntry,
  found: StreamEntry | undefined,
  { maxDeleted }: StreamInfo,
): boolean {
  if (found === undefined) return isLater(entry.id, maxDeleted)
  return !isSameRecord(found.fields, entry.fields)
}

export function isSameRecord(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((text, at) => text === other[at])
}

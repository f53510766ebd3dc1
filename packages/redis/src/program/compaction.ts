import type { RevocationEntry } from '@portcullis/core'

import { endOf, hasLapsed } from '../revocations/restoring.ts'
import { readRecord } from '../store/record.ts'
import type { StreamEntry } from '../store/stream-replies.ts'

// Which entries of the stream nobody needs any more. Times are seconds.

interface Kept {
  readonly id: string
  readonly time: number
  readonly end: number
}

/** Which entries are over, or covered by another of the same token or owner. What cannot be read, or is of others, is needed. */
export function createCompaction(now: number): {
  /** @returns Ids, also of entries that were given before. */
  superfluous(entries: readonly StreamEntry[]): readonly string[]
} {
  const kept = new Map<string, Kept>()

  function superfluousOf({ id, fields }: StreamEntry): readonly string[] {
    const record = readRecord(fields)
    if (record.kind !== 'revocation') return []
    const { entry } = record
    const next = { id, time: entry.type === 'issued_before' ? entry.time : 0, end: endOf(entry) }
    if (hasLapsed(entry, now)) return [id]
    const key = keyOf(entry)
    const known = kept.get(key)
    if (known !== undefined && known.time >= next.time && known.end >= next.end) return [id]
    // Where neither covers the other, both stay, and the later one is compared with.
    kept.set(key, next)
    return known !== undefined && next.time >= known.time && next.end >= known.end ? [known.id] : []
  }

  return { superfluous: (entries) => entries.flatMap(superfluousOf) }
}

/** A list as JSON, so that no two different ones are alike. */
function keyOf(entry: RevocationEntry): string {
  return JSON.stringify([entry.type, entry.iss ?? null, ...whoseOf(entry)])
}

function whoseOf(entry: RevocationEntry): readonly (string | null)[] {
  if (entry.type === 'token') return [entry.jti]
  if (entry.type === 'digest') return [entry.digest]
  return [entry.sub ?? null, entry.client_id ?? null, entry.sid ?? null]
}

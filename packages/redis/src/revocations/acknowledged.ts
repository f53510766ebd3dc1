import type { Instant } from '@portcullis/kit/time'

import type { StreamEntry } from '../store/stream-replies.ts'
import { isSameRecord } from './comparison.ts'

// What this process has appended, and has not read in the stream yet. In a fail-over two servers take writes for a while: what the former
// primary has acknowledged is on no other, and no comparison of what was read shows that it lacks.

/** More than one connection has under way. */
const MOST = 10_000
/** At the last of these it is looked for no more: others have deleted it, since another entry includes it. */
const LOOKS = 1024

interface Appended {
  readonly record: readonly string[]
  readonly at: Instant
  readonly looks: number
}

export interface Acknowledged {
  /** @param at When the store had it. */
  add(id: string, record: readonly string[], at: Instant): void
  /** What was read is in the stream. */
  readonly read: (entries: readonly StreamEntry[]) => void
  /**
   * After a report that was read to its end.
   *
   * @param askedAt Whatever was appended before must be in it.
   * @returns Whether something lacks.
   */
  readonly look: (askedAt: Instant) => boolean
}

export function createAcknowledged(): Acknowledged {
  const appended = new Map<string, Appended>()

  return {
    add(id, record, at) {
      appended.set(id, { record, at, looks: 0 })
      const [oldest] = appended.keys()
      // Whoever reads so late reads the whole stream.
      if (appended.size > MOST && oldest !== undefined) appended.delete(oldest)
    },
    read(entries) {
      if (appended.size === 0) return
      for (const { id, fields } of entries) {
        // Two primaries may give one id to different entries.
        const known = appended.get(id)
        if (known !== undefined && isSameRecord(known.record, fields)) appended.delete(id)
      }
    },
    look(askedAt) {
      let isLacking = false
      for (const [id, each] of appended) {
        if (each.at.monotonic >= askedAt.monotonic) continue
        const looks = each.looks + 1
        // Each time after twice as long: an address may lead to the former primary for a while, which has it.
        isLacking ||= Number.isInteger(Math.log2(looks))
        if (looks === LOOKS) appended.delete(id)
        else appended.set(id, { ...each, looks })
      }
      return isLacking
    },
  }
}

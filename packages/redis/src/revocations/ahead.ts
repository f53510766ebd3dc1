import {
  type Claims,
  type Clock,
  type LocalRevocations,
  localRevocations,
  type RevocationEntry,
  type RevocationStatus,
} from '@portcullis/core'
import { createListeners } from '@portcullis/kit/report'

import type { StreamEntry } from '../store/stream-replies.ts'
import { isSameRecord } from './comparison.ts'
import { fill } from './filling.ts'
import { MOST, type Ours } from './ours.ts'
import type { Batch } from './replica-state.ts'

// What was read between two reports: an answer to XREAD does not say of which stream it is, and the key may have become another one's
// meanwhile. It is refused at once, and not written back unless a report has said that its stream is ours.

export interface Ahead {
  statusOf(claims: Claims, now: number, digest?: string): RevocationStatus
  subscribe(listener: () => void): () => void
  take(entries: readonly StreamEntry[]): Batch
  /** Whether the index has room for these, and for all that is ahead. */
  readonly hasRoomFor: (entries: readonly RevocationEntry[]) => boolean
  /** What a report has brought is no longer ahead of it. */
  settle(entries: readonly StreamEntry[]): void
  /** What was taken so far was read over another connection: a fail-over may have ended that, and lost it. */
  reconnected(): void
  /** Whatever no report has brought is ours from now on. @returns Whether the stream lacks it: over one connection, another stream had the key for a moment. */
  moveTo(ours: Pick<Ours, 'take'>): boolean
}

/** @param index Of what the stream that is followed has revoked, by its reports. @param max Of its entries. */
export function createAhead(index: LocalRevocations, max: number, clock: Clock): Ahead {
  const listeners = createListeners()
  const taken = new Map<string, StreamEntry>()
  let ahead: LocalRevocations | undefined
  let isElsewhere = false

  function begin(): LocalRevocations {
    const made = localRevocations({ max, clock })
    made.subscribe(() => {
      listeners.notify()
    })
    return made
  }

  function hasRoomFor(entries: readonly RevocationEntry[]): boolean {
    if (index.size + (ahead?.size ?? 0) + entries.length <= max) return true
    return index.hasRoomFor([...(ahead?.toSnapshot().entries ?? []), ...entries])
  }

  return {
    statusOf: (claims, now, digest) => ahead?.statusOf(claims, now, digest) ?? 'valid',
    subscribe: (listener) => listeners.subscribe(listener),
    hasRoomFor,
    take(entries) {
      if (entries.length === 0) return NOTHING
      isElsewhere = false
      for (const entry of entries) taken.set(entry.id, entry)
      ahead ??= begin()
      const batch = fill(ahead, entries)
      return { ...batch, isFull: batch.isFull || !hasRoomFor([]) }
    },
    settle(entries) {
      if (taken.size === 0) return
      for (const { id, fields } of entries) {
        const known = taken.get(id)
        if (known !== undefined && isSameRecord(known.fields, fields)) taken.delete(id)
      }
    },
    reconnected() {
      isElsewhere = true
    },
    moveTo(ours) {
      const left = localRevocations({ max: MOST, clock })
      fill(left, [...taken.values()])
      ours.take([...left.entries()])
      const isLost = isElsewhere && taken.size > 0
      taken.clear()
      ahead = undefined
      return isLost
    },
  }
}

const NOTHING: Batch = { unreadable: [], foreign: [], isFull: false }

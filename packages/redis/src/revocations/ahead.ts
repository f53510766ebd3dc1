import {
  type Claims,
  type Clock,
  type LocalRevocations,
  localRevocations,
  type RevocationEntry,
  type RevocationStatus,
} from '@portcullis/core'
import { createListeners } from '@portcullis/kit/report'

import type { Identity } from '../store/record.ts'
import type { StreamEntry } from '../store/stream-replies.ts'
import { isSameRecord } from './comparison.ts'
import { fill } from './filling.ts'
import { MOST, type Ours } from './ours.ts'
import type { Batch } from './replica-state.ts'

// What was read between two reports: an answer to XREAD does not say of which stream it is, and the key may have become another one's
// meanwhile. It is refused at once, and written back if a fail-over may have lost it.

export interface Ahead {
  statusOf(claims: Claims, now: number, digest?: string): RevocationStatus
  subscribe(listener: () => void): () => void
  /** @param other The stream of the last report, if it was another one than the followed. */
  take(entries: readonly StreamEntry[], other?: Identity): Batch
  /** Whether the index has room for these, and for all that is ahead. */
  readonly hasRoomFor: (entries: readonly RevocationEntry[]) => boolean
  /** What a report has brought is no longer ahead of it. */
  settle(entries: readonly StreamEntry[]): void
  /** A fail-over may have lost what was taken so far: it has ended the connection, or the stream is found to lack something. */
  mayBeLost(): void
  /** What no report of the followed stream has brought, and a former primary may have had, is ours from now on. @returns Whether there was some. */
  moveTo(ours: Pick<Ours, 'take'>): boolean
  /** What else no report has brought: of another stream, or nobody knows of which. */
  unclaimed(): readonly Unclaimed[]
  /** Forgets all of it: somebody else refuses it from now on. */
  clear(): void
}

interface Unclaimed {
  readonly other: Identity | undefined
  readonly entries: readonly StreamEntry[]
}

interface Taken {
  readonly entry: StreamEntry
  readonly other: Identity | undefined
}

/** @param index Of what the stream that is followed has revoked, by its reports. @param max Of its entries. */
export function createAhead(index: LocalRevocations, max: number, clock: Clock): Ahead {
  const listeners = createListeners()
  const taken = new Map<string, Taken>()
  const lost = new Map<string, Taken>()
  let ahead: LocalRevocations | undefined

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
    take(entries, other) {
      if (entries.length === 0) return NOTHING
      for (const entry of entries) taken.set(entry.id, { entry, other })
      ahead ??= begin()
      const batch = fill(ahead, entries)
      return { ...batch, isFull: batch.isFull || !hasRoomFor([]) }
    },
    settle(entries) {
      for (const each of [taken, lost]) {
        if (each.size === 0) continue
        for (const { id, fields } of entries) {
          const known = each.get(id)
          if (known !== undefined && isSameRecord(known.entry.fields, fields)) each.delete(id)
        }
      }
    },
    mayBeLost() {
      for (const [id, each] of taken) lost.set(id, each)
      taken.clear()
    },
    moveTo(ours) {
      const followed = [...lost.values()].filter(({ other }) => other === undefined)
      if (followed.length === 0) return false
      const left = localRevocations({ max: MOST, clock })
      fill(
        left,
        followed.map(({ entry }) => entry),
      )
      ours.take([...left.entries()])
      return true
    },
    unclaimed() {
      const ofOthers = [...lost.values()].flatMap(({ entry, other }) =>
        other === undefined ? [] : [{ other, entries: [entry] }],
      )
      return [
        ...ofOthers,
        { other: undefined, entries: [...taken.values()].map(({ entry }) => entry) },
      ]
    },
    clear() {
      taken.clear()
      lost.clear()
      ahead = undefined
    },
  }
}

const NOTHING: Batch = { unreadable: [], foreign: [], isFull: false }

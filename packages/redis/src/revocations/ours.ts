import {
  type Claims,
  type Clock,
  type LocalRevocations,
  localRevocations,
  type RevocationEntry,
  type RevocationStatus,
} from '@portcullis/core'
import { createListeners } from '@portcullis/kit/report'

import { slicesOf } from './slices.ts'

// What this process knows to belong to the followed stream: the index, and what that has no room for. The rest is refused as well, and
// written back, which needs no room: otherwise a restoration would end without it.

/** As many as a list can hold: what is known here may be in no other hands. */
export const MOST = 10_000_000

export interface Ours {
  /** Of what the index has no room for. */
  statusOf(claims: Claims, now: number, digest?: string): RevocationStatus
  subscribe(listener: () => void): () => void
  /** As much as there is room for goes into the index. */
  take(entries: readonly RevocationEntry[]): void
  /** Nothing goes into the index: its last place is another one's. */
  keep(entries: readonly RevocationEntry[]): void
  /** Puts into the index what it has room for by now. */
  retry(): Promise<void>
  /** Whether there is something that the index has no room for. */
  readonly isFull: boolean
  /** All of it, one after the other; what moves into the index meanwhile may come twice. */
  entries(): IterableIterator<RevocationEntry>
}

/** @param max Of the entries of the index. */
export function createOurs(
  index: Pick<LocalRevocations, 'load' | 'size' | 'entries'>,
  max: number,
  clock: Clock,
): Ours {
  const listeners = createListeners()
  let rest = begin()

  function begin(): LocalRevocations {
    return localRevocations({ max: MOST, clock })
  }

  function put(entries: readonly RevocationEntry[], remaining: LocalRevocations): void {
    if (entries.length === 0 || hasLoaded(index, entries)) return
    // What has lapsed is removed now.
    const room = max - index.size
    const fitting = hasLoaded(index, entries.slice(0, room)) ? room : 0
    remaining.load(entries.slice(fitting))
    listeners.notify()
  }

  return {
    statusOf: (claims, now, digest) => rest.statusOf(claims, now, digest),
    subscribe: (listener) => listeners.subscribe(listener),
    take(entries) {
      put(entries, rest)
    },
    keep(entries) {
      rest.load(entries)
      listeners.notify()
    },
    async retry() {
      if (rest.size === 0) return
      const remaining = begin()
      for await (const slice of slicesOf(rest.entries())) put(slice, remaining)
      rest = remaining
    },
    get isFull() {
      return rest.size > 0
    },
    *entries() {
      // First: it moves into the index, and never back.
      yield* rest.entries()
      yield* index.entries()
    },
  }
}

function hasLoaded(
  index: Pick<LocalRevocations, 'load'>,
  entries: readonly RevocationEntry[],
): boolean {
  try {
    index.load(entries)
    return true
  } catch {
    return false
  }
}

import {
  type Claims,
  type Clock,
  type LocalRevocations,
  localRevocations,
  type RevocationStatus,
} from '@portcullis/core'
import { createListeners } from '@portcullis/kit/report'

import type { Identity } from '../store/record.ts'
import type { StreamEntry } from '../store/stream-replies.ts'
import { fill } from './filling.ts'
import type { Ours } from './ours.ts'
import type { Batch } from './replica-state.ts'
import { slicesOf } from './slices.ts'

// What other streams than the followed one revoke. It is refused, which is safe, and kept by the identity of its stream: one that the
// followed one replaces may come back by a fail-over, and what is revoked there is ours.

/** Streams that are told apart: more than one place ever has. */
const MOST = 64

export interface Others {
  statusOf(claims: Claims, now: number, digest?: string): RevocationStatus
  subscribe(listener: () => void): () => void
  /** @param identity Of the stream that has the entries. */
  take(identity: Identity, entries: readonly StreamEntry[]): Batch
  /** What was revoked in streams that the followed one replaces is ours from now on. @returns Whether something was. */
  moveTo(ours: Pick<Ours, 'take'>, followed: Identity): Promise<boolean>
}

interface Other {
  /** What its record says. */
  readonly replaces: readonly string[]
  readonly revoked: LocalRevocations
}

/** @param max Of the entries of all streams together: no page is taken beyond it. */
export function createOthers(max: number, clock: Clock): Others {
  const listeners = createListeners()
  const streams = new Map<string, Other>()
  /** By streams that are not told apart. */
  const nameless = begin()

  function begin(): LocalRevocations {
    const made = localRevocations({ max, clock })
    made.subscribe(() => {
      listeners.notify()
    })
    return made
  }

  /** What a stream has revoked. If there are too many, the oldest that has revoked nothing is forgotten. */
  function revokedBy({ id, replaces }: Identity): LocalRevocations {
    const other = streams.get(id)
    if (other !== undefined) return other.revoked
    if (streams.size >= MOST) {
      const [idle] = [...streams].find(([, { revoked }]) => revoked.size === 0) ?? []
      if (idle === undefined) return nameless
      streams.delete(idle)
    }
    const revoked = begin()
    streams.set(id, { replaces, revoked })
    return revoked
  }

  return {
    statusOf(claims, now, digest) {
      if (nameless.statusOf(claims, now, digest) === 'revoked') return 'revoked'
      for (const { revoked } of streams.values()) {
        if (revoked.statusOf(claims, now, digest) === 'revoked') return 'revoked'
      }
      return 'valid'
    },
    subscribe: (listener) => listeners.subscribe(listener),
    take(identity, entries) {
      const revoked = revokedBy(identity)
      let { size } = nameless
      for (const other of streams.values()) size += other.revoked.size
      return size < max ? fill(revoked, entries) : FULL
    },
    async moveTo(ours, followed) {
      revokedBy(followed)
      let hasMoved = false
      for (const id of withReplaced(followed, streams)) {
        const other = streams.get(id)
        if (other === undefined || other.revoked.size === 0) continue
        for await (const slice of slicesOf(other.revoked.entries())) ours.take(slice)
        streams.set(id, { ...other, revoked: begin() })
        hasMoved = true
      }
      return hasMoved
    },
  }
}

const FULL: Batch = { unreadable: [], foreign: [], isFull: true }

/** A stream, and all that it replaces: as its record says, and as theirs do. */
function withReplaced(
  { id, replaces }: Identity,
  streams: ReadonlyMap<string, Other>,
): ReadonlySet<string> {
  const found = new Set([id, ...replaces])
  // Also through what is added meanwhile.
  for (const each of found) {
    for (const former of streams.get(each)?.replaces ?? []) found.add(former)
  }
  return found
}

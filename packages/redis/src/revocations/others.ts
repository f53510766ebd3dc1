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
/** Seconds. So often, at most, what has lapsed is looked for while there is no room: all entries are read for it. */
const REST = 60

export interface Others {
  statusOf(claims: Claims, now: number, digest?: string): RevocationStatus
  subscribe(listener: () => void): () => void
  /** @param identity Of the stream that has the entries. `undefined`: that is not known. */
  take(identity: Identity | undefined, entries: readonly StreamEntry[]): Promise<Batch>
  /** What was revoked in streams that the followed one replaces is ours from now on. @returns Whether something was. */
  moveTo(ours: Pick<Ours, 'take'>, followed: Identity): Promise<boolean>
}

interface Other {
  /** What its record says. */
  readonly replaces: readonly string[]
  revoked: LocalRevocations
}

/** @param max Of the entries of all streams together: no page is taken beyond it. */
export function createOthers(max: number, clock: Clock): Others {
  const listeners = createListeners()
  const streams = new Map<string, Other>()
  /** By streams that are not told apart, or not known. */
  const nameless: Other = { replaces: [], revoked: begin() }
  let lookedAt = -Infinity

  function begin(): LocalRevocations {
    return watched(localRevocations({ max, clock }))
  }

  function watched(made: LocalRevocations): LocalRevocations {
    made.subscribe(() => {
      listeners.notify()
    })
    return made
  }

  const all = () => [nameless, ...streams.values()]

  const isFull = () => all().reduce((sum, { revoked }) => sum + revoked.size, 0) >= max

  /** One list removes what has lapsed when it has no room itself, and none of these may ever come to that. */
  async function removeLapsed(): Promise<void> {
    const now = clock.monotonic()
    if (now - lookedAt < REST) return
    lookedAt = now
    for (const other of all()) {
      const kept = localRevocations({ max, clock })
      // It takes nothing that has lapsed.
      for await (const slice of slicesOf(other.revoked.entries())) kept.load(slice)
      other.revoked = watched(kept)
    }
  }

  /** If there are too many, the oldest that has revoked nothing is forgotten. */
  function otherOf({ id, replaces }: Identity): Other {
    const known = streams.get(id)
    if (known !== undefined) return known
    if (streams.size >= MOST) {
      const [idle] = [...streams].find(([, { revoked }]) => revoked.size === 0) ?? []
      if (idle === undefined) return nameless
      streams.delete(idle)
    }
    const other = { replaces, revoked: begin() }
    streams.set(id, other)
    return other
  }

  return {
    statusOf(claims, now, digest) {
      for (const { revoked } of all()) {
        if (revoked.statusOf(claims, now, digest) === 'revoked') return 'revoked'
      }
      return 'valid'
    },
    subscribe: (listener) => listeners.subscribe(listener),
    async take(identity, entries) {
      const other = identity === undefined ? nameless : otherOf(identity)
      if (entries.length === 0) return NOTHING
      if (isFull()) await removeLapsed()
      return isFull() ? FULL : fill(other.revoked, entries)
    },
    async moveTo(ours, followed) {
      otherOf(followed)
      let hasMoved = false
      for (const id of withReplaced(followed, streams)) {
        const other = streams.get(id)
        if (other === undefined || other.revoked.size === 0) continue
        for await (const slice of slicesOf(other.revoked.entries())) ours.take(slice)
        other.revoked = begin()
        hasMoved = true
      }
      return hasMoved
    },
  }
}

const NOTHING: Batch = { unreadable: [], foreign: [], isFull: false }
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

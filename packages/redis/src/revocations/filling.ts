import type { LocalRevocations, RevocationEntry } from '@portcullis/core'

import { readRecord } from '../store/record.ts'
import type { StreamEntry } from '../store/stream-replies.ts'
import type { Batch } from './replica-state.ts'

// Takes what entries of the stream revoke into an index.

/** Adds what entries revoke. */
export function fill(index: LocalRevocations, entries: readonly StreamEntry[]): Batch {
  const unreadable: string[] = []
  const foreign: string[] = []
  const revoked: [id: string, entry: RevocationEntry][] = []
  for (const { id, fields } of entries) {
    const record = readRecord(fields)
    if (record.kind === 'revocation') revoked.push([id, record.entry])
    else if (record.kind === 'foreign') foreign.push(id)
    else if (record.kind === 'unreadable') unreadable.push(id)
  }
  const left = revoked.length > 0 ? load(index, revoked) : []
  // Those of the others are no entries by the rules of the index, such as a time in milliseconds.
  unreadable.push(...left.filter(({ error }) => !(error instanceof RangeError)).map(({ id }) => id))
  const isFull = left.some(({ error }) => error instanceof RangeError)
  return { unreadable, foreign, isFull }
}

/** Adds whatever it can, and answers with what it cannot. */
function load(
  index: LocalRevocations,
  revoked: readonly (readonly [id: string, entry: RevocationEntry])[],
): readonly { readonly id: string; readonly error: unknown }[] {
  try {
    index.load(revoked.map(([, entry]) => entry))
    return []
  } catch (error) {
    if (revoked.length === 1) return revoked.map(([id]) => ({ id, error }))
    const half = Math.ceil(revoked.length / 2)
    return [revoked.slice(0, half), revoked.slice(half)].flatMap((part) => load(index, part))
  }
}

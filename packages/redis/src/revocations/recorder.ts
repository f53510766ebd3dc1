import type { LocalRevocations, RevocationEntry } from '@portcullis/core'

import { RevocationStoreError } from '../store/errors.ts'
import { writeRecord } from '../store/record.ts'
import { whileWaiting } from '../store/time.ts'
import type { Writer } from './writer.ts'

// Records revocations: in the stream, if all processes have room for them, and at once in the copy of this one.

/** @param onFull Told when the copy lacks room for what is in the stream. @returns Records one entry. @throws RevocationStoreError */
export function createRecorder(
  writer: Writer,
  index: LocalRevocations,
  max: number,
  onFull: (error: RevocationStoreError) => void,
): (entry: RevocationEntry) => Promise<void> {
  /** What is being recorded at the moment: it will need room. */
  const underWay = new Set<RevocationEntry>()

  function hasRoomFor(entry: RevocationEntry): boolean {
    return index.size + underWay.size < max || index.hasRoomFor([...underWay, entry])
  }

  /** At once, not when they come back by the stream: this process refuses from now on. */
  function load(entry: RevocationEntry): void {
    try {
      index.load([entry])
    } catch {
      // Another process has taken the last place meanwhile.
      const full = new RevocationStoreError('full', 'it was recorded nevertheless')
      onFull(full)
      throw full
    }
  }

  return async (entry) => {
    const record = writeRecord(entry)
    // Before it is recorded: what is in the stream, all replicas must have room for.
    if (!hasRoomFor(entry)) throw new RevocationStoreError('full', 'it was not recorded')
    underWay.add(entry)
    try {
      await whileWaiting(writer.append(record))
      load(entry)
    } finally {
      underWay.delete(entry)
    }
  }
}

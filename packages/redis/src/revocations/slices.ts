import type { RevocationEntry } from '@portcullis/core'

import { SLICE } from './restoring.ts'

// Reads many entries by slices, so that no turn of the event loop is long.

// Taken at import: fake timers must not stop it.
const { setImmediate } = globalThis

/** Between two slices the event loop turns. */
export async function* slicesOf(
  entries: Iterable<RevocationEntry>,
): AsyncGenerator<readonly RevocationEntry[]> {
  let slice: RevocationEntry[] = []
  for (const entry of entries) {
    if (slice.length === SLICE) {
      yield slice
      slice = []
      await new Promise<void>((resolve) => {
        setImmediate(resolve)
      })
    }
    slice.push(entry)
  }
  yield slice
}

export async function allOf(
  entries: Iterable<RevocationEntry>,
): Promise<readonly RevocationEntry[]> {
  const all: RevocationEntry[] = []
  for await (const slice of slicesOf(entries)) {
    for (const entry of slice) all.push(entry)
  }
  return all
}

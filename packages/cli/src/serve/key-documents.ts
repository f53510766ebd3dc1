import type { Clock } from '@portcullis/kit/time'
import type { TestIssuer } from '@portcullis/testing'

// Remembers what the key endpoint has served, so that a token can be judged with the keys that a service may still have.

/** What the key endpoint serves from a moment on. */
export interface ServedDocument {
  /** Seconds since 1970-01-01T00:00:00Z. */
  readonly from: number
  readonly document: TestIssuer['keyDocument']
}

/** The key documents in their order, the newest hundred: what a service has that fetched one of them. */
export interface KeyDocuments {
  /** Records what is served from now on. */
  note(document: TestIssuer['keyDocument']): void
  all(): readonly ServedDocument[]
  /** The one that was served at a time. */
  at(time: number): ServedDocument | undefined
}

const MAX_DOCUMENTS = 100

export function createKeyDocuments(clock: Clock): KeyDocuments {
  let documents: readonly ServedDocument[] = []

  return {
    note(document) {
      if (documents.at(-1)?.document === document) return
      documents = [...documents, { from: clock.now(), document }].slice(-MAX_DOCUMENTS)
    },
    all: () => documents,
    at: (time) => documents.findLast(({ from }) => from <= time),
  }
}

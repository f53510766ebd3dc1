import type { RevocationStoreError } from '../store/errors.ts'

// The one error of the memory of used proofs.

const TEXTS: Readonly<Record<ReplayStoreError['reason'], string>> = {
  unreachable: 'no connection to the store of used proofs',
  timeout: 'the store of used proofs did not answer in time',
  out_of_memory: 'the store of used proofs has no memory left (OOM)',
  busy: 'too many proofs wait for the store of used proofs already',
  refused: 'the store of used proofs refused',
  evicting:
    'the store of used proofs would forget some of them when its memory is full: set its maxmemory-policy to noeviction',
  unsupported: 'the store of used proofs must be Redis 7, Valkey 7 or later',
  closed: 'the memory of used proofs has been closed',
}

/** Used proofs cannot be looked up. The message contains no address, no password and no part of a proof. */
export class ReplayStoreError extends Error {
  /** Why the memory of proofs cannot be relied on. */
  readonly reason:
    /** No connection, or it broke. */
    | 'unreachable'
    /** No answer in time. What was sent may have been done. */
    | 'timeout'
    /** The store's memory is full. */
    | 'out_of_memory'
    /** Too many proofs wait for answers of the store already. */
    | 'busy'
    /** The store refused: its code is in the message. */
    | 'refused'
    /** The store removes keys when its memory is full, so it may forget proofs. */
    | 'evicting'
    /** The store is none that this package can use, or its answer cannot be read. */
    | 'unsupported'
    /** `close()` was called. */
    | 'closed'
  /** The text of the message after its colon, if it has one. */
  readonly detail: string | undefined

  constructor(reason: ReplayStoreError['reason'], detail?: string) {
    super(detail === undefined ? TEXTS[reason] : `${TEXTS[reason]}: ${detail}`)
    this.name = 'ReplayStoreError'
    this.reason = reason
    this.detail = detail
  }
}

/** The same in words of proofs: a connection says everything in words of revocations. */
export function replayStoreError({ reason, detail }: RevocationStoreError): ReplayStoreError {
  const isShared = Object.hasOwn(TEXTS, reason)
  // The others are about a stream, and no command here is.
  return new ReplayStoreError(
    isShared ? (reason as ReplayStoreError['reason']) : 'unsupported',
    detail,
  )
}

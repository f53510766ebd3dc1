// The one error of the store of revocations, and what each failure of Redis becomes. No answer of the store is repeated.

const TEXTS: Readonly<Record<RevocationStoreError['reason'], string>> = {
  unreachable: 'no connection to the store of revocations',
  timeout: 'the store of revocations did not answer in time',
  no_stream:
    'the stream of revocations or its identity does not exist: an operator creates it with `portcullis-revocations create`',
  other_stream: 'the stream of revocations is not the one that was followed: it may lack entries',
  restoring:
    'the stream of revocations takes the place of one that was lost, and may lack entries: an operator ends that with `portcullis-revocations restore --finish --processes N`',
  incomplete:
    'the stream of revocations could not be read as a whole: it was away or went back while it was read',
  unreadable_record: 'the stream of revocations has a record that this version cannot read',
  out_of_memory: 'the store of revocations has no memory left (OOM)',
  busy: 'too many revocations wait for the store already',
  refused: 'the store of revocations refused',
  unreplicated:
    'too few replicas of the store have confirmed the revocation in time: it was recorded, and a fail-over may lose it',
  unsupported: 'the store of revocations must be Redis 7, Valkey 7 or later',
  full: 'there is no room for more revocations than the option `max` allows',
  closed: 'the replica of revocations has been closed',
}

const CODES: Readonly<Record<string, string>> = {
  AUTH: 'a password is missing or wrong',
  EXECABORT: 'it has discarded a transaction: the user may lack a permission',
  LOADING: 'it is still loading its data',
  MASTERDOWN: 'it is a replica without its primary',
  MISCONF: 'it cannot save its data',
  MOVED: 'it is a cluster, and another node has the stream',
  NOAUTH: 'a password is missing',
  NOPERM: 'the user lacks a permission',
  NOREPLICAS: 'it has too few replicas',
  READONLY: 'it is a replica',
  WRONGPASS: 'the user name or the password is wrong',
  WRONGTYPE: 'the key of the stream holds something else',
}

/**
 * The store could not be read or written. The message contains no address, no password and no value of a claim. Of the
 * store's answer only the code is kept, because the answer may repeat what was sent.
 */
export class RevocationStoreError extends Error {
  /** Why the store could not be read or written. A minor release may bring further reasons, so a `switch` needs a `default`. */
  readonly reason:
    /** No connection, or it broke. */
    | 'unreachable'
    /** No answer in time. What was sent may have been done. */
    | 'timeout'
    /** There is no stream of this name, or it has lost its identity. `revoke` has recorded nothing. */
    | 'no_stream'
    /** The stream has another identity than the one that was followed. */
    | 'other_stream'
    /** The stream replaces one that was lost, and is being restored. */
    | 'restoring'
    /** The stream could not be read as a whole: each time it was away for a moment, or went back, while it was read. */
    | 'incomplete'
    /** The stream has a record that this version cannot read. */
    | 'unreadable_record'
    /** The store's memory is full. Nothing was recorded. */
    | 'out_of_memory'
    /** Too many commands wait for answers of the store already. Nothing was recorded. */
    | 'busy'
    /** The store refused: its code is in the message. Nothing was recorded. */
    | 'refused'
    /** It was recorded, but not by as many replicas as the option `acknowledge` states. Revoke it again: that does no harm. */
    | 'unreplicated'
    /** The store is none that this package can use, or its answer cannot be read. */
    | 'unsupported'
    /** No room for more entries than `max`. A message with "nevertheless" says that it was recorded. */
    | 'full'
    /** `close()` was called. */
    | 'closed'
  /** The text of the message after its colon, if it has one. */
  readonly detail: string | undefined

  constructor(reason: RevocationStoreError['reason'], detail?: string) {
    super(detail === undefined ? TEXTS[reason] : `${TEXTS[reason]}: ${detail}`)
    this.name = 'RevocationStoreError'
    this.reason = reason
    this.detail = detail
  }
}

/** What went wrong, from whatever a connection or a reply threw. */
export function storeError(error: unknown): RevocationStoreError {
  if (error instanceof RevocationStoreError) return error
  const { code, message } = (error instanceof Error ? error : new Error()) as NodeJS.ErrnoException
  // Those of the system and of TLS, such as ECONNREFUSED.
  if (typeof code === 'string' && /^[A-Z][A-Z\d_]+$/.test(code)) {
    return new RevocationStoreError('unreachable', code)
  }
  const [reply] = /^[A-Z]{2,}(?= |$)/.exec(message) ?? []
  if (reply === undefined) return new RevocationStoreError('unreachable')
  if (message === 'ERR no such key') return new RevocationStoreError('no_stream')
  if (reply === 'OOM') return new RevocationStoreError('out_of_memory')
  const meaning = Object.hasOwn(CODES, reply) ? CODES[reply] : undefined
  return new RevocationStoreError('refused', meaning === undefined ? reply : `${reply}, ${meaning}`)
}

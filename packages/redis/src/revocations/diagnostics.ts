import { channel } from 'node:diagnostics_channel'

import type { RevocationStoreError } from '../store/errors.ts'

// The channel `portcullis:revocations` of node:diagnostics_channel.

/**
 * What has happened to a replica, on the channel `portcullis:revocations`. It contains no address and no claim. Times are
 * seconds.
 */
export interface RevocationsMessage {
  /** What `redisRevocations` returned, to tell several apart. */
  readonly source: object
  /** `load`: the whole stream was read. `failure`: an attempt failed. `state`: only the state has changed. */
  readonly event: 'load' | 'failure' | 'state'
  /**
   * How far the replica can be relied on now. Only `current` can say that a token was not revoked. A minor release may bring
   * further ones.
   */
  readonly state:
    | 'loading'
    | 'current'
    | 'stale'
    | 'missing'
    | 'replaced'
    | 'restoring'
    | 'unreadable'
    | 'full'
    | 'closed'
  /** For a load: why the stream was read from its beginning. What was known already is kept. */
  readonly trigger:
    /** Nothing of it was read yet. */
    | 'start'
    /** The stream has another identity than at the last report, or none any more. */
    | 'identity'
    /** It has gone back: a primary with less, or a backup. */
    | 'step_back'
    /** Entries that were not read yet have been deleted. */
    | 'gap'
    /** An entry that was read is not there and was not deleted, or others are between ours: this is another history. */
    | 'history'
    /** Records were deleted, perhaps those that could not be read. */
    | 'removed'
    /** There was no room for all of it, and now there may be. */
    | 'full'
    /** The wall clock was set back: what had lapsed by it, and was left out, may be needed again. */
    | 'clock'
    | undefined
  /** For a load: how many records it has, and how long it took. */
  readonly records: number | undefined
  readonly duration: number | undefined
  /** For a failure: why it failed. */
  readonly reason: RevocationStoreError['reason'] | undefined
  /** What went wrong, in words. */
  readonly detail: string | undefined
}

export type LoadTrigger = NonNullable<RevocationsMessage['trigger']>

const messages = channel('portcullis:revocations')

// A subscriber that throws changes nothing: Node reports its error as an uncaught exception, outside this call.
export function publish(build: () => RevocationsMessage): void {
  if (messages.hasSubscribers) messages.publish(build())
}

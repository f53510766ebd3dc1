import { channel } from 'node:diagnostics_channel'

import type { RevocationStoreReason } from '../store/errors.ts'
import type { LoadTrigger } from './following.ts'
import type { RevocationsState } from './readiness.ts'

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
  /** The state of the replica now. */
  readonly state: RevocationsState
  /** For a load: why it was needed, how many records it has, and how long it took. */
  readonly trigger: LoadTrigger | undefined
  readonly records: number | undefined
  readonly duration: number | undefined
  /** For a failure: why it failed. */
  readonly reason: RevocationStoreReason | undefined
  /** What went wrong, in words. */
  readonly detail: string | undefined
}

const messages = channel('portcullis:revocations')

// A subscriber that throws changes nothing: Node reports its error as an uncaught exception, outside this call.
export function publish(build: () => RevocationsMessage): void {
  if (messages.hasSubscribers) messages.publish(build())
}

import { channel } from 'node:diagnostics_channel'

import { debug } from '@portcullis/kit/report'

import type { ReplayStoreError } from './errors.ts'

// What is told of proofs that could not be looked up: the channel `portcullis:replays` of node:diagnostics_channel, and a line for
// NODE_DEBUG=portcullis.

/**
 * A proof that could not be looked up, on the channel `portcullis:replays`. It contains no address and no part of the proof.
 */
export interface ReplaysMessage {
  /** What `redisReplays` returned, to tell several apart. */
  readonly source: object
  readonly reason: ReplayStoreError['reason']
  /** What went wrong, in words. */
  readonly detail: string
}

const messages = channel('portcullis:replays')

export function publishReplays(build: () => ReplaysMessage): void {
  if (messages.hasSubscribers) messages.publish(build())
}

/** One line for each proof. @param detail Without an address and without anything of the proof. */
export function logReplay(reason: ReplayStoreError['reason'], detail: string): void {
  debug(() => `replays: ${reason}: ${detail}`)
}

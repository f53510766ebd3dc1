import { channel } from 'node:diagnostics_channel'

import type { SkippedEntry } from './keys/key-document.ts'
import type { AuthErrorCode, AuthErrorReason } from './refusals.ts'

/**
 * A settled attempt to fetch keys, or what became of a snapshot at start-up, on the channel `portcullis:keys`. No key
 * material, no URL. Times are seconds.
 */
export interface KeysMessage {
  /** The source, as `remoteKeys` or `discoverKeys` returned it: to tell several apart. */
  readonly source: object
  /** Why it was made: the keys had aged, a token suggested a rotation, or `refresh()` was called. Or it is a snapshot. */
  readonly trigger: 'age' | 'suspicion' | 'refresh' | 'snapshot'
  /** `ignored`: of a snapshot alone, and `detail` says why. */
  readonly outcome: 'success' | 'unreachable' | 'timeout' | 'bad_document' | 'ignored'
  /** What went wrong, in words. */
  readonly detail: string | undefined
  readonly duration: number
  /** Thumbprints (RFC 7638) of keys that came, and of those that left. */
  readonly added: readonly string[]
  readonly removed: readonly string[]
  /** How fresh the keys are now. */
  readonly freshness: 'fresh' | 'stale' | 'expired' | 'empty'
  /** How many entries of the document in use cannot be used or are too many. */
  readonly skippedKeys: number
  /** Which of them, and why: the first hundred. */
  readonly skippedEntries: readonly SkippedEntry[]
  /** Keys that fit a token beyond the number that is tried. */
  readonly untriedKeys: number
}

/** A verdict, on the channel `portcullis:verify`. Of the token only what `detail` shows. Times are seconds. */
export interface VerifyMessage {
  /** The verifier, as `createVerifier` returned it; as `byIssuer` did, for a token that reaches no other. */
  readonly verifier: object
  /** `undefined` if the token was accepted. */
  readonly code: AuthErrorCode | undefined
  readonly reason: AuthErrorReason | undefined
  /** The `detail` of the refusal, made when it is read. */
  readonly detail: string | undefined
  /** Whether the token had been proven before, so that no signature was checked. */
  readonly remembered: boolean
  readonly duration: number
}

// A subscriber that throws cannot change a verdict: Node reports its error as an uncaught exception, outside this call.
export const keyAttempts: TypedChannel<KeysMessage> = typed<KeysMessage>('portcullis:keys')
export const verdicts: TypedChannel<VerifyMessage> = typed<VerifyMessage>('portcullis:verify')

/** @param refusal `undefined` if the token was accepted. */
export function verdictMessage(
  verdict: Pick<VerifyMessage, 'verifier' | 'remembered' | 'duration'>,
  refusal: Pick<VerifyMessage, 'code' | 'reason' | 'detail'> | undefined,
): VerifyMessage {
  return {
    ...verdict,
    code: refusal?.code,
    reason: refusal?.reason,
    get detail() {
      return refusal?.detail
    },
  }
}

interface TypedChannel<Message> {
  /** Builds and publishes a message, if anybody subscribes. */
  publish(build: () => Message): void
  isObserved(): boolean
}

function typed<Message>(name: string): TypedChannel<Message> {
  const untyped = channel(name)
  return {
    isObserved: () => untyped.hasSubscribers,
    publish(build) {
      if (untyped.hasSubscribers) untyped.publish(build())
    },
  }
}

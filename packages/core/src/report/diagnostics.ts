import { channel } from 'node:diagnostics_channel'

import type { AuthErrorCode, AuthErrorReason, AuthErrorReasons } from '../refusal/refusals.ts'

// The channels `portcullis:keys`, `portcullis:verify` and `portcullis:refusal` of node:diagnostics_channel, and what their
// messages say.

/**
 * How old the keys of a source are, in a word. Each allows what is said here:
 *
 * - `fresh`: younger than `maxAge`. They are used without asking.
 * - `stale`: for `staleWhileRevalidate` after that. They are used, and the next request has them fetched behind it.
 * - `expired`: after that, until they are older than `maxAge` and `staleIfError` together. The next request waits for a
 *   fetch, and they are used also if that fails. While fetches fail, as in an outage, no request waits.
 * - `empty`: there are none, or they are older than that. Without a fetch that succeeds each token gets 503.
 *
 * It does not say whether the endpoint works: `lastFailure` of `status()` does.
 */
export type KeyFreshness = 'fresh' | 'stale' | 'expired' | 'empty'

/** Why one entry of a key document is not used. No key material. */
export interface SkippedEntry {
  /** Its place in the document, from 0. */
  readonly index: number
  /** The `kid`, cut to 64 characters. */
  readonly kid: string | undefined
  /** In words, for developers. */
  readonly reason: string
}

/**
 * The result of an attempt to fetch keys, or of a snapshot at start-up, on the channel `portcullis:keys`. It contains no key
 * material and no URL. Times are seconds.
 */
export interface KeysMessage {
  /** The source, as `remoteKeys` or `discoverKeys` returned it: to tell several apart. */
  readonly source: object
  /**
   * Why the attempt was made: the keys were old (`age`), a token could mean a rotation (`suspicion`), or `refresh()` was
   * called. `snapshot` is not an attempt.
   */
  readonly trigger: 'age' | 'suspicion' | 'refresh' | 'snapshot'
  /** `ignored` is only for a snapshot; `detail` says why. */
  readonly outcome: 'success' | AuthErrorReasons['keys_unavailable'] | 'ignored'
  /** What went wrong, in words. */
  readonly detail: string | undefined
  readonly duration: number
  /** Thumbprints (RFC 7638) of the keys that were added, and of those that were removed. */
  readonly added: readonly string[]
  readonly removed: readonly string[]
  /** How fresh the keys are now. */
  readonly freshness: KeyFreshness
  /** How many entries of the document in use cannot be used or are too many. */
  readonly skippedKeys: number
  /** Which of them, and why: the first hundred. */
  readonly skippedEntries: readonly SkippedEntry[]
  /** How many keys fit a token but are never tried, because more than 8 fit. */
  readonly untriedKeys: number
}

/**
 * A verdict, on the channel `portcullis:verify`. It contains nothing of the token but what `detail` shows. Times are seconds.
 */
export interface VerifyMessage {
  /** What `createVerifier` returned, or `byIssuer` for a token that no verifier has checked. */
  readonly verifier: object
  /** `undefined` if the token was accepted. */
  readonly code: AuthErrorCode | undefined
  readonly reason: AuthErrorReason | undefined
  /** The `detail` of the refusal, made when it is read. */
  readonly detail: string | undefined
  /** The `numbers` of the refusal, made when they are read. */
  readonly numbers: Readonly<Record<string, number>> | undefined
  /** Whether the token was remembered, so that its signature was not checked again. */
  readonly remembered: boolean
  readonly duration: number
}

/**
 * A request that a guard has refused, on the channel `portcullis:refusal`: also one without a token, of which there is no
 * verdict. It contains nothing of the request.
 */
export interface RefusalMessage {
  /** Such as `express`; `undefined` for a guard without a package of its own. */
  readonly framework: string | undefined
  readonly code: AuthErrorCode
  readonly reason: AuthErrorReason
}

// A subscriber that throws cannot change a verdict: Node reports its error as an uncaught exception, outside this call.
export const keyAttempts: TypedChannel<KeysMessage> = typed<KeysMessage>('portcullis:keys')
export const verdicts: TypedChannel<VerifyMessage> = typed<VerifyMessage>('portcullis:verify')
export const refusedRequests: TypedChannel<RefusalMessage> =
  typed<RefusalMessage>('portcullis:refusal')

/** @param refusal `undefined` if the token was accepted. */
export function verdictMessage(
  verdict: Pick<VerifyMessage, 'verifier' | 'remembered' | 'duration'>,
  refusal: Pick<VerifyMessage, 'code' | 'reason' | 'detail' | 'numbers'> | undefined,
): VerifyMessage {
  return {
    ...verdict,
    code: refusal?.code,
    reason: refusal?.reason,
    get detail() {
      return refusal?.detail
    },
    get numbers() {
      return refusal?.numbers
    },
  }
}

interface TypedChannel<Message> {
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

import type { JsonObject } from '@portcullis/kit/json'

import type { Possession } from '../claims/possession.ts'
import type { KeySource } from '../keys/key-source.ts'
import type { AuthError } from '../refusal/errors.ts'
import type { Finding } from './finding.ts'
import type { Hint, Signer } from './hints.ts'

// The types of what `explain` is given and what it answers.

export interface ExplainOptions {
  /** Keys that a service has already, such as its own `remoteKeys`: the explanation also has the verdict with these keys. */
  keysInHand?: KeySource | undefined
  /**
   * Keys that are not trusted, such as those of other environments. They are used only to tell whose key made the signature.
   */
  otherKeys?: readonly NamedKeys[] | undefined
  /** What the sender of the token has proven to possess. Without it, the explanation is about a bearer token. */
  possession?: Possession | undefined
  /** Ends the wait for keys. */
  signal?: AbortSignal | undefined
}

export interface NamedKeys {
  readonly name: string
  readonly keys: KeySource
}

export interface Verdict {
  /** `undecided`: there are no keys, or the revocations do not answer. */
  readonly verdict: 'accepted' | 'refused' | 'undecided'
  /** What a verifier would throw, and so the answer to a request. `undefined` if it would accept the token. */
  readonly refusal: AuthError | undefined
}

/** The verdict of a verifier about a token, with all reasons. */
export interface Explanation extends Verdict {
  /** The verdict with the keys in hand; `undefined` if there are none. */
  readonly inHand: Verdict | undefined
  /** Each check of the verifier, in its order. */
  readonly findings: readonly Finding[]
  readonly hints: readonly Hint[]
  /** The key that made the signature, if it is one of the given keys. It may be a key that is not trusted. */
  readonly signer: Signer | undefined
  /** What the header says. `undefined` if the token cannot be read. */
  readonly header: JsonObject | undefined
  /** The claims, if a trusted key made the signature. The token may still be refused for another reason. */
  readonly provenClaims: JsonObject | undefined
  /** The claims of any other token. Anybody may have written them. */
  readonly unprovenClaims: JsonObject | undefined
}

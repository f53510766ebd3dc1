import type { Profile } from '../algorithms/profiles.ts'
import { marked } from '../ground/copy.ts'

// The interfaces between a guard, what checks DPoP proofs, and a memory of used proofs, which others may implement.

declare const proofsBrand: unique symbol

/**
 * How a guard checks DPoP proofs: what `dpopProofs` returns.
 *
 * Opaque: what a guard asks of it may change in any release, so nobody can write one of their own. For a memory of used proofs of
 * your own there is the option `replays`.
 */
export interface DpopProofs {
  readonly [proofsBrand]: 'DpopProofs'
  /** The accepted algorithms of proofs, which challenges name. */
  readonly algorithms: readonly string[]
  /** Whether only tokens that are bound to the key of a proof are accepted. */
  readonly required: boolean
  /** For the header `DPoP-Nonce`; `undefined` where proofs need no nonce. */
  nonce(): string | undefined
}

export interface DpopProofsMethods extends Pick<DpopProofs, 'algorithms' | 'required' | 'nonce'> {
  /** Everything but whether the proof was used before. @throws AuthError `invalid_dpop_proof` or `use_dpop_nonce` */
  check(presented: PresentedProof): Promise<DpopProof>
  /**
   * Remembers a proof in one atomic step, once its token and binding are accepted: `undefined` if that is done at once. When a promise
   * resolves, everything else may have changed. @throws AuthError `invalid_dpop_proof` if it was used before; `replay_unavailable`.
   */
  remember(proof: DpopProof, signal?: AbortSignal): Promise<void> | undefined
}

/** Proofs with these methods. The brand is there for the compiler alone. */
export function brandedProofs(proofs: DpopProofsMethods): DpopProofs {
  return marked(proofs) as DpopProofsMethods & DpopProofs
}

/** The methods of proofs. They were made by {@link brandedProofs}, or `checkGuardOptions` has seen that they have them. */
export function proofMethods(proofs: DpopProofs): DpopProofs & DpopProofsMethods {
  return proofs as DpopProofs & DpopProofsMethods
}

export interface PresentedProof {
  /** The value of the one header `DPoP`; `undefined` if there is none. */
  readonly proof: unknown
  readonly method: string
  /** Path and query, as the server was asked for them. */
  readonly target: string
  readonly token: string
  /** Of the guard that asks. */
  readonly profile?: Profile | undefined
}

/** A proof that has been checked. */
export interface DpopProof {
  /** The thumbprint of its key. RFC 7638, with SHA-256, base64url. */
  readonly jkt: string
  /** Its `jti`, hashed: 43 characters of base64url, whatever the client has written. */
  readonly jti: string
  /** When it is too old, and may be forgotten. Seconds since 1970-01-01T00:00:00Z. */
  readonly expires: number
}

/**
 * The answer of a memory of proofs. `new`: the proof was not known, and is remembered now. `replayed`: it was used before.
 * `full`: there is no room, and it was not remembered. `unavailable`: it is not known.
 */
export type ReplayAnswer = 'new' | 'replayed' | 'full' | 'unavailable'

/** Which DPoP proofs have been used: `localReplays()`, or one for several processes. */
export interface ReplayMemory {
  /**
   * Looks for a proof and remembers it until it expires, in one atomic step. It must not forget a proof before that. Another
   * answer, a failure, or no answer in time counts as `unavailable`.
   *
   * The clocks of several processes differ. A memory that they share has to keep a proof longer than `expires` by that
   * difference.
   *
   * @param now Seconds since 1970-01-01T00:00:00Z.
   */
  remember(proof: DpopProof, now: number): ReplayAnswer | PromiseLike<ReplayAnswer>
}

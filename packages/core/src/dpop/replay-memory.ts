import type { DpopProof } from './proof-check.ts'

// The interface of a memory of used proofs, which others may implement.

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

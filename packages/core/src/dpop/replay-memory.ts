import type { DpopProof } from './proof-check.ts'

/**
 * What a memory of proofs says of one: it is `new`, and remembered from now on; it was `replayed`; the memory is `full`, and has
 * not remembered it; or nobody can tell, as it is `unavailable`.
 */
export type ReplayAnswer = 'new' | 'replayed' | 'full' | 'unavailable'

/** Which DPoP proofs have been used: `localReplays()`, or one for several processes. */
export interface ReplayMemory {
  /**
   * Looks for a proof and remembers it until it expires, in one atomic step. Forgets none before. Any other answer, a failure
   * and none in time count as `unavailable`.
   *
   * The clocks of several processes differ: a memory that they share keeps a proof for longer than that by as much.
   *
   * @param now Seconds since 1970-01-01T00:00:00Z.
   */
  remember(proof: DpopProof, now: number): ReplayAnswer | Promise<ReplayAnswer>
  /** Resolves when it can answer: for start-up. */
  ready?(): Promise<void>
}

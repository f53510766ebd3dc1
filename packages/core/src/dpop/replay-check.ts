import { answerInTime, PATIENCE } from '../answer-in-time.ts'
import {
  expiredProof,
  failedReplays,
  fullReplays,
  lateReplays,
  replayedProof,
  strangeReplays,
  unavailableReplays,
} from '../details/dpop.ts'
import type { Detail } from '../details/text.ts'
import { AuthError } from '../errors.ts'
import type { Clock } from '../time.ts'
import type { DpopProof } from './proof-check.ts'
import type { ReplayMemory } from './replay-memory.ts'

/**
 * Makes what asks a memory whether a proof is new. Only its word `new` lets a proof through: a failure, another answer and none
 * within a second are 503.
 *
 * @see RFC 9449 section 11.1
 */
export function createReplayCheck(
  memory: ReplayMemory,
  clock: Clock,
): (proof: DpopProof, signal: AbortSignal | undefined) => Promise<void> {
  function ask(proof: DpopProof, now: number): unknown {
    try {
      return memory.remember(proof, now)
    } catch (cause) {
      throw unavailable('unreachable', failedReplays, cause)
    }
  }

  return async (proof, signal) => {
    // Whoever has left may send the proof again.
    signal?.throwIfAborted()
    const now = clock.now()
    // The token was checked in between. Memories may have forgotten what has expired.
    if (!(now <= proof.expires)) {
      throw new AuthError('invalid_dpop_proof', 'proof_time', expiredProof)
    }
    const { jkt, jti, expires } = proof
    const answer = ask(Object.freeze({ jkt, jti, expires }), now)
    // No timer for what is known at once.
    const word =
      typeof answer === 'string'
        ? answer
        : await answerInTime(settled(answer), { clock, signal, late })
    judge(word, proof)
  }
}

/** Of anything that can be awaited. */
async function settled(answer: unknown): Promise<unknown> {
  try {
    return await answer
  } catch (cause) {
    throw unavailable('unreachable', failedReplays, cause)
  }
}

function late(): AuthError {
  return unavailable('unreachable', lateReplays(PATIENCE))
}

function judge(answer: unknown, { jkt }: DpopProof): void {
  switch (answer) {
    case 'new':
      return
    case 'replayed':
      throw new AuthError('invalid_dpop_proof', 'replayed_proof', replayedProof(jkt))
    case 'full':
      throw unavailable('full', fullReplays)
    case 'unavailable':
      throw unavailable('unreachable', unavailableReplays)
    default:
      throw unavailable('unreachable', strangeReplays(answer))
  }
}

function unavailable(reason: 'unreachable' | 'full', detail: Detail, cause?: unknown): AuthError {
  return new AuthError('replay_unavailable', reason, { detail, cause })
}

import type { Clock } from '@portcullis/kit/time'
import { answerInTime, PATIENCE, type AnswerLimits } from '@portcullis/kit/waiting'

import { AuthError } from '../refusal/errors.ts'
import type { Detail } from '../refusal/text.ts'
import {
  expiredProof,
  failedReplays,
  fullReplays,
  lateReplays,
  replayedProof,
  strangeReplays,
  unavailableReplays,
} from './details.ts'
import type { DpopProof, ReplayMemory } from './proof-check.ts'

// Asks the memory of used proofs, with a limit in time. Without a clear answer the proof is refused.

/** Only the word `new` lets a proof through: a failure, another answer, none within a second are 503. RFC 9449 section 11.1 */
export function createReplayCheck(
  memory: ReplayMemory,
  clock: Clock,
): (proof: DpopProof, signal: AbortSignal | undefined) => Promise<void> | undefined {
  function ask(proof: DpopProof, now: number): unknown {
    try {
      return memory.remember(proof, now)
    } catch (cause) {
      throw unavailable('unreachable', failedReplays, cause)
    }
  }

  function answerOf(proof: DpopProof, signal: AbortSignal | undefined): unknown {
    // Whoever has left may send the proof again.
    signal?.throwIfAborted()
    const now = clock.now()
    // The token was checked in between. Memories may have forgotten what has expired.
    if (!(now <= proof.expires)) {
      throw new AuthError('invalid_dpop_proof', 'proof_time', expiredProof)
    }
    const { jkt, jti, expires } = proof
    return ask(Object.freeze({ jkt, jti, expires }), now)
  }

  return (proof, signal) => {
    try {
      const answer = answerOf(proof, signal)
      // No timer for what is known at once.
      if (typeof answer !== 'string') return checkLater(answer, proof, { clock, signal, late })
      checkAnswer(answer, proof)
      return undefined
    } catch (error) {
      return refuse(error)
    }
  }
}

async function checkLater(answer: unknown, proof: DpopProof, waiting: AnswerLimits): Promise<void> {
  checkAnswer(await answerInTime(awaited(answer), waiting), proof)
}

/** Callers find every refusal in one place. */
async function refuse(error: unknown): Promise<never> {
  throw error
}

/** Of anything that can be awaited. */
async function awaited(answer: unknown): Promise<unknown> {
  try {
    return await answer
  } catch (cause) {
    throw unavailable('unreachable', failedReplays, cause)
  }
}

function late(): AuthError {
  return unavailable('unreachable', lateReplays(PATIENCE))
}

function checkAnswer(answer: unknown, { jkt }: DpopProof): void {
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

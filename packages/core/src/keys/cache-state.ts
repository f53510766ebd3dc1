import type { FetchFailure } from '@portcullis/kit/http'
import type { Instant } from '@portcullis/kit/time'

import type { VerificationKey } from './key-source.ts'
import {
  INITIAL_PACE,
  type Pace,
  paceAfterAttempt,
  paceAfterFailure,
  paceAfterHelp,
  paceAfterSuccess,
  type Trigger,
} from './pace.ts'
import { type FetchedRing, nextRing, retire, type RetiredKey, type RingDocument } from './ring.ts'

// What the key cache knows, and how that changes: each function answers with the next state. Times are seconds.

/** Everything the cache knows. Replaced as a whole, never changed. */
export interface CacheState {
  readonly ring: FetchedRing | undefined
  /** Keys that left the ring last, newest first: known, so that old tokens cause no fetch, and never trusted. */
  readonly retired: readonly RetiredKey[]
  readonly last: Attempt | undefined
  readonly pace: Pace
}

export interface SettledState extends CacheState {
  readonly last: Attempt
}

export interface Attempt {
  readonly trigger: Trigger
  readonly startedAt: Instant
  readonly settledAt: Instant
  readonly failure: FetchFailure | undefined
}

export const INITIAL_STATE: CacheState = {
  ring: undefined,
  retired: [],
  last: undefined,
  pace: INITIAL_PACE,
}

/**
 * @param ringEnd When the ring before could no longer be used without a fetch, if that was before the attempt: an idle hour must not add to
 *   the time that a key is trusted. @param overlap How long a key that the document lacks stays trusted.
 */
export function afterSuccess(
  state: CacheState,
  attempt: Omit<Attempt, 'failure'>,
  document: RingDocument,
  { ringEnd, overlap, spread }: { ringEnd: Instant | undefined; overlap: number; spread: number },
): SettledState {
  const { trigger, startedAt } = attempt
  const { ring, missing } = nextRing(state.ring, document, attempt, { ringEnd, overlap })
  return {
    ring,
    retired: retire(state.retired, missing, ring.keys),
    last: { ...attempt, failure: undefined },
    pace: paceAfterSuccess(state.pace, trigger, startedAt.monotonic, spread),
  }
}

/** The ring stays as it is. @param random From 0 to 1, drawn for each failure. */
export function afterFailure(
  state: CacheState,
  attempt: Omit<Attempt, 'failure'>,
  failure: FetchFailure,
  { spread, random }: { spread: number; random: number },
): SettledState {
  const { trigger, startedAt, settledAt } = attempt
  return {
    ...state,
    last: { ...attempt, failure },
    pace: paceAfterFailure(
      state.pace,
      trigger,
      { startedAt: startedAt.monotonic, settledAt: settledAt.monotonic },
      failure.retryAfter ?? 0,
      spread,
      random,
    ),
  }
}

/** The state after an attempt that was given up: it has only kept the next one from starting at once. */
export function afterLoss(
  state: CacheState,
  { trigger, startedAt }: Pick<Attempt, 'trigger' | 'startedAt'>,
  spread: number,
): CacheState {
  return { ...state, pace: paceAfterAttempt(state.pace, trigger, startedAt.monotonic, spread) }
}

/** The state after a token was proven by what the last attempt brought. */
export function afterHelp(state: CacheState): CacheState {
  return state.last?.trigger === 'suspicion' ? { ...state, pace: paceAfterHelp(state.pace) } : state
}

/** The state after the last attempt answered a token of a retired key: one question, however many tokens asked it. */
export function afterQuestion(state: CacheState, key: VerificationKey): CacheState {
  const answeredAt = state.last?.startedAt
  const retired = state.retired.map((each) =>
    each.key === key && each.answeredAt !== answeredAt
      ? { ...each, questions: each.questions + 1, answeredAt }
      : each,
  )
  return { ...state, retired }
}

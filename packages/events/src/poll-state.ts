import type { Instant } from '@portcullis/kit/time'

import {
  afterSettling,
  judgeEvents,
  NO_VERDICTS,
  type PollOutcome,
  type Settled,
  type TakenEvent,
  type Verdicts,
} from './polling.ts'

// What a poller remembers, and how an answer changes it: pure functions of the state before.

export interface PollState {
  readonly verdicts: Verdicts
  readonly settled: Settled
  readonly stuck: Settled
  readonly failures: number
  readonly lastFailure: string | undefined
  readonly answeredAt: Instant | undefined
}

export const INITIAL: PollState = {
  verdicts: NO_VERDICTS,
  settled: new Set(),
  stuck: new Set(),
  failures: 0,
  lastFailure: undefined,
  answeredAt: undefined,
}

/** What a poll came to, and the state after it. */
export interface Polled {
  readonly outcome: PollOutcome
  readonly retryAfter: number
  readonly next: PollState
}

/** @param answer None that has events: why, and for how long it asks to wait. */
export function afterFailure(
  state: PollState,
  {
    failure,
    retryAfter = 0,
  }: { readonly failure: string; readonly retryAfter?: number | undefined },
): Polled {
  const next = { ...state, failures: state.failures + 1, lastFailure: failure }
  return { outcome: 'failure', retryAfter, next }
}

/** @param taken The events of the answer, and what becomes of each. */
export function afterAnswer(
  state: PollState,
  { verdicts, events }: { readonly verdicts: Verdicts; readonly events: readonly TakenEvent[] },
  now: Instant,
): Polled {
  const { outcome, stuck } = judgeEvents(events, state.settled, state.stuck)
  const settled = afterSettling([...verdicts.ack, ...verdicts.setErrs.keys()], state.settled)
  const answered = { ...state, verdicts, settled, stuck, answeredAt: now }
  if (outcome !== 'failure') return { outcome, retryAfter: 0, next: { ...answered, failures: 0 } }
  const lastFailure = 'some events could not be judged or recorded'
  return {
    outcome,
    retryAfter: 0,
    next: { ...answered, failures: state.failures + 1, lastFailure },
  }
}

export function wordOf({ failures, answeredAt }: PollState): 'failing' | 'starting' | 'current' {
  if (failures > 0) return 'failing'
  return answeredAt === undefined ? 'starting' : 'current'
}

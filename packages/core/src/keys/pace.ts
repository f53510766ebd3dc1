import { failurePauseEnd } from '@portcullis/kit/pace'

// When the next attempt may start. Everything here is measured on the monotonic clock, so that no step of the wall clock
// lets an attempt start early or keeps it from starting. Times are seconds.

/** What causes an attempt: the age of the keys, a token that no key proves, or `refresh()`. */
export type Trigger = 'age' | 'suspicion' | 'refresh'

export interface Pace {
  /** The start of the last attempt. Pauses count from there, so that a slow endpoint is not asked less often. */
  readonly startedAt: number
  /** Failures in a row. */
  readonly failures: number
  /** The end of the pause that the last failure causes. */
  readonly failurePauseEnd: number
  readonly budget: SuspicionBudget
}

/** A token bucket: how many attempts suspicions may cause. */
interface SuspicionBudget {
  /** What was left at the moment `countedAt`. */
  readonly left: number
  readonly countedAt: number
  /** Whether the last suspicion is still to be given back if it turns out to have helped. */
  readonly isRefundable: boolean
}

const MIN_INTERVAL = 1
const MAX_SUSPICIONS = 4
/** One more suspicion in so many seconds, drawn once for each process. */
const SUSPICION_INTERVAL = { from: 12.4, to: 14 }
/** A little more than the shortest pause, so that rounding never decides. */
const LONGEST_WAIT = 1.01

export const INITIAL_PACE: Pace = {
  startedAt: -Infinity,
  failures: 0,
  failurePauseEnd: -Infinity,
  budget: { left: MAX_SUSPICIONS, countedAt: 0, isRefundable: false },
}

/** When the next attempt may start. */
export function nextAttempt(pace: Pace, trigger: Trigger, spread: number): number {
  return Math.max(
    pace.startedAt + MIN_INTERVAL,
    pace.failurePauseEnd,
    trigger === 'suspicion' ? nextSuspicion(pace.budget, spread) : -Infinity,
  )
}

/** Whether an attempt may start now, within a second, or not before long. */
export function mayStart(
  pace: Pace,
  trigger: Trigger,
  now: number,
  spread: number,
): 'now' | 'soon' | 'later' {
  const wait = nextAttempt(pace, trigger, spread) - now
  if (wait <= 0) return 'now'
  return wait <= LONGEST_WAIT ? 'soon' : 'later'
}

/** The pace after an attempt, whatever its outcome. */
export function paceAfterAttempt(
  pace: Pace,
  trigger: Trigger,
  startedAt: number,
  spread: number,
): Pace {
  const budget = trigger === 'suspicion' ? spent(pace.budget, startedAt, spread) : pace.budget
  return { ...pace, startedAt, budget }
}

export function paceAfterSuccess(
  pace: Pace,
  trigger: Trigger,
  startedAt: number,
  spread: number,
): Pace {
  return {
    ...paceAfterAttempt(pace, trigger, startedAt, spread),
    failures: 0,
    failurePauseEnd: -Infinity,
  }
}

/**
 * @param settledAt A pause that the endpoint names counts from its answer (RFC 9110 section 10.2.3).
 * @param random From 0 to 1, drawn for each failure, so that a fleet does not come back in step.
 */
export function paceAfterFailure(
  pace: Pace,
  trigger: Trigger,
  { startedAt, settledAt }: { startedAt: number; settledAt: number },
  retryAfter: number,
  spread: number,
  random: number,
): Pace {
  const failures = pace.failures + 1
  return {
    ...paceAfterAttempt(pace, trigger, startedAt, spread),
    failures,
    failurePauseEnd: failurePauseEnd(failures, { startedAt, settledAt }, retryAfter, random),
  }
}

/** The pace after a token was proven by what a suspicion brought: once for each suspicion, however many it helped. */
export function paceAfterHelp(pace: Pace): Pace {
  const { budget } = pace
  if (!budget.isRefundable) return pace
  return { ...pace, budget: { ...budget, left: budget.left + 1, isRefundable: false } }
}

function nextSuspicion({ left, countedAt }: SuspicionBudget, spread: number): number {
  return left >= 1 ? -Infinity : countedAt + (1 - left) * suspicionInterval(spread)
}

function spent(
  { left, countedAt }: SuspicionBudget,
  startedAt: number,
  spread: number,
): SuspicionBudget {
  const regained = (startedAt - countedAt) / suspicionInterval(spread)
  return {
    left: Math.min(MAX_SUSPICIONS, left + regained) - 1,
    countedAt: startedAt,
    isRefundable: true,
  }
}

function suspicionInterval(spread: number): number {
  const { from, to } = SUSPICION_INTERVAL
  return from + (to - from) * spread
}

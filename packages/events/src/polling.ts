import { hash } from 'node:crypto'

import { failurePauseEnd } from '@portcullis/core/verifier'

// When a transmitter is asked next, and what it is told then. Times are seconds on the monotonic clock.

/** What one poll came to: `progress` if it brought what was not there before. */
export type PollOutcome = 'progress' | 'nothing' | 'failure'

/** What is to be said of the events of the last answer. It is said until a request with it was answered. */
export interface Verdicts {
  readonly ack: readonly string[]
  readonly setErrs: ReadonlyMap<string, { readonly err: string; readonly description: string }>
}

export const NO_VERDICTS: Verdicts = { ack: [], setErrs: new Map() }

/** RFC 8936 section 2.4. A hundred events of the longest kind would not fit into an answer that is read. */
const MAX_EVENTS = 100

/** The body of a poll. RFC 8936 section 2.2. */
export function pollRequest({ ack, setErrs }: Verdicts): string {
  return JSON.stringify({
    maxEvents: MAX_EVENTS,
    ...(ack.length === 0 ? {} : { ack }),
    ...(setErrs.size === 0 ? {} : { setErrs: Object.fromEntries(setErrs) }),
  })
}

/** Digests of the names of events that were settled, the newest first: a name may be long. */
export type Settled = ReadonlySet<string>

/**
 * How many events of one answer are taken in. A transmitter should keep to `maxEvents`, and need not. What is left out is not
 * named, so that it comes again. A hundred thousand names fit into an answer, and would stop the event loop for a second.
 */
export const MAX_TAKEN = 1000

/** Ten answers: so many transmitters behind one address may have events that they are never told the verdicts of. */
const MAX_SETTLED = 1000

/**
 * Whether an answer brought something new: one that repeats what was settled before it must not be asked for at once again.
 *
 * @param names Of the events that were settled by this answer.
 */
export function isProgress(names: readonly string[], settled: Settled): boolean {
  return names.some((name) => !settled.has(digestOf(name)))
}

export function afterSettling(names: readonly string[], settled: Settled): Settled {
  return new Set([...new Set([...names.map(digestOf), ...settled])].slice(0, MAX_SETTLED))
}

function digestOf(name: string): string {
  return hash('sha256', name, 'base64')
}

export interface PollTimes {
  readonly startedAt: number
  readonly settledAt: number
  /** In a row, this one included. */
  readonly failures: number
  /** The pause that the answer asked for; 0 for none. */
  readonly retryAfter: number
}

/**
 * When the next poll may start: at once while there is something new; else an interval after the start of the last one, so
 * that a transmitter which answers at once is not asked without a pause; after a failure later and later.
 *
 * @param random From 0 to 1.
 */
export function nextPoll(
  outcome: PollOutcome,
  { startedAt, settledAt, failures, retryAfter }: PollTimes,
  interval: number,
  random: number,
): number {
  if (outcome === 'progress') return settledAt
  if (outcome === 'nothing') return startedAt + interval
  return failurePauseEnd(failures, { startedAt, settledAt }, retryAfter, random)
}

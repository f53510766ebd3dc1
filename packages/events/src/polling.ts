import { hash } from 'node:crypto'

import { failurePauseEnd } from '@portcullis/kit/pace'
import type { Instant } from '@portcullis/kit/time'

// When a transmitter is asked next, what it is told then, and what a poller remembers: pure functions. Times are seconds on the monotonic
// clock.

/** `progress`: a new event; `refusals`: all that is new was refused; `failure`: no answer, or what all events share failed. */
export type PollOutcome = 'progress' | 'refusals' | 'nothing' | 'failure'

/** What is to be said of the events of the last answer. It is said until a request with it was answered. */
export interface Verdicts {
  readonly ack: readonly string[]
  readonly setErrs: ReadonlyMap<string, { readonly err: string; readonly description: string }>
}

const NO_VERDICTS: Verdicts = { ack: [], setErrs: new Map() }

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

/** An event of an answer. One that is `unread` or `failed` is not settled, and comes again. */
export interface TakenEvent {
  readonly name: string
  /** `accepted`: recorded before, or revokes nothing; `unread`: it alone cannot be read, as by `mapSubject`; `failed`: keys or store did. */
  readonly became: 'recorded' | 'accepted' | 'refused' | 'unread' | 'failed'
}

/**
 * A failure is that of its event alone where another was recorded meanwhile, and as long as it then comes again (`stuck`): it neither
 * makes the poll fail nor slows it. What repeats settled events must not be asked for at once again, nor must refusals alone: a
 * transmitter could have a new name for each.
 */
export function judgeEvents(
  events: readonly TakenEvent[],
  settled: Settled,
  stuck: Settled,
): { readonly outcome: PollOutcome; readonly stuck: Settled } {
  const isRecording = events.some(({ became }) => became === 'recorded')
  const failed = events.filter(({ became }) => became === 'unread' || became === 'failed')
  const alone = failed.filter(
    ({ name, became }) => became === 'unread' || isRecording || stuck.has(digestOf(name)),
  )
  const isNew = (...words: readonly TakenEvent['became'][]) =>
    events.some(({ name, became }) => words.includes(became) && !settled.has(digestOf(name)))
  const stuckNow = new Set(alone.map(({ name }) => digestOf(name)))
  if (alone.length < failed.length) return { outcome: 'failure', stuck: stuckNow }
  if (isNew('recorded', 'accepted')) return { outcome: 'progress', stuck: stuckNow }
  return { outcome: isNew('refused') ? 'refusals' : 'nothing', stuck: stuckNow }
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

/** Seconds. A transmitter that took so long to say that there is nothing has held the request, as it should. */
const SHORTEST_PAUSE = 1

/** At once while there is news; else an interval after the last start; after failures later and later. @param random From 0 to 1. */
export function nextPoll(
  outcome: PollOutcome,
  { startedAt, settledAt, failures, retryAfter }: PollTimes,
  interval: number,
  random: number,
): number {
  if (outcome === 'progress') return settledAt
  if (outcome === 'refusals') return Math.max(settledAt, startedAt + SHORTEST_PAUSE)
  if (outcome === 'nothing') {
    const isHeld = settledAt - startedAt >= SHORTEST_PAUSE
    return Math.max(startedAt + interval, isHeld ? settledAt : settledAt + SHORTEST_PAUSE)
  }
  return failurePauseEnd(failures, { startedAt, settledAt }, retryAfter, random)
}

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

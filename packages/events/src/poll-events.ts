import { ENDS_WITH_REQUEST } from '@portcullis/kit/calls'
import { createRetry, withDeadline } from '@portcullis/kit/http'
import { elapsed, instant, systemClock } from '@portcullis/kit/time'
import { LATENESS } from '@portcullis/kit/waiting'

import type { Inbox, Receipt } from './inbox.ts'
import { checkPollEventsOptions } from './option-checks.ts'
import type { PollEventsOptions } from './options.ts'
import { exchange, failed, type PollAnswer } from './poll-exchange.ts'
import {
  afterAnswer,
  afterFailure,
  INITIAL,
  MAX_TAKEN,
  nextPoll,
  type Polled,
  pollRequest,
  type PollState,
  type TakenEvent,
  type Verdicts,
  wordOf,
} from './polling.ts'
import { invalidEvent, type RefusedEvent } from './refused-event.ts'
import { createSecurityEventInbox, type Heed } from './security-events.ts'
import { checkTimers, pause, whenClosed } from './until-closed.ts'

// Polls a transmitter for security events, one request at a time.

export interface EventPollStatus {
  /** `current` while polls are answered. */
  readonly state: 'starting' | 'current' | 'failing' | 'closed'
  /** Polls in a row that had no answer, or after which the store or the keys failed. */
  readonly failures: number
  /**
   * Events of the last answer that fail by themselves, such as one that `mapSubject` throws for. They are neither acknowledged nor
   * refused, come again, and make no poll fail.
   */
  readonly stuck: number
  /** The last failure in words, without an address. */
  readonly lastFailure: string | undefined
  /** Seconds since the last answer. */
  readonly answerAge: number | undefined
}

/** Polls until it is closed. */
export interface EventPoll {
  status(): EventPollStatus
  /** Ends it, and the request that waits. Resolves when nothing is recorded any longer, or what hangs was given up. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Asks a transmitter for security events, at once and until it is closed. Each event that is recorded, or that revokes nothing,
 * is acknowledged in the next request (`ack`); one that is refused is named with its error (`setErrs`); and one that could not
 * be recorded is not named, so that it comes again.
 *
 * @throws TypeError for a wrong, misspelt or missing option, and where the runtime sets no timers, as Cloudflare Workers do outside of a
 *   request.
 * @see RFC 8936
 */
export function pollEvents(options: PollEventsOptions): EventPoll {
  return createPoll(options)
}

export interface PollSurroundings {
  /** Of the runtime; by default it is asked. */
  readonly endsWithRequest?: boolean
  /** Of a stream whose events are polled. */
  readonly heed?: Heed
  readonly reportedAs?: () => object
}

export function createPoll(
  options: PollEventsOptions,
  { endsWithRequest = ENDS_WITH_REQUEST, heed, reportedAs }: PollSurroundings = {},
): EventPoll {
  const stated = checkPollEventsOptions(options)
  const { endpoint, fetch, interval = 5, timeout = 60, clock = systemClock, ...ofEvents } = stated
  if (endsWithRequest) checkTimers('pollEvents', clock)
  // As `fetch` writes it, without a fragment.
  const address = new URL(endpoint)
  address.hash = ''
  const inbox = createSecurityEventInbox(
    { ...ofEvents, clock: stated.clock },
    reportedAs ?? (() => poller),
    heed,
  )
  const closing = new AbortController()
  const { signal: closed } = closing
  /** When it has to go on at the latest. Seconds of the monotonic clock. */
  let due = Infinity
  let state: PollState = INITIAL

  const settings = {
    endpoint: address.href,
    fetch,
    retry: createRetry(),
    wallNow: () => clock.now(),
  }

  async function ask(): Promise<PollAnswer> {
    const request = pollRequest(state.verdicts)
    due = clock.monotonic() + timeout
    const answer = await withDeadline(
      clock,
      timeout,
      async (signal) =>
        await Promise.race([
          exchange(settings, request, signal),
          whenClosed(closed, signal, failed('closed')),
        ]),
    )
    due = Infinity
    return 'detail' in answer ? failed(answer.detail) : answer
  }

  async function poll(): Promise<Polled> {
    const answer = await ask()
    if (answer.failure !== undefined) return afterFailure(state, answer)
    const taken = await takeAll(inbox, answer.sets, closed)
    return afterAnswer(state, taken, instant(clock))
  }

  async function run(): Promise<void> {
    while (!closed.aborted) {
      const startedAt = clock.monotonic()
      const { outcome, retryAfter, next } = await poll()
      state = next
      const settledAt = clock.monotonic()
      const times = { startedAt, settledAt, failures: state.failures, retryAfter }
      const seconds = nextPoll(outcome, times, interval, Math.random()) - settledAt
      due = settledAt + seconds
      await pause(seconds, clock, closed)
    }
  }

  const running = run()
  async function close(): Promise<void> {
    closing.abort()
    await running
  }
  const poller: EventPoll = {
    status() {
      const { failures, stuck, answeredAt } = state
      const answerAge = answeredAt && elapsed(answeredAt, instant(clock))
      const hasEnded = endsWithRequest && clock.monotonic() > due + LATENESS
      const word = closed.aborted ? 'closed' : hasEnded ? 'failing' : wordOf(state)
      const lastFailure = hasEnded ? ENDED : state.lastFailure
      return { state: word, failures, stuck: stuck.size, lastFailure, answerAge }
    },
    close,
    [Symbol.asyncDispose]: close,
  }
  return poller
}

const ENDED = 'the request that began to poll has ended, and the runtime has ended its timers'

const NO_TEXT = invalidEvent('The token is not a signed JWT')

/** How many events are taken in at once: one that hangs keeps no others waiting, and a store that hangs is called no more often. */
const AT_ONCE = 25

interface Taken {
  readonly verdicts: Verdicts
  readonly events: readonly TakenEvent[]
}

/** Takes the events of one answer in, until the poll is closed, or keys or store fail for all that were taken at once. */
async function takeAll(
  inbox: Inbox,
  sets: ReadonlyMap<string, unknown>,
  closed: AbortSignal,
): Promise<Taken> {
  const ack: string[] = []
  const setErrs = new Map<string, RefusedEvent>()
  const events: TakenEvent[] = []
  const waiting = [...sets].slice(0, MAX_TAKEN)
  for (let at = 0; at < waiting.length && !closed.aborted; at += AT_ONCE) {
    const receipts = await Promise.all(
      waiting.slice(at, at + AT_ONCE).map(async ([name, token]) => {
        const isText = typeof token === 'string'
        return [name, isText ? await inbox.take(token, name) : inbox.refuse(NO_TEXT)] as const
      }),
    )
    for (const [name, receipt] of receipts) {
      if (receipt.outcome === 'accepted') ack.push(name)
      else if (receipt.outcome === 'refused') setErrs.set(name, receipt.refused)
      events.push({ name, became: wordFor(receipt) })
    }
    if (events.slice(at).every(({ became }) => became === 'failed')) break
  }
  return { verdicts: { ack, setErrs }, events }
}

function wordFor(receipt: Receipt): TakenEvent['became'] {
  if (receipt.outcome === 'accepted') return receipt.isRecorded ? 'recorded' : 'accepted'
  if (receipt.outcome === 'refused') return 'refused'
  return receipt.failed === 'event' ? 'unread' : 'failed'
}

import type { Clock } from '@portcullis/core'
import {
  createRetry,
  elapsed,
  type Instant,
  instant,
  systemClock,
  withDeadline,
} from '@portcullis/core/verifier'

import type { Inbox, Receipt } from './inbox.ts'
import { checkPollEventsOptions } from './option-checks.ts'
import type { PollEventsOptions } from './options.ts'
import { exchange, failed, type PollAnswer } from './poll-exchange.ts'
import {
  afterSettling,
  judgeEvents,
  MAX_TAKEN,
  nextPoll,
  NO_VERDICTS,
  type PollOutcome,
  pollRequest,
  type Settled,
  type TakenEvent,
  type Verdicts,
} from './polling.ts'
import { invalidEvent, type RefusedEvent } from './refused-event.ts'
import { createSecurityEventInbox } from './security-events.ts'

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

const NO_TEXT = invalidEvent('The token is not a signed JWT')

interface PollState {
  readonly verdicts: Verdicts
  readonly settled: Settled
  readonly stuck: Settled
  readonly failures: number
  readonly lastFailure: string | undefined
  readonly answeredAt: Instant | undefined
}

/** What a poll came to, and the state after it. */
interface Polled {
  readonly outcome: PollOutcome
  readonly retryAfter: number
  readonly next: PollState
}

/**
 * Asks a transmitter for security events, at once and until it is closed. Each event that is recorded, or that revokes nothing,
 * is acknowledged in the next request (`ack`); one that is refused is named with its error (`setErrs`); and one that could not
 * be recorded is not named, so that it comes again.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 * @see RFC 8936
 */
export function pollEvents(options: PollEventsOptions): EventPoll {
  const stated = checkPollEventsOptions(options)
  const { endpoint, fetch, interval = 5, timeout = 60, clock = systemClock, ...ofEvents } = stated
  // As `fetch` writes it, without a fragment.
  const address = new URL(endpoint)
  address.hash = ''
  const inbox = createSecurityEventInbox({ ...ofEvents, clock: stated.clock }, () => poller)
  const closing = new AbortController()
  const { signal: closed } = closing
  let state: PollState = {
    verdicts: NO_VERDICTS,
    settled: new Set(),
    stuck: new Set(),
    failures: 0,
    lastFailure: undefined,
    answeredAt: undefined,
  }

  const settings = {
    endpoint: address.href,
    fetch,
    retry: createRetry(),
    wallNow: () => clock.now(),
  }

  async function ask(): Promise<PollAnswer> {
    const request = pollRequest(state.verdicts)
    const answer = await withDeadline(
      clock,
      timeout,
      async (signal) =>
        await Promise.race([exchange(settings, request, signal), whenClosed(closed, signal)]),
    )
    return 'detail' in answer ? failed(answer.detail) : answer
  }

  async function poll(): Promise<Polled> {
    const answer = await ask()
    if (answer.failure !== undefined) {
      const { failure, retryAfter = 0 } = answer
      const failures = state.failures + 1
      return { outcome: 'failure', retryAfter, next: { ...state, failures, lastFailure: failure } }
    }
    const { verdicts, events } = await takeAll(inbox, answer.sets, closed)
    const { outcome, stuck } = judgeEvents(events, state.settled, state.stuck)
    const settled = afterSettling([...verdicts.ack, ...verdicts.setErrs.keys()], state.settled)
    const answered = { ...state, verdicts, settled, stuck, answeredAt: instant(clock) }
    if (outcome === 'failure') {
      const lastFailure = 'some events could not be judged or recorded'
      const next = { ...answered, failures: state.failures + 1, lastFailure }
      return { outcome, retryAfter: 0, next }
    }
    return { outcome, retryAfter: 0, next: { ...answered, failures: 0 } }
  }

  async function run(): Promise<void> {
    while (!closed.aborted) {
      const startedAt = clock.monotonic()
      const { outcome, retryAfter, next } = await poll()
      state = next
      const settledAt = clock.monotonic()
      const times = { startedAt, settledAt, failures: state.failures, retryAfter }
      await pause(nextPoll(outcome, times, interval, Math.random()) - settledAt, clock, closed)
    }
  }

  const running = run()
  async function close(): Promise<void> {
    closing.abort()
    await running
  }
  const poller: EventPoll = {
    status() {
      const { failures, stuck, lastFailure, answeredAt } = state
      const answerAge = answeredAt && elapsed(answeredAt, instant(clock))
      const word = closed.aborted ? 'closed' : wordOf(state)
      return { state: word, failures, stuck: stuck.size, lastFailure, answerAge }
    },
    close,
    [Symbol.asyncDispose]: close,
  }
  return poller
}

function wordOf({ failures, answeredAt }: PollState): EventPollStatus['state'] {
  if (failures > 0) return 'failing'
  return answeredAt === undefined ? 'starting' : 'current'
}

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

/**
 * Answers when the poll is closed: a `fetch` of the caller's need not look at its signal.
 *
 * @param over Aborts at the end of the exchange, however it ends.
 */
async function whenClosed(closed: AbortSignal, over: AbortSignal): Promise<PollAnswer> {
  return await new Promise((resolve) => {
    const end = () => {
      resolve(failed('closed'))
    }
    // A `fetch` of the caller's may have closed the poll before it returned.
    if (closed.aborted) end()
    else closed.addEventListener('abort', end, { once: true, signal: over })
  })
}

async function pause(seconds: number, clock: Clock, signal: AbortSignal): Promise<void> {
  if (!(seconds > 0) || signal.aborted) return
  await new Promise<void>((resolve) => {
    const end = () => {
      cancel()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const cancel = clock.after(seconds, end)
    signal.addEventListener('abort', end, { once: true })
  })
}

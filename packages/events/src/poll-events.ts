import type { Clock } from '@portcullis/core'
import {
  elapsed,
  type Instant,
  instant,
  systemClock,
  withDeadline,
} from '@portcullis/core/verifier'

import type { Inbox } from './inbox.ts'
import { checkPollEventsOptions, type PollEventsOptions } from './options.ts'
import { exchange, failed, type PollAnswer } from './poll-exchange.ts'
import {
  afterSettling,
  isProgress,
  MAX_TAKEN,
  nextPoll,
  NO_VERDICTS,
  type PollOutcome,
  pollRequest,
  type Settled,
  type Verdicts,
} from './polling.ts'
import { invalidEvent } from './refused-event.ts'
import { createSecurityEventInbox } from './security-events.ts'

// Polls a transmitter for security events, one request at a time.

export interface EventPollStatus {
  /** `current` while polls are answered. */
  readonly state: 'starting' | 'current' | 'failing' | 'closed'
  /** Polls in a row that had no answer, or whose events could not all be recorded. */
  readonly failures: number
  /** The last failure in words, without an address. */
  readonly lastFailure: string | undefined
  /** Seconds since the last answer. */
  readonly answerAge: number | undefined
}

/** Polls until it is closed. */
export interface EventPoll {
  status(): EventPollStatus
  /** Ends it, and the request that waits. Resolves when nothing is recorded any longer. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

const NO_TEXT = invalidEvent('The token is not a signed JWT')

interface PollState {
  readonly verdicts: Verdicts
  readonly settled: Settled
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
    failures: 0,
    lastFailure: undefined,
    answeredAt: undefined,
  }

  async function ask(): Promise<PollAnswer> {
    const request = {
      endpoint: address.href,
      body: pollRequest(state.verdicts),
      wallNow: () => clock.now(),
    }
    const answer = await withDeadline(
      clock,
      timeout,
      async (signal) =>
        await Promise.race([exchange(fetch, request, signal), whenClosed(closed, signal)]),
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
    const { verdicts, isComplete } = await takeAll(inbox, answer.sets, closed)
    const names = [...verdicts.ack, ...verdicts.setErrs.keys()]
    const settled = afterSettling(names, state.settled)
    const answered = { ...state, verdicts, settled, answeredAt: instant(clock) }
    if (!isComplete) {
      const lastFailure = 'some events could not be judged or recorded'
      const next = { ...answered, failures: state.failures + 1, lastFailure }
      return { outcome: 'failure', retryAfter: 0, next }
    }
    const outcome = isProgress(names, state.settled) ? 'progress' : 'nothing'
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
      const { failures, lastFailure, answeredAt } = state
      const answerAge = answeredAt && elapsed(answeredAt, instant(clock))
      return { state: closed.aborted ? 'closed' : wordOf(state), failures, lastFailure, answerAge }
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

/** Takes the events of one answer in, in their order, until the poll is closed. */
async function takeAll(
  inbox: Inbox,
  sets: ReadonlyMap<string, unknown>,
  closed: AbortSignal,
): Promise<{ verdicts: Verdicts; isComplete: boolean }> {
  const ack: string[] = []
  const setErrs = new Map<string, { err: string; description: string }>()
  const taken = [...sets].slice(0, MAX_TAKEN)
  for (const [name, token] of taken) {
    if (closed.aborted) break
    const receipt =
      typeof token === 'string' ? await inbox.take(token, name) : inbox.refuse(NO_TEXT)
    if (receipt.outcome === 'accepted') ack.push(name)
    else if (receipt.outcome === 'refused') setErrs.set(name, receipt.refused)
  }
  return { verdicts: { ack, setErrs }, isComplete: ack.length + setErrs.size === taken.length }
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
    closed.addEventListener('abort', end, { once: true, signal: over })
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

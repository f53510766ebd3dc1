import { randomBytes } from 'node:crypto'

import { ENDS_WITH_REQUEST } from '@portcullis/kit/calls'
import { systemClock } from '@portcullis/kit/time'
import { answerInTime, unlessAborted } from '@portcullis/kit/waiting'

import { uriOfEvent } from './event-types.ts'
import type { PushDelivery, StreamOptions } from './options.ts'
import { createPoll, type EventPoll, type EventPollStatus } from './poll-events.ts'
import { createPushReceiver, type EventReceiver } from './receiver.ts'
import { createTransmitterCalls } from './stream-calls.ts'
import type { Stream, Wanted } from './stream-configuration.ts'
import { createStreamHeed, newState, type Transmission } from './stream-events.ts'
import { createKeeper } from './stream-keeper.ts'
import { createManagement, type Management } from './stream-management.ts'
import { METHODS } from './stream-metadata.ts'
import { checkSignal, checkStatus, checkStreamOptions } from './stream-option-checks.ts'
import { CLOSED, TransmitterError } from './transmitter-error.ts'
import { checkTimers } from './until-closed.ts'

// A receiver that manages its stream: what it says of it, and what can be asked of it.

export interface EventStreamStatus {
  /** `open` while the transmitter answers, and has the stream. */
  readonly state: 'opening' | 'open' | 'failing' | 'closed'
  readonly streamId: string | undefined
  /** The types of events that the transmitter delivers: URIs. */
  readonly delivered: readonly string[]
  /** Those of `events` that it does not deliver: URIs. */
  readonly missing: readonly string[]
  /** What the transmitter has said last: it sends events, holds them back, or drops them. */
  readonly transmission: 'enabled' | 'paused' | 'disabled' | undefined
  /** Attempts in a row that had no answer, or one that could not be used. */
  readonly failures: number
  /** The last failure in words, without an address. */
  readonly lastFailure: string | undefined
  /** Of `deliver: 'poll'`. */
  readonly poll: EventPollStatus | undefined
}

/** One stream of events at a transmitter, which is kept until it is closed. */
export interface EventStream {
  status(): EventStreamStatus
  /** Resolves when the stream is open. Rejects with why it could not be opened now; it is tried again all the same. */
  ready(): Promise<void>
  /**
   * Asks for a verification event, and resolves when it has come here. Rejects if it has not in 60 s. Where several processes receive
   * events, it may come to another one.
   */
  verify(options?: { readonly signal?: AbortSignal | undefined }): Promise<void>
  /** Asks the transmitter to send events, to hold them back, or to drop them. */
  setStatus(status: 'enabled' | 'paused' | 'disabled', reason?: string): Promise<void>
  /** Closes it, and deletes the stream at the transmitter: for an application that receives no more events. */
  delete(): Promise<void>
  /** Ends what is under way, and leaves the stream at the transmitter: its events wait for the next process. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** One whose events are pushed. */
export interface PushedEventStream extends EventStream {
  /** What the transmitter pushes to: a handler as `receiveEvents` makes it. */
  readonly receiver: EventReceiver
}

/** Seconds. The transmitter may send what waits before the verification first. */
const VERIFICATION_TIMEOUT = 60

/**
 * Manages a stream of security events at a transmitter, at once and until it is closed: finds the one with this `description` or creates
 * it, brings it up to date, receives its events as `receiveEvents` or `pollEvents` do, and looks regularly whether it is still there.
 *
 * Several processes may do so with the same options: they use one stream. A stream with another description is never changed, unless the
 * transmitter allows one stream alone.
 *
 * @throws TypeError for a wrong, misspelt or missing option, and where the runtime sets no timers, as Cloudflare Workers do outside of a
 *   request.
 * @see OpenID Shared Signals Framework 1.0 sections 7 and 8
 */
export function openStream(options: StreamOptions & { deliver: PushDelivery }): PushedEventStream
export function openStream(options: StreamOptions): EventStream
export function openStream(options: StreamOptions): EventStream {
  const stated = checkStreamOptions(options)
  const { transmitter, fetch, deliver, events, description, origins = [], ...others } = stated
  const { interval, timeout, ...ofEvents } = others
  const { clock = systemClock, audience } = ofEvents
  if (ENDS_WITH_REQUEST) checkTimers('openStream', clock)
  const trust = {
    transmitter,
    origins: new Set([transmitter, ...origins].map((url) => new URL(url).origin)),
  }
  const secret = deliver === 'poll' ? undefined : (deliver.authorization ?? newSecret())
  const wanted: Wanted = {
    description,
    delivery: deliveryOf(deliver, secret),
    events_requested: [...new Set(events.map(uriOfEvent))],
  }
  const call = createTransmitterCalls(fetch, clock)
  const closing = new AbortController()
  const { signal: closed } = closing
  const manageUntil = async (signal: AbortSignal) =>
    await createManagement({ call, wanted, trust, audience: [audience].flat() }, signal)
  let known: Management | undefined
  let transmission: Transmission | undefined
  let polled: { readonly stream: Stream; readonly poll: EventPoll } | undefined
  const verifications = new Map<string, (hasCome: boolean) => void>()

  const heed = createStreamHeed({
    description,
    streamId: () => keeper.state().stream?.id,
    onVerified: (state) => verifications.get(state)?.(true),
    onStatus(status) {
      transmission = status
    },
  })
  const surroundings = { heed, reportedAs: () => opened }

  async function manage(isAnew: boolean): Promise<Management> {
    if (isAnew) known = undefined
    return (known ??= await manageUntil(closed))
  }

  async function poll(stream: Stream): Promise<void> {
    const { id, endpoint } = stream
    if (endpoint === undefined) throw new TransmitterError(NOT_POLLED)
    if (polled?.stream.id === id && polled.stream.endpoint === endpoint) return
    await polled?.poll.close()
    if (closed.aborted) return
    const ofPoll = { ...ofEvents, issuer: transmitter, endpoint, fetch, interval, timeout }
    polled = { stream, poll: createPoll(ofPoll, surroundings) }
  }

  const keeper = createKeeper({
    clock,
    closed,
    manage,
    onStream: async (stream) => {
      if (deliver === 'poll') await poll(stream)
    },
    onStatus(status) {
      transmission = status ?? transmission
    },
  })

  /** @throws TransmitterError if it is closed, or not yet open. */
  async function current(): Promise<{ management: Management; id: string }> {
    if (closed.aborted) throw new TransmitterError(CLOSED)
    const { stream } = keeper.state()
    if (stream === undefined) throw new TransmitterError('the stream is not open yet')
    return { management: await manage(false), id: stream.id }
  }

  const running = keeper.run()
  async function close(): Promise<void> {
    closing.abort()
    for (const end of verifications.values()) end(false)
    await running
    await polled?.poll.close()
  }

  const opened: EventStream = {
    status() {
      const { stream, failures, lastFailure } = keeper.state()
      const delivered = stream?.delivered ?? []
      const state = closed.aborted ? 'closed' : failures > 0 ? 'failing' : undefined
      return {
        state: state ?? (stream === undefined ? 'opening' : 'open'),
        streamId: stream?.id,
        delivered,
        missing: wanted.events_requested.filter((type) => stream && !delivered.includes(type)),
        transmission,
        failures,
        lastFailure,
        poll: polled?.poll.status(),
      }
    },
    ready: async () => {
      await keeper.ready()
    },
    async verify(given = {}) {
      const signal = checkSignal(given)
      const { management, id } = await current()
      const state = newState(description, id)
      try {
        const arrival = new Promise<boolean>((resolve) => verifications.set(state, resolve))
        await unlessAborted(management.requestVerification(id, state), signal)
        const late = () =>
          new TransmitterError(`no verification event came in ${VERIFICATION_TIMEOUT} s`)
        const limits = { clock, signal, late, patience: VERIFICATION_TIMEOUT }
        if (!(await answerInTime(arrival, limits))) throw new TransmitterError(CLOSED)
      } finally {
        verifications.delete(state)
      }
    },
    async setStatus(status, reason) {
      checkStatus(status, reason)
      const { management, id } = await current()
      if (await management.setStatus(id, status, reason)) transmission = status
    },
    async delete() {
      await close()
      const management = await manageUntil(new AbortController().signal)
      for (const { id } of await management.list()) await management.remove(id)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
  if (deliver === 'poll') return opened
  const authorize = secret ?? null
  const ofPush = { ...ofEvents, issuer: transmitter, authorize }
  const { heed: ofStream, reportedAs } = surroundings
  return Object.assign(opened, { receiver: createPushReceiver(ofPush, ofStream, reportedAs) })
}

const NOT_POLLED = 'the transmitter has not yet changed the stream to one that is polled'

/** 256 bits. */
function newSecret(): string {
  return `Bearer ${randomBytes(32).toString('base64url')}`
}

function deliveryOf(
  deliver: 'poll' | PushDelivery,
  secret: string | undefined,
): Wanted['delivery'] {
  if (deliver === 'poll') return { method: METHODS.poll }
  return {
    method: METHODS.push,
    endpoint_url: String(deliver.endpoint),
    ...(secret === undefined ? {} : { authorization_header: secret }),
  }
}

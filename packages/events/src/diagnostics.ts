import { channel } from 'node:diagnostics_channel'

import type { JsonObject, RevocationEntry } from '@portcullis/core'
import { debug } from '@portcullis/kit/report'

import type { RefusedEvent } from './refused-event.ts'

// What is told of each event that came: to the application, on the channel `portcullis:events`, and in a line for
// NODE_DEBUG=portcullis.

/**
 * What `onEvent` is told of each event, and of each request in which none was found. Of an event that no key has proven, it
 * contains nothing. Of senders that `authorize` has refused it is not told.
 */
export interface EventMessage {
  /**
   * What became of the event: `recorded`; `repeated`, when it was recorded before; `ignored`, when it is of a type that revokes
   * nothing; `refused`; `unavailable`, when it could not be judged or recorded now, so that its sender has to repeat it.
   */
  readonly outcome: 'recorded' | 'repeated' | 'ignored' | 'refused' | 'unavailable'
  readonly iss: string | undefined
  readonly jti: string | undefined
  /** The members of `events`: URIs. */
  readonly types: readonly string[]
  /** All claims of the event, frozen. */
  readonly claims: JsonObject | undefined
  /**
   * The names of members that could not be read: an `event_timestamp` or a `toe` that is no time in seconds. All ends then that
   * was issued until the token was.
   */
  readonly unreadable: readonly string[]
  /** What it revokes. */
  readonly revokes: readonly RevocationEntry[]
  /** What the sender is told, if it was refused. */
  readonly refused: RefusedEvent | undefined
  /** What went wrong: the `AuthError` of the verifier, the error of the store or of `mapSubject`. Keep it out of answers. */
  readonly error: unknown
}

/**
 * What became of an event, or of a request without one, on the channel `portcullis:events`. It contains nothing of the event and
 * no address.
 */
export interface EventReport {
  /** What `receiveLogout`, `receiveEvents`, `pollEvents` or `openStream` returned, to tell several apart. */
  readonly source: object
  readonly outcome: EventMessage['outcome']
  /** What the sender is told, if it was refused. */
  readonly error: RefusedEvent['err'] | undefined
}

const reports = channel('portcullis:events')

export function publishEvent(
  source: () => object,
  outcome: EventMessage['outcome'],
  refused: EventMessage['refused'],
): void {
  if (reports.hasSubscribers) {
    const report: EventReport = { source: source(), outcome, error: refused?.err }
    reports.publish(report)
  }
  debug(() => {
    const why = refused === undefined ? '' : `: ${refused.err}: ${refused.description}`
    return `events: ${outcome}${why}`
  })
}

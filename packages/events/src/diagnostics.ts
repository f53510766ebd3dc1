import { channel } from 'node:diagnostics_channel'

import { debug } from '@portcullis/kit/report'

import type { EventMessage } from './event-message.ts'
import type { RefusedEvent } from './refused-event.ts'

// What is told of each event that came: the channel `portcullis:events`, and a line for NODE_DEBUG=portcullis.

/**
 * What became of an event, or of a request without one, on the channel `portcullis:events`. It contains nothing of the event and
 * no address.
 */
export interface EventReport {
  /** What `receiveLogout`, `receiveEvents` or `pollEvents` returned, to tell several apart. */
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

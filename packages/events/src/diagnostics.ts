import { channel } from 'node:diagnostics_channel'
import { env } from 'node:process'
import { debuglog } from 'node:util'

import type { EventMessage, EventOutcome } from './event-message.ts'
import type { EventError } from './refused-event.ts'

// What is told of each event that came: the channel `portcullis:events`, and a line for NODE_DEBUG=portcullis.

/**
 * What became of an event, or of a request without one, on the channel `portcullis:events`. It contains nothing of the event and
 * no address.
 */
export interface EventReport {
  /** What `receiveLogout`, `receiveEvents` or `pollEvents` returned, to tell several apart. */
  readonly source: object
  readonly outcome: EventOutcome
  /** What the sender is told, if it was refused. */
  readonly error: EventError | undefined
}

const reports = channel('portcullis:events')
const log = debuglog('portcullis')

export function publishEvent(
  source: () => object,
  outcome: EventOutcome,
  refused: EventMessage['refused'],
): void {
  if (reports.hasSubscribers) {
    const report: EventReport = { source: source(), outcome, error: refused?.err }
    reports.publish(report)
  }
  // Cloudflare Workers enable every log, whatever the variable says.
  if (!log.enabled || (env['NODE_DEBUG'] ?? '') === '') return
  const why = refused === undefined ? '' : `: ${refused.err}: ${refused.description}`
  log('%s', `events: ${outcome}${why}`)
}

import { channel } from 'node:diagnostics_channel'

import { type Logger, SeverityNumber } from '@opentelemetry/api'
import type { LoginMessage } from '@portcullis/client'
import type { AuthError, KeysMessage } from '@portcullis/core'
import type { EventReport } from '@portcullis/events'
import type { IntrospectionMessage } from '@portcullis/introspection'
import type { ReplaysMessage, RevocationsMessage } from '@portcullis/redis'
import type { Logger as PinoLogger } from 'pino'

// What is written down: refusals, what happens to keys, and whatever else goes wrong; with pino, or with OpenTelemetry.

type Fields = Readonly<Record<string, string | number | readonly string[] | undefined>>
export type Write = (level: 'info' | 'warn', event: string, fields: Fields) => void

/** Writes down what fails, and each key that came or left. Nothing of a token, no URL and no credential is in it. */
export function logOperations(write: Write): void {
  channel('portcullis:keys').subscribe((message) => {
    const { trigger, outcome, detail, added, removed } = message as KeysMessage
    if (outcome !== 'success') write('warn', 'keys', { trigger, outcome, detail })
    else if (added.length + removed.length > 0) write('info', 'keys', { trigger, added, removed })
  })
  channel('portcullis:revocations').subscribe((message) => {
    const { event, state, reason, detail } = message as RevocationsMessage
    write(state === 'current' ? 'info' : 'warn', 'revocations', { event, state, reason, detail })
  })
  channel('portcullis:replays').subscribe((message) => {
    const { reason, detail } = message as ReplaysMessage
    write('warn', 'replays', { reason, detail })
  })
  channel('portcullis:introspection').subscribe((message) => {
    const { outcome, detail } = message as IntrospectionMessage
    if (detail !== undefined) write('warn', 'introspection', { outcome, detail })
  })
  channel('portcullis:login').subscribe((message) => {
    const { kind, outcome, detail } = message as LoginMessage
    if (outcome !== 'success') write('warn', kind, { outcome, detail })
  })
  channel('portcullis:events').subscribe((message) => {
    const { outcome, error } = message as EventReport
    if (outcome === 'refused' || outcome === 'unavailable')
      write('warn', 'event', { outcome, error })
  })
}

// #region refusals
/** For `onRefusal` of each guard: `authenticate(verifier, { onRefusal: logRefusals(write) })`. */
export function logRefusals(write: Write): (error: AuthError) => void {
  return ({ status, code, reason, detail, numbers }) => {
    // 503 is our problem, everything else the caller's.
    write(status === 503 ? 'warn' : 'info', 'refusal', { code, reason, detail, ...numbers })
  }
}

/**
 * Of each reason so many refusals a minute, and with the next one how many were left out: `logRefusals(sampled(toPino(logger)))`.
 * Metrics count all of them.
 */
export function sampled(write: Write, most = 20, now = () => performance.now() / 1000): Write {
  const minutes = new Map<unknown, { readonly since: number; lines: number }>()
  return (level, event, fields) => {
    // Reasons are a closed list.
    const reason = event === 'refusal' ? fields['reason'] : undefined
    if (reason === undefined) {
      write(level, event, fields)
      return
    }
    let minute = minutes.get(reason)
    const leftOut = (minute?.lines ?? 0) - most
    if (minute === undefined || now() - minute.since >= 60) {
      minute = { since: now(), lines: 0 }
      minutes.set(reason, minute)
      if (leftOut > 0) write('warn', 'refusals_left_out', { reason, count: leftOut })
    }
    minute.lines += 1
    if (minute.lines <= most) write(level, event, fields)
  }
}
// #endregion

/** To pino. */
export function toPino(logger: Pick<PinoLogger, 'info' | 'warn'>): Write {
  return (level, event, fields) => {
    logger[level]({ ...fields, event }, 'portcullis')
  }
}

/** To OpenTelemetry: `toOpenTelemetry(logs.getLogger('portcullis'))`. */
export function toOpenTelemetry(logger: Logger): Write {
  return (level, event, fields) => {
    logger.emit({
      eventName: `portcullis.${event}`,
      severityNumber: level === 'warn' ? SeverityNumber.WARN : SeverityNumber.INFO,
      severityText: level.toUpperCase(),
      body: `portcullis ${event}`,
      attributes: Object.fromEntries(
        Object.entries(fields).flatMap(([name, value]) =>
          value === undefined ? [] : [[`portcullis.${name}`, value]],
        ),
      ),
    })
  }
}

import type { JsonObject, RevocationEntry } from '@portcullis/core'
import { isJsonObject, member, textMember } from '@portcullis/kit/json'

import { invalidEvent, type RefusedEvent } from './refused-event.ts'

// What both kinds of events have in common: who tells it, by which name, of which time, and what it revokes.

/** Whose tokens an event means, or which one: the claim, and its value. */
export interface Whose {
  readonly claim: 'sub' | 'sid' | 'jti'
  readonly value: string
}

export interface ReadEvent {
  readonly err: undefined
  readonly iss: string
  readonly jti: string
  /** The members of `events`: URIs. */
  readonly types: readonly string[]
  /** The names of members that could not be read, and without which it was understood. */
  readonly unreadable: readonly string[]
  /** What has to be recorded; empty for an event that revokes nothing. */
  readonly revokes: readonly RevocationEntry[]
}

export interface EventHead {
  readonly iss: string
  readonly jti: string
  readonly iat: number
  readonly events: JsonObject
  readonly types: readonly string[]
}

/** What every event must have (RFC 8417 section 2.2). The verifier has seen that `iss` and `iat` are right. */
export function readHead(claims: JsonObject): ({ err: undefined } & EventHead) | RefusedEvent {
  const [iss, jti, iat] = [nameIn(claims, 'iss'), nameIn(claims, 'jti'), member(claims, 'iat')]
  const events = member(claims, 'events')
  if (iss === undefined || typeof iat !== 'number') return invalidEvent('iss and iat are required')
  if (!isTimeOfEvent(iat, iat)) return invalidEvent('iat must be a time')
  if (jti === undefined) return invalidEvent('jti must be a text')
  if (!isJsonObject(events)) return invalidEvent('events must be an object')
  const types = Object.keys(events)
  if (types.length === 0) return invalidEvent('events must have a member')
  return { err: undefined, iss, jti, iat, events, types }
}

/** Half of a pair of UTF-16, alone: JSON can write it, and stores of revocations cannot. */
const LONE_SURROGATE = /\p{Cs}/u

/** A member that can name somebody. */
export function nameIn(object: JsonObject, name: string): string | undefined {
  const value = textMember(object, name)
  return value === undefined || value === '' || LONE_SURROGATE.test(value) ? undefined : value
}

/** Seconds: how far an event may lie after its token, as `iat` may be ahead of a clock. */
const TOLERANCE = 60

/** In seconds, and not later than the token of `iat`: a time in the future would end log-ins that come after the event. */
export function isTimeOfEvent(time: unknown, iat: number): time is number {
  return typeof time === 'number' && time >= 0 && time <= iat + TOLERANCE
}

/** Seconds: so long after its `exp` a token may still be accepted. */
const CLOCK_TOLERANCE = 600

/**
 * A time in whole seconds stands for all of its second, as `iat` does: a token that was issued in it, before the event, must not remain.
 *
 * @param maxTokenLifetime Seconds. The entry is not needed any longer, once all those tokens have expired.
 */
export function entryFor(
  iss: string,
  { claim, value }: Whose,
  { time, iat }: { readonly time: number; readonly iat: number },
  maxTokenLifetime: number | undefined,
): RevocationEntry {
  const end = Number.isInteger(time) ? time + 1 : time
  if (claim === 'jti') {
    // Whoever names a token knows it: it may be younger than what has happened, but not than what tells of it.
    const issuedUntil = Math.max(end, iat + 1)
    const exp = maxTokenLifetime === undefined ? {} : { exp: issuedUntil + maxTokenLifetime }
    return { type: 'token', iss, jti: value, ...exp }
  }
  const until =
    maxTokenLifetime === undefined ? {} : { until: end + maxTokenLifetime + CLOCK_TOLERANCE }
  const whose = claim === 'sub' ? { sub: value } : { sid: value }
  return { type: 'issued_before', iss, ...whose, time: end, ...until }
}

import type { JsonObject, RevocationEntry } from '@portcullis/core'
import { isJsonObject, member } from '@portcullis/core/verifier'

import { type About, findEventType, type RevokingEvent } from './event-types.ts'
import type { ReadingRules } from './read-logout.ts'
import { entryFor, isTimeOfEvent, type ReadEvent, readHead, type Whose } from './reading.ts'
import { invalidEvent, type RefusedEvent } from './refused-event.ts'
import { whoseOf } from './subject-identifier.ts'

// What a security event token of the Shared Signals Framework says, once a key has proven it.

/** An event that ends access, before it is known whose. */
interface Cut {
  readonly about: About
  /** Of the event: seconds since 1970-01-01T00:00:00Z. */
  readonly time: number
}

/** A security event token that was understood, but for its subject. */
export interface SecurityEvent extends Omit<ReadEvent, 'revokes'> {
  /** Empty for what revokes nothing: then the subject does not matter. */
  readonly cuts: readonly Cut[]
  /** Of its token. */
  readonly iat: number
  readonly subject: JsonObject
}

const NOBODY: JsonObject = Object.freeze({})

/**
 * What the claims of a security event token tell.
 *
 * @param revokeOn The events that end access. All others are understood, and revoke nothing.
 * @see RFC 8417 section 2.2; OpenID Shared Signals Framework 1.0 section 4
 */
export function readSecurityEvent(
  claims: JsonObject,
  revokeOn: readonly RevokingEvent[],
): SecurityEvent | RefusedEvent {
  const head = readHead(claims)
  if (head.err !== undefined) return head
  const { iss, jti, iat, events, types } = head
  // What tokens about access have. An event with it could be taken for one of these elsewhere.
  if (Object.hasOwn(claims, 'exp')) return invalidEvent('exp is forbidden')
  if (Object.hasOwn(claims, 'sub')) return invalidEvent('sub is forbidden: use sub_id')
  if (!types.every((type) => isJsonObject(events[type]))) {
    return invalidEvent('Each member of events must be an object')
  }
  const cuts: Cut[] = []
  for (const type of types) {
    const known = findEventType(type)
    if (known === undefined || !revokeOn.includes(known.name)) continue
    const time = timeOf(events[type], claims, iat)
    if (!isTimeOfEvent(time, iat)) {
      return invalidEvent('The time of the event must be in seconds, and not after iat')
    }
    cuts.push({ about: known.about, time })
  }
  const subject = member(claims, 'sub_id')
  if (cuts.length > 0 && !isJsonObject(subject)) return invalidEvent('sub_id must be an object')
  return {
    err: undefined,
    iss,
    jti,
    types,
    cuts,
    iat,
    subject: isJsonObject(subject) ? subject : NOBODY,
  }
}

/** When it happened: as the event says (CAEP 1.0 section 2), else as its token says (RFC 8417 section 2.2). */
function timeOf(event: unknown, claims: JsonObject, iat: number): unknown {
  const stated = isJsonObject(event) ? member(event, 'event_timestamp') : undefined
  return stated ?? member(claims, 'toe') ?? iat
}

/** Of another issuer, perhaps. */
export interface MappedWhose extends Whose {
  readonly iss: string | undefined
}

/** @param mapped Whom the application says that the subject is, if it knows. */
export function entriesOf(
  { iss, jti, types, cuts, iat, subject }: SecurityEvent,
  { revokes, maxTokenLifetime }: ReadingRules,
  mapped: MappedWhose | undefined,
): ReadEvent | RefusedEvent {
  const entries: RevocationEntry[] = []
  for (const { about, time } of cuts) {
    const whose = mapped ?? whoseOf(subject, { iss, about, revokes })
    if (whose === undefined) {
      return invalidEvent(
        revokes === 'session'
          ? 'sub_id names no session and no user that is known here'
          : 'sub_id names no user that is known here',
      )
    }
    entries.push(entryFor(mapped?.iss ?? iss, whose, { time, iat }, maxTokenLifetime))
  }
  return { err: undefined, iss, jti, types, revokes: entries }
}

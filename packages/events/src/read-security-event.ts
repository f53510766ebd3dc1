import type { JsonObject, RevocationEntry } from '@portcullis/core'
import { isJsonObject, member } from '@portcullis/kit/json'

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
  /** Of the token, or of this event alone. */
  readonly subject: JsonObject
  /** The types of the events that have this subject: URIs. */
  readonly types: readonly string[]
}

export interface SecurityEvent extends Omit<ReadEvent, 'revokes'> {
  /** Empty for what revokes nothing: then the subject does not matter. */
  readonly cuts: readonly Cut[]
  readonly iat: number
}

/**
 * What is proven and cannot be read in one detail still revokes: in place of a time that is none counts that of the token, which is later.
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
  const shared = member(claims, 'sub_id')
  const cuts: Cut[] = []
  const unreadable = new Set<string>()
  for (const type of types) {
    const known = findEventType(type)
    if (known === undefined || !revokeOn.includes(known.name)) continue
    const event = events[type]
    if (!isJsonObject(event)) return invalidEvent('An event that revokes must be an object')
    const { time, wrong } = timeOf(event, claims, iat)
    if (wrong !== undefined) unreadable.add(wrong)
    // Within the event: drafts of SSF and RISC, as Okta and Google send it.
    const subject = shared ?? member(event, 'subject')
    if (!isJsonObject(subject)) return invalidEvent('sub_id must be an object')
    cuts.push({ about: known.about, time, subject, types: shared === undefined ? [type] : types })
  }
  return { err: undefined, iss, jti, types, unreadable: [...unreadable], cuts, iat }
}

/**
 * When it happened: as the event says (CAEP 1.0 section 2), else as its token says (RFC 8417 section 2.2). Milliseconds, a text or
 * a time to come are none (`wrong` is its name): then all ends that was issued until the token was.
 */
function timeOf(
  event: JsonObject,
  claims: JsonObject,
  iat: number,
): { readonly time: number; readonly wrong: string | undefined } {
  const stamp = member(event, 'event_timestamp')
  const [name, stated] =
    stamp === undefined ? ['toe', member(claims, 'toe')] : ['event_timestamp', stamp]
  if (stated === undefined) return { time: iat, wrong: undefined }
  return isTimeOfEvent(stated, iat)
    ? { time: stated, wrong: undefined }
    : { time: iat, wrong: name }
}

/** Of another issuer, perhaps. */
export interface MappedWhose extends Whose {
  readonly iss: string | undefined
}

/** @param mapped Whom the application says that a subject is, if it knows. */
export function entriesOf(
  { iss, jti, types, unreadable, cuts, iat }: SecurityEvent,
  { revokes, maxTokenLifetime }: ReadingRules,
  mapped: ReadonlyMap<JsonObject, MappedWhose | undefined>,
): ReadEvent | RefusedEvent {
  const entries: RevocationEntry[] = []
  for (const { about, time, subject } of cuts) {
    const stated = mapped.get(subject)
    const whose = stated ?? whoseOf(subject, { iss, about, revokes })
    if (whose === undefined) {
      return invalidEvent(
        revokes === 'session'
          ? 'The subject names no session and no user that is known here'
          : 'The subject names no user that is known here',
      )
    }
    entries.push(entryFor(stated?.iss ?? iss, whose, { time, iat }, maxTokenLifetime))
  }
  return { err: undefined, iss, jti, types, unreadable, revokes: entries }
}

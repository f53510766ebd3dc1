import type { JsonObject } from '@portcullis/core'
import { isJsonObject, member, parseUnambiguousObject } from '@portcullis/kit/json'
import { isInSeconds } from '@portcullis/kit/time'

import type { SecurityEvent } from './read-security-event.ts'
import { isTimeOfEvent, nameIn } from './reading.ts'
import { invalidEvent, type RefusedEvent } from './refused-event.ts'

// What a notification of Sign in with Apple says, once a key has proven it. It is no security event token of RFC 8417: `events` is one
// event, most often as the text of an object, its type is a word, and its time is in milliseconds.

export const APPLE = 'https://appleid.apple.com'

/** The documents have `account-deleted`, and what arrives `account-delete`. */
const REVOKING: ReadonlySet<string> = new Set([
  'consent-revoked',
  'account-delete',
  'account-deleted',
])

/** @see https://developer.apple.com/documentation/signinwithapple/processing-changes-for-sign-in-with-apple-accounts */
export function readAppleEvent(claims: JsonObject): SecurityEvent | RefusedEvent {
  const [iss, jti, iat] = [nameIn(claims, 'iss'), nameIn(claims, 'jti'), member(claims, 'iat')]
  if (iss === undefined || typeof iat !== 'number') return invalidEvent('iss and iat are required')
  if (!isTimeOfEvent(iat, iat)) return invalidEvent('iat must be a time')
  if (jti === undefined) return invalidEvent('jti must be a text')
  // What an identity token has, which the same keys sign for the same client.
  if (Object.hasOwn(claims, 'sub')) return invalidEvent('sub is forbidden beside events')
  const event = eventIn(member(claims, 'events'))
  if (event === undefined) return invalidEvent('events must be an object, or the text of one')
  const type = nameIn(event, 'type')
  if (type === undefined) return invalidEvent('The event must have a type')
  const head = { err: undefined, iss, jti, iat, types: [type] } as const
  if (!REVOKING.has(type)) return { ...head, unreadable: [], cuts: [] }
  const sub = nameIn(event, 'sub')
  if (sub === undefined) return invalidEvent('An event that revokes must have a sub')
  const time = timeIn(member(event, 'event_time'), iat)
  const subject = Object.freeze({ format: 'iss_sub', iss, sub })
  const cut = { about: 'account', time: time ?? iat, subject, types: [type] } as const
  return { ...head, unreadable: time === undefined ? ['event_time'] : [], cuts: [cut] }
}

function eventIn(events: unknown): JsonObject | undefined {
  if (typeof events === 'string') return parseUnambiguousObject(Buffer.from(events))
  return isJsonObject(events) ? events : undefined
}

/** Milliseconds, or seconds as in the documents; if it is missing, the time of the token. `undefined`: it is none of these. */
function timeIn(stated: unknown, iat: number): number | undefined {
  if (stated === undefined) return iat
  if (typeof stated !== 'number') return undefined
  const time = isInSeconds(stated) ? stated : stated / 1000
  return isTimeOfEvent(time, iat) ? time : undefined
}

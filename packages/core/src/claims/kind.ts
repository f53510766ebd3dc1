import { isJsonObject, type JsonObject, member } from '@portcullis/kit/json'

import { AuthError } from '../refusal/errors.ts'
import { type AcceptedTypes, otherType, securityEvent } from './details.ts'

// What kind of token it is, by `typ` of its header and by `events` among its claims.

/**
 * The header's `typ`, in any case and with or without `application/`. @throws AuthError `type`
 *
 * @param types What is accepted; `undefined` for everything that does not name another kind of token.
 * @see RFC 7515 section 4.1.9; RFC 8725 section 3.11; RFC 9068 section 4
 */
export function checkType(typ: string | undefined, types: AcceptedTypes | undefined): void {
  if (!isOfType(typ, types)) throw new AuthError('invalid_token', 'type', otherType(typ, types))
}

export function isOfType(typ: string | undefined, types: AcceptedTypes | undefined): boolean {
  if (types === undefined) return typ === undefined || !namesAnotherKind(typ)
  if (typ === undefined) return types.includes(null)
  return types.some((each) => each !== null && mediaType(typ) === mediaType(each))
}

/** Other tokens that the same keys sign say so with a suffix: `logout+jwt`, `dpop+jwt`, `vc+sd-jwt`. The access token's own is `at+jwt`. */
function namesAnotherKind(typ: string): boolean {
  if (!typ.includes('+')) return false
  const [type = ''] = mediaType(typ).split(';')
  return /\+[^+]*jwt$/.test(type.trim()) && type.trim() !== 'at+jwt'
}

/** Only the letters of ASCII: `toLowerCase` would also turn the Kelvin sign (U+212A) into a k. */
function mediaType(type: string): string {
  return type.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()).replace(/^application\//, '')
}

/**
 * Whether a kind was stated (`types`) and the token names it, once its `typ` is accepted. `JWT` and `JOSE` name none: RFC 7519
 * section 5.1; RFC 7515 section 4.1.9.
 */
export function statesKind(typ: string | undefined, types: AcceptedTypes | undefined): boolean {
  return types !== undefined && typ !== undefined && !['jwt', 'jose'].includes(mediaType(typ))
}

/**
 * Issuers sign events with the same keys, some without a type: a log-out token would give access where its client is the audience.
 *
 * @throws AuthError `type` for a security event
 * @see RFC 8417 section 2.2; OpenID Connect Back-Channel Logout 1.0 section 2.4
 */
export function checkKind(claims: JsonObject, isKindStated: boolean): void {
  if (!isKindStated && hasEvent(claims)) {
    throw new AuthError('invalid_token', 'type', securityEvent)
  }
}

/** The name of an event is a URI, and its value an object. Access tokens may have `events` of another form. */
function hasEvent(claims: JsonObject): boolean {
  const events = member(claims, 'events')
  return (
    isJsonObject(events) &&
    Object.keys(events).some((name) => EVENT_NAME.test(name) && isJsonObject(events[name]))
  )
}

const EVENT_NAME = /^(?:https?:\/\/|urn:)/

import type { Auth } from './auth.ts'
import { decodeBase64url } from './base64url.ts'
import { isJsonObject, type JsonObject, member, parseJsonObject } from './json.ts'

/**
 * When a token expires: to tell a client until when its connection lasts, or to keep nothing for longer.
 *
 * Does NOT know of revocations, nor of keys that are withdrawn: `watchToken` does.
 *
 * @param auth What the verifier has returned. A schema may have taken `exp` away, so it is read from the token itself.
 * @returns The `exp`, in seconds since 1970-01-01T00:00:00Z; `Infinity` for a token that never expires.
 */
export function expiry(auth: Auth<unknown>): number {
  const exp = member(signedClaims(auth), 'exp')
  return typeof exp === 'number' && Number.isFinite(exp) ? exp : Infinity
}

/** The claims as they were signed, whatever a schema made of them; those of the `Auth` where its token is none, as that of a stub. */
export function signedClaims({ claims, token }: Auth<unknown>): JsonObject {
  const octets = decodeBase64url(token.split('.')[1] ?? '')
  const signed = octets === undefined ? undefined : parseJsonObject(octets)
  return signed ?? (isJsonObject(claims) ? claims : {})
}

import type { Auth } from './auth.ts'
import { decodeBase64url } from './base64url.ts'
import { isJsonObject, type JsonObject, member, parseJsonObject } from './json.ts'

/**
 * When a token expires. You can tell the client until when its connection lasts.
 *
 * Does NOT know of revocations and withdrawn keys: use `watchToken` for these.
 *
 * @param auth What the verifier has returned. `exp` is read from the signed token, because a schema may have removed it.
 * @returns The `exp`, in seconds since 1970-01-01T00:00:00Z; `Infinity` for a token without one.
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

import { LRUCache } from 'lru-cache'

import { decodeBase64url } from './base64url.ts'
import { AuthError } from './errors.ts'
import { type JsonObject, member, parseJsonObject } from './json.ts'

/** Frozen, so that it can be handed on once it is proven. */
interface ParsedHeader extends JsonObject {
  readonly kid?: string | null
  readonly typ?: string | null
}

/** A token whose form is right and of which nothing is proven: hence no claims, only the octets that may hold them. */
export interface ParsedToken {
  readonly header: ParsedHeader
  readonly payload: Buffer
  /** The octets that the signature covers. */
  readonly signingInput: Buffer
  readonly signature: Buffer
}

/** Headers read before, by their encoded form: a service sees a handful. */
export type HeaderCache = LRUCache<string, ParsedHeader>

/** Bounded in octets by the size of a token. */
export function createHeaderCache(): HeaderCache {
  return new LRUCache({ max: 8 })
}

/**
 * Takes a compact JWS apart.
 *
 * Does NOT look at the payload, and proves nothing.
 *
 * @param maxSize Octets, which are characters here.
 * @throws AuthError `too_large`, `malformed` or `critical_header`
 * @see RFC 7515 sections 4.1.11, 5.2 and 7.1; RFC 7797 section 7
 */
export function parseToken(
  token: string,
  maxSize: number,
  headers: HeaderCache = createHeaderCache(),
): ParsedToken {
  // Before anything that reads the text: what follows costs time in proportion to it.
  if (token.length > maxSize) throw new AuthError('invalid_token', 'too_large')
  const first = token.indexOf('.')
  const second = token.indexOf('.', first + 1)
  // Without a first dot there is no second.
  if (second === -1) throw malformed()
  const encodedHeader = token.slice(0, first)
  const payload = decodeBase64url(token.slice(first + 1, second))
  // A third dot, as in a JWE, is outside the alphabet, and an empty segment, as in an unsecured JWS, is no octets.
  const signature = decodeBase64url(token.slice(second + 1))
  if (payload === undefined || signature === undefined) throw malformed()
  const header = headers.get(encodedHeader) ?? parseHeader(encodedHeader, headers)
  return { header, payload, signingInput: Buffer.from(token.slice(0, second)), signature }
}

function parseHeader(encodedHeader: string, headers: HeaderCache): ParsedHeader {
  const octets = decodeBase64url(encodedHeader)
  const header = octets && parseJsonObject(octets)
  if (header === undefined) throw malformed()
  // No extension is understood, so naming one makes the token invalid; a payload that is not base64url does so unnamed.
  if (Object.hasOwn(header, 'crit') || member(header, 'b64') === false) {
    throw new AuthError('invalid_token', 'critical_header')
  }
  if (!isTextOrAbsent(header, 'kid') || !isTextOrAbsent(header, 'typ')) throw malformed()
  headers.set(encodedHeader, header)
  return header
}

/** One that is `null`, as some services write it, is absent. */
function isTextOrAbsent(header: JsonObject, name: string): boolean {
  const value = member(header, name) ?? undefined
  return value === undefined || typeof value === 'string'
}

function malformed(): AuthError {
  return new AuthError('invalid_token', 'malformed')
}

import { type JsonObject, member, parseJsonObject } from '@portcullis/kit/json'
import { noOptions } from '@portcullis/kit/options'
import { LRUCache } from 'lru-cache'

import { decodeBase64url } from '../ground/base64url.ts'
import { isLikeEncodedObject } from '../ground/encoded-object.ts'
import { AuthError } from '../refusal/errors.ts'
import type { Detail } from '../refusal/text.ts'
import {
  criticalHeader,
  malformed,
  notText,
  notTextMember,
  tooLarge,
  unreadableHeader,
} from './details.ts'

// Step 2 of the verifier: from a text to a header and a payload that nobody has read yet.

/** Frozen: when the token is proven, the application gets this very object. */
interface ParsedHeader extends JsonObject {
  readonly kid?: string | null
  readonly typ?: string | null
}

/** A token of the right form. Nothing of it is proven, so it has no claims, only the octets that may contain them. */
export interface ParsedToken {
  readonly header: ParsedHeader
  readonly payload: Buffer
  readonly signingInput: Buffer
  readonly signature: Buffer
}

/** Headers that were read before, by their encoded form. One issuer writes only a few different ones. */
export interface HeaderCache {
  readonly known: LRUCache<string, ParsedHeader>
  /** The last one that was looked up: to compare a text costs less than to hash it. */
  last: { readonly encoded: string; readonly header: ParsedHeader } | undefined
}

/** Bounded in octets too, because a header is never longer than a token. */
export function createHeaderCache(
  known: HeaderCache['known'] = new LRUCache({ max: 8 }),
): HeaderCache {
  return { known, last: undefined }
}

/**
 * Takes a compact JWS apart. Does NOT look at the payload, and proves nothing. @param maxSize Octets, which are characters here.
 *
 * @throws AuthError `too_large`, `malformed` or `critical_header`
 * @see RFC 7515 sections 4.1.11, 5.2 and 7.1; RFC 7797 section 7
 */
export function parseToken(
  token: string,
  maxSize: number,
  headers: HeaderCache = createHeaderCache(),
): ParsedToken {
  checkSize(token, maxSize)
  const first = token.indexOf('.')
  const second = token.indexOf('.', first + 1)
  // If there is no first dot, this finds none either.
  if (second === -1) throw notToken(malformed(token, first === -1 ? 0 : 1))
  const payload = decodeBase64url(token.slice(first + 1, second))
  // This refuses a third dot (a JWE has four), which is not of the alphabet, and an empty signature (an unsecured JWS).
  const signature = decodeBase64url(token.slice(second + 1))
  if (payload === undefined || signature === undefined) throw notToken(malformed(token, 2))
  const header = findHeader(token, first, headers) ?? readHeader(token.slice(0, first), headers)
  // Each part is base64url, so it is ASCII.
  return { header, payload, signingInput: Buffer.from(token.slice(0, second), 'latin1'), signature }
}

/** A caller without types may pass anything. @throws AuthError `malformed` */
export function checkText(token: unknown): asserts token is string {
  if (typeof token !== 'string') throw notToken(notText(token))
}

/** First, because the time of all that follows grows with the length. @throws AuthError `too_large` */
export function checkSize({ length }: string, maxSize: number): void {
  if (length > maxSize) {
    throw new AuthError('invalid_token', 'too_large', tooLarge(length, maxSize))
  }
}

/**
 * Whether a token begins as a JWT does: with something that any reader might take for the base64url of a JSON object, and a dot
 * behind it. Read leniently, so that a JWT which is written in a way that a strict reader refuses does not count as opaque.
 */
export function isLikeJwt(token: string): boolean {
  const dot = token.indexOf('.')
  return dot !== -1 && isLikeEncodedObject(token.slice(0, dot))
}

/** If it is the last one. @param length Of the first part, behind which there is a dot. */
function findHeader(
  token: string,
  length: number,
  { last }: HeaderCache,
): ParsedHeader | undefined {
  return last?.encoded.length === length && token.startsWith(last.encoded) ? last.header : undefined
}

function readHeader(encoded: string, headers: HeaderCache): ParsedHeader {
  let header = headers.known.get(encoded, noOptions())
  if (header === undefined) {
    header = parseHeader(encoded)
    headers.known.set(encoded, header, noOptions())
  }
  headers.last = { encoded, header }
  return header
}

function parseHeader(encodedHeader: string): ParsedHeader {
  const octets = decodeBase64url(encodedHeader)
  const header = octets && parseJsonObject(octets)
  if (header === undefined) throw notToken(unreadableHeader(encodedHeader))
  // No extension is supported, so a token that names one is invalid. `b64: false` is one that may come without a name.
  if (Object.hasOwn(header, 'crit') || member(header, 'b64') === false) {
    throw new AuthError('invalid_token', 'critical_header', criticalHeader(member(header, 'crit')))
  }
  checkTextMember(header, 'kid')
  checkTextMember(header, 'typ')
  return header
}

/** One that is `null`, as some services write it, is absent. */
function checkTextMember(header: JsonObject, name: 'kid' | 'typ'): void {
  const value = member(header, name) ?? undefined
  if (value !== undefined && typeof value !== 'string') throw notToken(notTextMember(name, value))
}

function notToken(detail: Detail): AuthError {
  return new AuthError('invalid_token', 'malformed', detail)
}

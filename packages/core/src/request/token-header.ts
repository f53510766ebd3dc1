import { type OptionCheck, ownMembers } from '@portcullis/kit/options'

import { AuthError } from '../refusal/errors.ts'
import {
  type FetchRequest,
  hasGet,
  isPreflight,
  isSpelledOtherwise,
  isRepeated,
  isToken,
  type MayBeToken,
  type RequestHeaders,
  textAfterBearer,
} from './bearer.ts'
import {
  malformedTokenHeader,
  missingTokenHeader,
  noTextInTokenHeader,
  repeatedTokenHeader,
} from './details.ts'

// Step 1 of a guard whose token comes in a stated header in place of `Authorization`, as some proxies send it.

/** The header that a guard reads in place of `Authorization`. */
export interface TokenHeader {
  /** Its name, in any case. A header with another meaning, such as `Cookie` or `Host`, is refused at start-up. */
  header: string
  /**
   * What comes before the token and a space. Left out, the value is the token itself.
   * @default undefined
   */
  scheme?: 'Bearer' | undefined
}

/** RFC 9110 section 5.6.2, with a bound. */
const NAME = /^[\w!#$%&'*+.^`|~-]{1,100}$/
/** Headers that mean something else: to take a token from there would let a client, a browser or a log pass it on unasked. */
const TAKEN: ReadonlySet<string> = new Set(
  [
    'connection content-length content-type cookie dpop expect host keep-alive origin',
    'proxy-authorization referer sec-websocket-protocol set-cookie te trailer',
    'transfer-encoding upgrade user-agent',
  ].flatMap((names) => names.split(' ')),
)

export const isTokenHeader: OptionCheck = (value) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return "must be an object: { header: 'the-name' }"
  }
  const { header, scheme, ...others } = ownMembers<Record<string, unknown>>({ ...value })
  if (Object.keys(others).length > 0) return 'may have the members header and scheme only'
  if (typeof header !== 'string' || !NAME.test(header)) {
    return 'must have a member header: the name of a header'
  }
  const name = header.toLowerCase()
  if (name === 'authorization') return 'is for other headers: leave it out to read Authorization'
  if (TAKEN.has(name) || Object.hasOwn(Object.prototype, name)) {
    return 'must name a header that is there for the token alone'
  }
  return scheme === undefined || scheme === 'Bearer'
    ? undefined
    : "must have 'Bearer' as scheme, or none where the value is the token itself"
}

export function frozenTokenHeader(given: TokenHeader): TokenHeader {
  const { header, scheme } = ownMembers(given)
  return Object.freeze(ownMembers({ header: header.toLowerCase(), scheme }))
}

/**
 * Finds the token in the stated header, and nowhere else.
 *
 * @throws AuthError `missing_token` without it; `invalid_request` if repeated, also joined by a comma, or no text; else `invalid_token`.
 */
export function parseTokenHeader(
  request: RequestHeaders | FetchRequest,
  { header, scheme }: TokenHeader,
  mayBeToken?: MayBeToken,
): string {
  const value = valueOf(request, header)
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  const [text] = list
  if (isSentTwice(request, header) || list.length > 1 || isJoined(text)) {
    throw new AuthError('invalid_request', 'repeated_credentials', repeatedTokenHeader(header))
  }
  if (text === undefined) {
    const isOtherwise = isSpelledOtherwise(request, header)
    const detail = missingTokenHeader(header, isPreflight(request), isOtherwise)
    throw new AuthError('missing_token', 'missing_header', detail)
  }
  if (typeof text !== 'string') {
    throw new AuthError('invalid_request', 'repeated_credentials', noTextInTokenHeader(header))
  }
  const token = tokenIn(text, scheme)
  if (token === undefined || !isToken(token, mayBeToken)) {
    throw new AuthError('invalid_token', 'malformed', malformedTokenHeader(header, scheme))
  }
  return token
}

/** The text in the place of the token, only good for comparing it with tokens that are known. See `findBearerText`. */
export function findTokenText(
  request: RequestHeaders | FetchRequest,
  { header, scheme }: TokenHeader,
): string | undefined {
  if (isSentTwice(request, header)) return undefined
  const value = valueOf(request, header)
  return typeof value === 'string' ? tokenIn(value, scheme) : undefined
}

function tokenIn(value: string, scheme: 'Bearer' | undefined): string | undefined {
  return scheme === undefined ? value : textAfterBearer(value)
}

/** `Headers`, and Node for most names, join the values of a repeated header. No token has a comma. */
function isJoined(value: unknown): boolean {
  return typeof value === 'string' && value.includes(',')
}

function isSentTwice(request: RequestHeaders | FetchRequest, header: string): boolean {
  return isRepeated(Reflect.get(request, 'rawHeaders'), header)
}

function valueOf({ headers }: RequestHeaders | FetchRequest, header: string): unknown {
  if (hasGet(headers)) return headers.get(header) ?? undefined
  return Object.hasOwn(headers, header) ? Reflect.get(headers, header) : undefined
}

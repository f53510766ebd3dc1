import { own } from '@portcullis/kit/options'

import { AuthError } from '../refusal/errors.ts'
import type { Scheme } from '../refusal/presentation.ts'
import type { Detail } from '../refusal/text.ts'
import {
  joinedHeader,
  malformedHeader,
  missingHeader,
  noTextInHeader,
  otherScheme,
  preflight,
  repeatedHeader,
  repeatedProof,
} from './details.ts'

// Step 1 of a guard: finds the token in the `Authorization` header, and the proof in `DPoP`, and nowhere else.

/** The parts of a request that can carry a token, as `node:http`, `node:http2` and their mocks have them. */
export interface RequestHeaders {
  /** Names and values as they were received, alternately. Some mocks and serverless adapters leave it empty or out. */
  readonly rawHeaders?: readonly string[] | undefined
  readonly headers: {
    readonly authorization?: string | readonly string[] | undefined
    readonly dpop?: string | readonly string[] | undefined
  }
}

/** A request with headers that have a method `get`, such as a `Request` of the Fetch standard. */
export interface FetchRequest {
  readonly headers: {
    /** The values of one header, joined by commas if it came more than once. */
    get(name: string): string | null
  }
}

/** RFC 9110 section 5.6.2. */
const SCHEME = /^[\w!#$%&'*+.^`|~-]+$/
/** RFC 6750 section 2.1. */
const B64TOKEN = /^[\w.~+/-]+=*$/
/** What no token of any form has: what separates values, parameters and headers, and whatever is not printable ASCII. */
const SEPARATING = /[^!-~]|[",';]/
/** A scheme that presents a token, behind a comma: two headers that somebody has joined, or quoted text that looks so. */
const JOINED = /,\s*(?:bearer|dpop)(?![\w!#$%&'*+.^`|~=-])/i
/** Behind a comma: nothing, or a word that can be a scheme. Members of JSON and parameters are none. */
const LISTED = /,\s*(?:$|,|[\w!#$%&'*+.^`|~-]+(?:\s|,|$))/
const PREFLIGHT = 'access-control-request-method'
const SPACE = 0x20
const NAME = 'authorization'
const PROOF = 'dpop'
/** As nearly all clients write it. */
const BEARER = 'Bearer '

/**
 * Finds the token: in the one `Authorization` header, nowhere else. RFC 6750 sections 2.1 and 3.1
 *
 * The value is the own member `headers.authorization`, or what `headers.get` answers, as middleware has left it; `rawHeaders` only tells
 * of repetition. Of several that `Headers` or a proxy has joined, a second token is still refused.
 *
 * @throws AuthError `missing_token` without a header and for another scheme; `invalid_request` for a repeated header, also
 *   joined by a comma, and for a value that is no text; `invalid_token` for anything else but one token after `Bearer`.
 */
export function parseBearer(
  request: RequestHeaders | FetchRequest,
  mayBeToken?: MayBeToken,
): string {
  return parseCredentials(request, BEARER_ALONE, mayBeToken).token
}

/** Whether a verifier takes a text for a token that is no b64token. Missing where it takes none. */
export type MayBeToken = ((text: string) => boolean) | undefined

/** Whether a text can be a token at all. RFC 6750 section 2.1, or the form that a verifier states. */
export function isToken(text: string, mayBeToken: MayBeToken): boolean {
  if (B64TOKEN.test(text)) return true
  return mayBeToken !== undefined && text !== '' && !SEPARATING.test(text) && mayBeToken(text)
}

export interface Credentials {
  readonly scheme: Scheme
  readonly token: string
}

const BEARER_ALONE: ReadonlyMap<string, Scheme> = new Map([['bearer', 'Bearer']])
const BOTH: ReadonlyMap<string, Scheme> = new Map([...BEARER_ALONE, ['dpop', 'DPoP']])

/** As {@link parseBearer}, for both schemes. RFC 9449 section 7.1 */
export function parseBearerOrDpop(
  request: RequestHeaders | FetchRequest,
  mayBeToken?: MayBeToken,
): Credentials {
  return parseCredentials(request, BOTH, mayBeToken)
}

function parseCredentials(
  request: RequestHeaders | FetchRequest,
  schemes: ReadonlyMap<string, Scheme>,
  mayBeToken: MayBeToken,
): Credentials {
  const value = authorizationOf(request)
  if (value === undefined) {
    const detail = isPreflight(request)
      ? preflight
      : missingHeader(isSpelledOtherwise(request, NAME))
    throw new AuthError('missing_token', 'missing_header', detail)
  }
  // Middleware, a mock or a serverless adapter may have put anything there.
  if (typeof value !== 'string') throw repeated(noTextInHeader)
  const space = value.indexOf(' ')
  const word = space === -1 ? value : value.slice(0, space)
  const name = word.toLowerCase()
  const scheme = schemes.get(name)
  if (scheme !== undefined) {
    const token = withoutSpaces(value, word.length)
    if (isToken(token, mayBeToken)) return { scheme, token }
    throw isList(value) ? repeated(joinedHeader) : malformed(value, token, scheme)
  }
  if (SCHEME.test(word) && !JOINED.test(value)) {
    throw new AuthError(
      'missing_token',
      'other_scheme',
      otherScheme(value, name, [...schemes.values()]),
    )
  }
  throw isList(value) ? repeated(joinedHeader) : malformed(value)
}

/** The scheme that a request most likely uses, to answer it in that one. */
export function schemeOf(request: RequestHeaders | FetchRequest): Scheme {
  const value = valueOf(request)
  const first: unknown = Array.isArray(value) ? value[0] : value
  return typeof first === 'string' && /^dpop(?: |$)/i.test(first) ? 'DPoP' : 'Bearer'
}

/** The one `DPoP` header (RFC 9449 section 4.3). @throws AuthError `invalid_request` for several: joined ones have a comma. */
export function findProof(request: RequestHeaders | FetchRequest): unknown {
  if (isRepeated(Reflect.get(request, 'rawHeaders'), PROOF)) throw repeated(repeatedProof)
  const { headers } = request
  const value = hasGet(headers) ? (headers.get(PROOF) ?? undefined) : own(headers, PROOF)
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  const [proof] = list
  if (list.length > 1 || (typeof proof === 'string' && proof.includes(','))) {
    throw repeated(repeatedProof)
  }
  return proof
}

/** The text behind `Bearer `, only good for comparing it with known tokens. `undefined` where {@link parseBearer} has to look closer. */
export function findBearerText(request: RequestHeaders | FetchRequest): string | undefined {
  if (isRepeated(Reflect.get(request, 'rawHeaders'), NAME)) return undefined
  const value = valueOf(request)
  return typeof value === 'string' ? textAfterBearer(value) : undefined
}

export function textAfterBearer(value: string): string | undefined {
  return value.startsWith(BEARER) ? value.slice(BEARER.length) : undefined
}

function authorizationOf(request: RequestHeaders | FetchRequest): unknown {
  if (isRepeated(Reflect.get(request, 'rawHeaders'), NAME)) throw repeated(repeatedHeader)
  const { headers } = request
  const value = valueOf(request)
  if (!Array.isArray(value) || hasGet(headers)) return value
  if (value.length > 1) throw repeated(repeatedHeader)
  return value[0]
}

function valueOf({ headers }: RequestHeaders | FetchRequest): unknown {
  if (hasGet(headers)) return headers.get('authorization') ?? undefined
  return own(headers, 'authorization')
}

/** This chooses words for developers and nothing else. https://fetch.spec.whatwg.org/#cors-preflight-fetch-0 */
export function isPreflight({ headers }: RequestHeaders | FetchRequest): boolean {
  return hasGet(headers) ? headers.get(PREFLIGHT) !== null : Object.hasOwn(headers, PREFLIGHT)
}

/** Whether an object of headers has one under another spelling, as an event of API Gateway has it. This chooses words alone. */
export function isSpelledOtherwise(
  { headers }: RequestHeaders | FetchRequest,
  name: string,
): boolean {
  if (hasGet(headers)) return false
  return Object.keys(headers).some((each) => each !== name && each.toLowerCase() === name)
}

/** A method `get` of their own or of their class. One of `Object.prototype`, the end of every chain, is somebody's pollution. */
export function hasGet(
  headers: RequestHeaders['headers'] | FetchRequest['headers'],
): headers is FetchRequest['headers'] {
  if (typeof Reflect.get(headers, 'get') !== 'function') return false
  let owner: object | null = headers
  while (owner !== null && !Object.hasOwn(owner, 'get')) {
    owner = Object.getPrototypeOf(owner) as object | null // never anything else
  }
  // A proxy answers for a method that nothing in the chain has.
  return owner === null || Object.getPrototypeOf(owner) !== null
}

/** Node shows only the first of several `Authorization` headers in `headers`. */
export function isRepeated(rawHeaders: unknown, header: string): boolean {
  if (!Array.isArray(rawHeaders)) return false
  let count = 0
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name: unknown = rawHeaders[at]
    if (typeof name !== 'string' || name.length !== header.length) continue
    if (name.toLowerCase() === header) count += 1
  }
  return count > 1
}

function isList(value: string): boolean {
  return JOINED.test(value) || LISTED.test(value)
}

/** Clients get another token after 401, and give up after 400: that is for what nobody can read in one way. */
function malformed(value: string, token?: string, scheme?: Scheme): AuthError {
  return new AuthError('invalid_token', 'malformed', malformedHeader(value, token, scheme))
}

function repeated(detail: Detail): AuthError {
  return new AuthError('invalid_request', 'repeated_header', detail)
}

/** The rest of a value after its spaces. RFC 6750 allows no other white space between the scheme and the token. */
function withoutSpaces(value: string, start: number): string {
  let at = start
  while (value.charCodeAt(at) === SPACE) at++
  return value.slice(at)
}

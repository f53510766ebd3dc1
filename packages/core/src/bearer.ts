import { AuthError } from './errors.ts'
import { own } from './options.ts'

/** The parts of a request that can carry a token, as `node:http`, `node:http2` and their mocks have them. */
export interface RequestHeaders {
  /** Names and values as they were received, alternately. Some mocks and serverless adapters leave it empty or out. */
  readonly rawHeaders?: readonly string[] | undefined
  readonly headers: { readonly authorization?: string | readonly string[] | undefined }
}

/** RFC 9110 section 5.6.2. */
const SCHEME = /^[\w!#$%&'*+.^`|~-]+$/
/** RFC 6750 section 2.1. */
const B64TOKEN = /^[\w.~+/-]+=*$/
const SPACE = 0x20
const NAME = /^authorization$/i

/**
 * Finds the token of a request: in the one `Authorization` header, nowhere else.
 *
 * The value is the own member `headers.authorization`, so a header that middleware sets or deletes is set or deleted here
 * as well. `rawHeaders` only tells whether the client sent the header more than once.
 *
 * @throws AuthError `missing_token` without a header and for another scheme; `invalid_request` for a repeated header
 *   and for anything but one token after `Bearer`.
 * @see RFC 6750 sections 2.1 and 3.1
 */
export function parseBearer(request: RequestHeaders): string {
  const value = authorizationOf(request)
  if (value === undefined) throw new AuthError('missing_token', 'missing_header')
  // Middleware, a mock or a serverless adapter may have put anything there.
  if (typeof value !== 'string') throw malformed()
  const space = value.indexOf(' ')
  const scheme = space === -1 ? value : value.slice(0, space)
  if (scheme.toLowerCase() === 'bearer') {
    const token = withoutSpaces(value, scheme.length)
    if (B64TOKEN.test(token)) return token
  } else if (SCHEME.test(scheme)) {
    throw new AuthError('missing_token', 'other_scheme')
  }
  throw malformed()
}

function authorizationOf({ rawHeaders, headers }: RequestHeaders): unknown {
  if (isRepeated(rawHeaders)) throw repeated()
  const value: unknown = own(headers, 'authorization')
  if (!Array.isArray(value)) return value
  if (value.length > 1) throw repeated()
  return value[0]
}

/** Node shows only the first of several `Authorization` headers in `headers`. */
function isRepeated(rawHeaders: unknown): boolean {
  if (!Array.isArray(rawHeaders)) return false
  let count = 0
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name: unknown = rawHeaders[at]
    if (typeof name === 'string' && NAME.test(name)) count += 1
  }
  return count > 1
}

function malformed(): AuthError {
  return new AuthError('invalid_request', 'malformed_header')
}

function repeated(): AuthError {
  return new AuthError('invalid_request', 'repeated_header')
}

/** The rest of a value after its spaces. RFC 6750 allows no other white space between the scheme and the token. */
function withoutSpaces(value: string, start: number): string {
  let at = start
  while (value.charCodeAt(at) === SPACE) at++
  return value.slice(at)
}

import { AuthError } from './errors.ts'

/** The parts of a request that can carry a token, as `node:http`, `node:http2` and their mocks give them. */
export interface RequestHeaders {
  /** Names and values in turn, as received: the only place where a repeated header shows. */
  readonly rawHeaders?: readonly string[] | undefined
  readonly headers: { readonly authorization?: string | readonly string[] | undefined }
}

/** RFC 9110 section 5.6.2. */
const SCHEME = /^[\w!#$%&'*+.^`|~-]+$/
/** RFC 6750 section 2.1. */
const B64TOKEN = /^[\w.~+/-]+=*$/
const SPACE = 0x20

/**
 * Finds the token of a request: in its one `Authorization` header, nowhere else.
 *
 * @throws AuthError `missing_token` without a header and for another scheme; `invalid_request` for a second header
 *   and for anything but one token after `Bearer`.
 * @see RFC 6750 sections 2.1 and 3.1
 */
export function parseBearer(request: RequestHeaders): string {
  const value = authorizationOf(request)
  if (value === undefined) throw new AuthError('missing_token', 'missing_header')
  const space = value.indexOf(' ')
  const scheme = space === -1 ? value : value.slice(0, space)
  if (scheme.toLowerCase() === 'bearer') {
    const token = withoutSpaces(value, scheme.length)
    if (B64TOKEN.test(token)) return token
  } else if (SCHEME.test(scheme)) {
    throw new AuthError('missing_token', 'other_scheme')
  }
  throw new AuthError('invalid_request', 'malformed_header')
}

function authorizationOf({ rawHeaders, headers }: RequestHeaders): string | undefined {
  // A mock of a request may have no more than `headers`.
  if (rawHeaders === undefined) return onlyOne([headers.authorization ?? []].flat())
  let value: string | undefined
  // What is behind the end is no name.
  for (let at = rawHeaders.length; at >= 0; at -= 2) {
    if (String(rawHeaders[at]).toLowerCase() !== 'authorization') continue
    if (value !== undefined) throw repeated()
    value = rawHeaders[at + 1]
  }
  return value
}

function onlyOne(values: readonly string[]): string | undefined {
  if (values.length > 1) throw repeated()
  return values[0]
}

function repeated(): AuthError {
  return new AuthError('invalid_request', 'repeated_header')
}

/** What follows the spaces: the grammar of RFC 6750 knows no other white space here. */
function withoutSpaces(value: string, start: number): string {
  let at = start
  while (value.charCodeAt(at) === SPACE) at++
  return value.slice(at)
}

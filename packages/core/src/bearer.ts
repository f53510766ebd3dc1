import { AuthError } from './errors.ts'

/** The parts of a request that can carry a token, as `node:http`, `node:http2` and their mocks give them. */
export interface RequestHeaders {
  /** Names and values in turn, as received: the only place where a repeated header shows. */
  readonly rawHeaders?: readonly string[] | undefined
  readonly headers: { readonly authorization?: string | readonly string[] | undefined }
}

/** RFC 9110 section 5.6.2. The first character after a scheme that is none of these ends the scheme. */
const SCHEME = /^[\w!#$%&'*+.^`|~-]+/
/** One or more spaces, then b64token: RFC 6750 section 2.1. */
const CREDENTIALS = /^ +([\w.~+/-]+=*)$/

/**
 * Finds the token of a request: in its one `Authorization` header, nowhere else.
 *
 * @throws AuthError `missing_token` without a header and for another scheme; `invalid_request` for a second header
 *   and for anything but one token after `Bearer`.
 * @see RFC 6750 sections 2.1 and 3.1
 */
export function parseBearer(request: RequestHeaders): string {
  const [value, ...others] = authorizationHeaders(request)
  if (value === undefined) throw new AuthError('missing_token', 'missing_header')
  if (others.length > 0) throw new AuthError('invalid_request', 'repeated_header')
  const scheme = SCHEME.exec(value)?.[0] ?? ''
  const rest = value.slice(scheme.length)
  const isBearer = scheme.toLowerCase() === 'bearer'
  if (!isBearer && scheme !== '' && (rest === '' || rest.startsWith(' '))) {
    throw new AuthError('missing_token', 'other_scheme')
  }
  const token = isBearer ? CREDENTIALS.exec(rest)?.[1] : undefined
  if (token === undefined) throw new AuthError('invalid_request', 'malformed_header')
  return token
}

function authorizationHeaders({ rawHeaders, headers }: RequestHeaders): readonly string[] {
  if (rawHeaders !== undefined) {
    return rawHeaders.filter(
      (_, at) => at % 2 === 1 && String(rawHeaders[at - 1]).toLowerCase() === 'authorization',
    )
  }
  // A mock of a request may have no more than this.
  return [headers.authorization ?? []].flat()
}

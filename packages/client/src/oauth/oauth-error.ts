import { ownMembers } from '@portcullis/kit/options'

import { reasonOf, TokenClientError, type TokenClientErrorCode } from '../answer/errors.ts'

// The error of a client of OAuth: which status of the route it is worth, and what it is made of.

/**
 * Why there is no token. A minor release may bring further codes, so a `switch` needs a `default`.
 *
 * - `invalid_request`, `invalid_grant`: of `onBehalfOf`, the subject's token is no good any more (RFC 8693 section 2.2.2).
 * - `invalid_target`, `invalid_scope`, `access_denied`: there is no token for this audience, resource or scope (RFC 8707 section 2).
 * - `invalid_client`, `unauthorized_client`, `unsupported_grant_type`: this client is not set up for it (RFC 6749 section 5.2).
 * - `unexpected_response`: the server answered with another code, or with something that is no token.
 * - `token_unusable`: its token has expired, does not last for `minValidity`, or is not bound to the key of `dpop`.
 * - `service_unavailable`: the server could not be reached, or answered 429 or 5xx; or a credential could not be read.
 * - `timeout`: it did not answer in time.
 * - `origin_not_allowed`: `fetch` was called for an origin that is not configured, or for a URL with credentials in it.
 * - `aborted`: a signal ended the wait, or the client was closed.
 */
export type OAuthErrorCode =
  | 'access_denied'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_request'
  | 'invalid_scope'
  | 'invalid_target'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unexpected_response'
  | 'token_unusable'
  | 'service_unavailable'
  | 'timeout'
  | 'origin_not_allowed'
  | 'aborted'

/** What an authorization server says of a refusal, as far as it is passed on. */
export type Refusal = Exclude<OAuthErrorCode, TokenClientErrorCode>

/** The status for a route that serves a caller with this token. */
const REFUSALS: Readonly<Record<Refusal, OAuthError['status']>> = {
  access_denied: 403,
  invalid_client: 502,
  invalid_grant: 502,
  invalid_request: 502,
  invalid_scope: 403,
  invalid_target: 403,
  unauthorized_client: 502,
  unsupported_grant_type: 502,
}
const STATUSES: Readonly<Record<OAuthErrorCode, OAuthError['status']>> = {
  ...REFUSALS,
  unexpected_response: 502,
  token_unusable: 502,
  service_unavailable: 503,
  timeout: 503,
  origin_not_allowed: 500,
  aborted: 503,
}

/** What says something of the subject's token, where there is one. */
const ABOUT_SUBJECT: ReadonlySet<OAuthErrorCode> = new Set(['invalid_grant', 'invalid_request'])

/**
 * Why a call got no token. Decide by `code`; the message is for developers, and always the same for the same cause.
 *
 * It contains no credential, token, URL or part of an answer, and it has no `cause`.
 */
export class OAuthError extends Error {
  readonly code: OAuthErrorCode
  /**
   * What the route should answer its own caller: 401 if the subject's token is no good, 403 if there is no token for what
   * is asked for, 502 if this client or the server is set up wrongly, 503 in an outage, 500 for a mistake in the program.
   */
  readonly status: 401 | 403 | 500 | 502 | 503
  /**
   * What belongs to that status: `WWW-Authenticate` with 401, `Retry-After` with 503, and `Cache-Control`. Express, Koa and Fastify
   * send them by themselves.
   * @see RFC 9110 sections 10.2.3 and 11.6.1
   */
  readonly headers: Readonly<Record<string, string>>
  /** After how many seconds the server can be asked again: a whole number. */
  readonly retryAfter: number | undefined

  /** A fraction of a second in `retryAfter` counts as a whole one. */
  constructor(
    code: OAuthErrorCode,
    message: string,
    { status, retryAfter }: Pick<OAuthError, 'status' | 'retryAfter'>,
  ) {
    super(message)
    this.code = code
    this.status = status
    this.retryAfter = retryAfter === undefined ? undefined : Math.ceil(retryAfter)
    this.headers = headersOf(status, this.retryAfter)
  }

  override get name(): string {
    return 'OAuthError'
  }

  toJSON(): object {
    const { name, code, status, message, retryAfter } = this
    return { name, code, status, message, retryAfter }
  }
}

/** What the caller of the route is told. It knows nothing of other services, and need not know how they are called. */
const TEXTS: Readonly<Record<OAuthError['status'], readonly [title: string, detail: string]>> = {
  401: ['Unauthorized', 'The access token is not accepted any more'],
  403: ['Forbidden', 'The access token does not permit what this request needs'],
  500: ['Internal Server Error', 'The request could not be served'],
  502: ['Bad Gateway', 'A service that this request needs cannot be called'],
  503: ['Service Unavailable', 'A service that this request needs cannot be called at the moment'],
}

function headersOf(status: OAuthError['status'], retryAfter = 1): Readonly<Record<string, string>> {
  const [, detail] = TEXTS[status]
  // Frameworks copy these with `for ... in`, so they inherit nothing.
  return ownMembers({
    // RFC 6750 section 3.1
    ...(status === 401
      ? { 'WWW-Authenticate': `Bearer error="invalid_token", error_description="${detail}"` }
      : {}),
    ...(status === 503 ? { 'Retry-After': String(Math.max(1, retryAfter)) } : {}),
    'Cache-Control': 'no-store',
  })
}

/** An HTTP answer. */
export interface OAuthRefusal {
  readonly status: OAuthError['status']
  readonly headers: Readonly<Record<string, string>>
  /** A problem document: the status in words. It says nothing of the server, nor of this client. RFC 9457 */
  readonly body: string
}

/**
 * What a route should answer its own caller if its call onwards got no token. For any other error `undefined`.
 *
 * `refusal` of `@portcullis/core` is the same for what a guard has refused.
 */
export function refusalOf(error: OAuthError): OAuthRefusal
export function refusalOf(error: unknown): OAuthRefusal | undefined
export function refusalOf(error: unknown): OAuthRefusal | undefined {
  if (!(error instanceof OAuthError)) return undefined
  const { status } = error
  const [title, detail] = TEXTS[status]
  return {
    status,
    headers: ownMembers({ ...error.headers, 'Content-Type': 'application/problem+json' }),
    body: JSON.stringify({ type: 'about:blank', title, status, detail }),
  }
}

/** Any other code is a text of the server, which is not passed on. */
export function refusalIn(error: unknown): Refusal | undefined {
  return typeof error === 'string' && isRefusal(error) ? error : undefined
}

function isRefusal(error: string): error is Refusal {
  return Object.hasOwn(REFUSALS, error)
}

/** @param hasSubject Whether the token stands for a caller of the route. */
export function oauthErrors(hasSubject: boolean): (error: unknown) => unknown {
  return (error) => {
    if (!(error instanceof TokenClientError)) return error
    const { message, retryAfter } = error
    const code = codeOf(error)
    const status = hasSubject && ABOUT_SUBJECT.has(code) ? 401 : STATUSES[code]
    return new OAuthError(code, message, { status, retryAfter })
  }
}

function codeOf(error: TokenClientError): OAuthErrorCode {
  if (error.code !== 'credentials_rejected') return error.code
  return refusalIn(reasonOf(error)) ?? 'unexpected_response'
}

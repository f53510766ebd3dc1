// The error of a client that has no token to give.

/**
 * Why there is no token. A minor release may bring further codes, so a `switch` needs a `default`.
 *
 * - `credentials_rejected`: the service refused `loginId` and `password`. No login is made for a while.
 * - `service_unavailable`: it could not be reached, or answered 429 or 5xx.
 * - `timeout`: it did not answer in time.
 * - `unexpected_response`: it answered with something that is no token. It may have counted that as a wrong password, so no
 *   login is made for a while.
 * - `token_unusable`: its token has expired, does not last for `minValidity`, is not bound to the key of `dpop`, or the verifier
 *   refused it.
 * - `origin_not_allowed`: `fetch` was called for an origin that is not configured, or for a URL with credentials in it.
 * - `aborted`: the caller's signal ended the wait, or the client was closed.
 */
export type TokenClientErrorCode =
  | 'credentials_rejected'
  | 'service_unavailable'
  | 'timeout'
  | 'unexpected_response'
  | 'token_unusable'
  | 'origin_not_allowed'
  | 'aborted'

/**
 * Why a call got no token. Decide by `code`; the message is for developers.
 *
 * It contains no credential, token, URL or part of an answer. It has no `cause`, because the error of an injected function
 * may contain what was sent. It has no `status`, `statusCode` or `headers`: otherwise Express, Koa and Fastify would answer
 * their own caller with the token service's 401.
 */
export class TokenClientError extends Error {
  readonly code: TokenClientErrorCode
  /** The status that the token service answered with. */
  readonly responseStatus: number | undefined
  /** After how many seconds the next login can be made. */
  readonly retryAfter: number | undefined

  constructor(
    code: TokenClientErrorCode,
    message: string,
    {
      responseStatus,
      retryAfter,
    }: Partial<Pick<TokenClientError, 'responseStatus' | 'retryAfter'>> = {},
  ) {
    super(message)
    this.code = code
    this.responseStatus = responseStatus
    this.retryAfter = retryAfter
  }

  override get name(): string {
    return 'TokenClientError'
  }

  toJSON(): object {
    const { name, code, message, responseStatus, retryAfter } = this
    return { name, code, message, responseStatus, retryAfter }
  }
}

/** Has a word of the exchange for the failure, such as an error code of OAuth. Callers are not told: a client translates it. */
export class ExplainedError extends TokenClientError {
  readonly reason: string

  constructor(
    code: TokenClientErrorCode,
    message: string,
    { reason, ...options }: FailureOptions & { reason: string },
  ) {
    super(code, message, options)
    this.reason = reason
  }
}

export interface FailureOptions extends Partial<
  Pick<TokenClientError, 'responseStatus' | 'retryAfter'>
> {
  readonly reason: string | undefined
}

export function failureWith(
  code: TokenClientErrorCode,
  message: string,
  { reason, ...options }: FailureOptions,
): TokenClientError {
  return reason === undefined
    ? new TokenClientError(code, message, options)
    : new ExplainedError(code, message, { ...options, reason })
}

export function reasonOf(error: TokenClientError): string | undefined {
  return error instanceof ExplainedError ? error.reason : undefined
}

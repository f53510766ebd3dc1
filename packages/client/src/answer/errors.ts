// The error of a client that has no token to give.

/**
 * Why there is no token. A minor release may bring further codes, so a `switch` needs a `default`.
 *
 * - `credentials_rejected`: the service answered 400, 401 or 403 to the login. No login is made for a while.
 * - `service_unavailable`: no connection, 429 or 5xx; or a function for `loginId` or `password` failed.
 * - `timeout`: no token within `timeout`.
 * - `unexpected_response`: any other answer without a JWT. It may have counted as a wrong password, so the next login waits as
 *   after `credentials_rejected`.
 * - `token_unusable`: the token has expired (check the clock: `status().clockSkew`), does not last for `minValidity`, is not bound
 *   to the key of `dpop`, or the verifier refused it.
 * - `origin_not_allowed`: `fetch` to an origin that is not listed, or with credentials in the URL. Nothing was sent.
 * - `aborted`: the signal of `get`, or `close()`. `fetch` rejects with the reason of its signal, as that of the platform.
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

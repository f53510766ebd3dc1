/**
 * Why there is no token.
 *
 * - `credentials_rejected`: the service refused `loginId` and `password`; it is left alone for a while.
 * - `service_unavailable`: it could not be reached, or answered 429 or 5xx.
 * - `timeout`: it did not answer in time.
 * - `unexpected_response`: it answered with something that is no token; since it may have counted that as a wrong password,
 *   it is left alone as after a refusal.
 * - `token_unusable`: its token has expired, does not last for `minValidity`, or failed the verifier.
 * - `origin_not_allowed`: `fetch` was asked to carry the token to an origin that is not configured, or to a URL
 *   with credentials in it.
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

export interface TokenClientErrorOptions {
  /** The status that the token service answered with. */
  responseStatus?: number | undefined
  /** Seconds until the next login can be made. */
  retryAfter?: number | undefined
}

/**
 * A token that could not be had. Callers switch on `code`; the message is for developers.
 *
 * It has no `cause`: what failed underneath may quote what was sent. Nothing in it is a credential, a token, a URL or
 * a part of an answer's body. Nor has it a `status`, a `statusCode` or `headers`: Express, Koa and Fastify would give their
 * own caller the token service's 401.
 */
export class TokenClientError extends Error {
  readonly code: TokenClientErrorCode
  readonly responseStatus: number | undefined
  readonly retryAfter: number | undefined

  constructor(
    code: TokenClientErrorCode,
    message: string,
    { responseStatus, retryAfter }: TokenClientErrorOptions = {},
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

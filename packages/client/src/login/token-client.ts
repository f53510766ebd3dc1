import type { TokenClientErrorCode } from '../answer/errors.ts'
import type { AuthorizedFetch } from '../present/authorized-fetch.ts'

// What every client is for its callers.

export interface GetOptions {
  /**
   * For how many seconds the token must still be valid. Otherwise the caller waits for another one, and fails if there is none. For
   * more than 90 % of the lifetime of the service's tokens the error is `token_unusable`: nearly each call would be a login.
   * @default 10, or less if the token's lifetime is below 200. If the token cannot be renewed, it is returned while it is
   *   valid.
   */
  minValidity?: number | undefined
  /** Ends the wait of this caller. A login under way goes on for the others. */
  signal?: AbortSignal | undefined
}

/** The state of the client, for logs and health checks. Times are seconds. */
export interface TokenClientStatus {
  /**
   * - `fresh`: it is used.
   * - `due`: it is used, and renewed meanwhile.
   * - `short`: callers wait for the renewal; if that fails, the token still works.
   * - `none`: there is none, or it has expired; callers wait for a login.
   */
  readonly freshness: 'fresh' | 'due' | 'short' | 'none'
  readonly expiresIn: number | undefined
  readonly lastFailure: TokenClientErrorCode | undefined
  /** Logins in a row that brought no token. */
  readonly failures: number
  /** Until a login may start. */
  readonly nextLoginIn: number
  readonly isLoggingIn: boolean
  /** How far the service's clock is ahead of ours, if that is more than 30 s. More than five minutes is not corrected. */
  readonly clockSkew: number | undefined
  readonly isClosed: boolean
}

export interface TokenClient extends AsyncDisposable {
  /**
   * Returns the current token, after a login if there is none that is valid.
   *
   * One login serves all callers. The first call in the last tenth of a token's lifetime starts its renewal, and no timer does. If that
   * fails, callers use the token until it expires.
   *
   * @returns The compact JWS, without `Bearer `.
   * @throws TokenClientError; TypeError for a wrong or misspelt option.
   */
  get(options?: GetOptions): Promise<string>
  /** The value of an `Authorization` header, for other HTTP libraries. With `dpop` requests need a proof, which only `fetch` makes. */
  getAuthorization(options?: GetOptions): Promise<string>
  /**
   * Drops this token, as after a 401, unless another has replaced it, or was dropped shortly before: an API that refuses every token
   * must not cause a login at each call. `fetch` drops it in more cases: it knows whether the API has accepted the token before.
   *
   * @param token With or without its scheme, as it was in the request.
   */
  invalidate(token: string): void
  /**
   * The platform's `fetch` with the token, only for the configured origins.
   *
   * A redirect to another origin gets no token. After a 401 the token is dropped, and the request is repeated once with another one,
   * if its body can be sent again (a stream cannot). With `dpop` a redirect is the answer: a proof is for one URL.
   *
   * @throws TokenClientError if there is no token; `origin_not_allowed` before anything is sent.
   */
  readonly fetch: AuthorizedFetch
  status(): TokenClientStatus
  /** Ends a login that is under way, and drops the token. Later calls fail with `aborted`. */
  close(): Promise<void>
}

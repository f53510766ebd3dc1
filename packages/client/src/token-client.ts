import { type AuthorizedFetch, authorizedFetch } from './authorized-fetch.ts'
import { publishLogin } from './diagnostics.ts'
import { TokenClientError } from './errors.ts'
import { canLast, hold, type HeldToken } from './held-token.ts'
import { checkGetOptions, checkTokenClientOptions, type TokenClientOptions } from './options.ts'
import {
  afterAnswer,
  afterFailure,
  afterInvalidation,
  afterLogin,
  callerStep,
  INITIAL,
  isStillHeld,
  type LoginRefusal,
  loginRefusal,
  nextLoginIn,
  type RenewalState,
  type RenewalStatus,
  statusOf,
} from './renewal.ts'
import { type LoginOutcome, type SettledLogin, shareLogin } from './shared-login.ts'
import { instant } from './time.ts'
import type { TokenAnswer } from './token-request.ts'

// The client itself: holds the one state, and carries out what `renewal.ts` decides.

export interface GetOptions {
  /**
   * For how many seconds the token must still be valid. If it is valid for less, the caller waits for another one, and fails
   * if there is none. If more than 90 % of the lifetime of the service's tokens is asked for, the error is `token_unusable`,
   * because nearly each call would be a login.
   * @default 10, or less if the token's lifetime is below 200. If the token cannot be renewed, it is returned while it is
   *   valid.
   */
  minValidity?: number | undefined
  /** Ends the wait of this caller. A login under way goes on for the others. */
  signal?: AbortSignal | undefined
}

/** The state of the client, for logs and health checks. Times are seconds. */
export interface TokenClientStatus extends RenewalStatus {
  readonly isLoggingIn: boolean
  /** How far the service's clock is ahead of ours, if that is more than 30 s. More than five minutes is not corrected. */
  readonly clockSkew: number | undefined
  readonly isClosed: boolean
}

export interface TokenClient extends AsyncDisposable {
  /**
   * Returns the current token, after a login if there is none that is valid.
   *
   * One login serves all callers. A token is renewed before it expires, while callers still use it. If the renewal fails,
   * they use it until it expires.
   *
   * @returns The compact JWS, without `Bearer `.
   * @throws TokenClientError; TypeError for a wrong or misspelt option.
   */
  get(options?: GetOptions): Promise<string>
  /**
   * Like `get`, but returns the value of an `Authorization` header, for other HTTP libraries. With `dpop` each request also
   * needs a proof, which only `fetch` makes.
   */
  getAuthorization(options?: GetOptions): Promise<string>
  /**
   * Drops this token, as after a 401, unless another one has replaced it. If another token was dropped shortly before, this
   * one is kept, so that an API that refuses every token does not cause a login at each call. `fetch` drops it in more cases,
   * because it knows whether the API has accepted the token before.
   *
   * @param token With or without its scheme, as it was in the request.
   */
  invalidate(token: string): void
  /**
   * The platform's `fetch` with the token, only for the configured origins.
   *
   * A redirect to another origin gets no token. After a 401 the token is dropped, and the request is repeated once with
   * another one, if its body can be sent again (a stream cannot). With `dpop` no redirect is followed, because a proof is for
   * one URL: the redirect is the answer.
   *
   * @throws TokenClientError if there is no token; `origin_not_allowed` before anything is sent.
   */
  readonly fetch: AuthorizedFetch
  status(): TokenClientStatus
  /** Ends a login that is under way, and drops the token. Later calls fail with `aborted`. */
  close(): Promise<void>
}

/**
 * Creates the client of one account. It sends nothing before the first use.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 */
export function createTokenClient(options: TokenClientOptions): TokenClient {
  const { endpoint, origins, timeout, verifier } = checkTokenClientOptions(options)
  const { clock, fetch, dpop } = endpoint
  const closing = new AbortController()
  const login = shareLogin({ endpoint, timeout, verifier, closing: closing.signal }, settle)
  const scheme = dpop === undefined ? 'Bearer' : 'DPoP'
  let state: RenewalState = INITIAL

  function change(next: RenewalState): void {
    state = next
  }

  async function get(getOptions: GetOptions = {}): Promise<string> {
    const { minValidity, signal } = checkGetOptions(getOptions)
    throwIfOver(signal)
    const { held } = state
    const step = callerStep(state, instant(clock), login.isUnderWay, minValidity)
    if (held === undefined || step === 'wait') return lasting(await loggedIn(signal), minValidity)
    if (step === 'prefer') return (await renewed(held, signal)).token
    if (step === 'renew') void login.join(0)
    return lasting(held, minValidity)
  }

  /** @throws TokenClientError as the last login did, if it is too soon for another. */
  async function loggedIn(signal: AbortSignal | undefined): Promise<HeldToken> {
    const now = instant(clock)
    const refusal = login.isUnderWay ? undefined : loginRefusal(state, now)
    if (refusal !== undefined) throw tooSoon(refusal)
    const outcome = await login.need(nextLoginIn(state, now), signal)
    if (outcome instanceof TokenClientError) throw outcome
    return outcome
  }

  /** The renewed token, or the one that is held if there is no other and it still works. */
  async function renewed(held: HeldToken, signal: AbortSignal | undefined): Promise<HeldToken> {
    const outcome = await login.join(0, signal)
    if (!(outcome instanceof TokenClientError)) return outcome
    throwIfOver(signal)
    if (!isStillHeld(state, held.token, instant(clock))) throw outcome
    return held
  }

  function settle({ result, requests, duration }: SettledLogin): LoginOutcome {
    const outcome = result instanceof TokenClientError ? fail(result, requests > 0) : accept(result)
    const isFailure = outcome instanceof TokenClientError
    publishLogin({
      client,
      outcome: isFailure ? outcome.code : 'success',
      detail: isFailure ? outcome.message : undefined,
      requests,
      duration,
      expiresIn: isFailure ? undefined : outcome.lifetime,
      clockSkew: login.clockSkew,
    })
    return outcome
  }

  function accept({ token, lifetime, receivedAt }: TokenAnswer): HeldToken {
    const held = hold(token, lifetime, receivedAt, Math.random())
    change(afterLogin(state, held))
    return held
  }

  function fail(failure: TokenClientError, isSent: boolean): TokenClientError {
    // After `close` there is no next login.
    if (closing.signal.aborted) return failure
    const now = instant(clock)
    const { code, message, responseStatus, retryAfter } = failure
    change(afterFailure(state, now, { code, retryAfter, isSent }, Math.random()))
    return new TokenClientError(code, message, {
      responseStatus,
      retryAfter: nextLoginIn(state, now),
    })
  }

  /** @throws TokenClientError if this caller, or the client, is not to wait any longer. */
  function throwIfOver(signal: AbortSignal | undefined): void {
    if (closing.signal.aborted) throw new TokenClientError('aborted', 'the client is closed')
    if (signal?.aborted === true) throw new TokenClientError('aborted', 'the wait was aborted')
  }

  function invalidate(token: string, origin?: string): void {
    const bare = token.replace(/^(?:Bearer|DPoP) /i, '')
    change(afterInvalidation(state, bare, instant(clock), origin))
  }

  function status(): TokenClientStatus {
    return {
      ...statusOf(state, instant(clock)),
      isLoggingIn: login.isUnderWay,
      clockSkew: login.clockSkew,
      isClosed: closing.signal.aborted,
    }
  }

  async function close(): Promise<void> {
    closing.abort()
    await login.idle()
    change(INITIAL)
  }

  const client: TokenClient = {
    get,
    getAuthorization: async (getOptions) => `${scheme} ${await get(getOptions)}`,
    invalidate,
    fetch: authorizedFetch({
      origins,
      fetch,
      clock,
      get,
      onAnswer: (...answer) => {
        change(afterAnswer(state, ...answer))
      },
      invalidate,
      dpop,
    }),
    status,
    close,
    [Symbol.asyncDispose]: close,
  }
  return client
}

function tooSoon({ code, retryAfter }: LoginRefusal): TokenClientError {
  const message = `no login is made for ${Math.ceil(retryAfter)} s, since the last one failed`
  return new TokenClientError(code, message, { retryAfter })
}

/** @throws TokenClientError if the service's tokens do not last for as long as the caller needs them. */
function lasting(held: HeldToken, minValidity = 0): string {
  if (canLast(held, minValidity)) return held.token
  const lifetime = Math.floor(held.lifetime)
  throw new TokenClientError(
    'token_unusable',
    `the token service gives tokens for ${lifetime} s: ${minValidity} s is more than nine tenths of that`,
  )
}

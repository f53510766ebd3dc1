import { type AuthorizedFetch, authorizedFetch } from './authorized-fetch.ts'
import { publishLogin } from './diagnostics.ts'
import { TokenClientError, type TokenClientErrorCode } from './errors.ts'
import { logIn } from './login.ts'
import {
  checkGetOptions,
  checkTokenClientOptions,
  originSet,
  type TokenClientOptions,
  tokenUrl,
} from './options.ts'
import {
  afterAnswer,
  afterFailure,
  afterInvalidation,
  afterLogin,
  type Freshness,
  freshness,
  hold,
  type HeldToken,
  INITIAL,
  isRefusal,
  nextLoginIn,
  remaining,
  type RenewalState,
} from './renewal.ts'
import { instant, systemClock } from './time.ts'
import type { LoginProgress, TokenAnswer } from './token-request.ts'

export interface GetOptions {
  /**
   * Seconds that the token must have left; the caller waits for another if it has less, and fails if there is none. More
   * than nine tenths of the lifetime of the service's tokens is `token_unusable`: it would be a login at nearly each call.
   * @default 10, less for a token that lives for less than 200; then the one there is will do while it works
   */
  minValidity?: number | undefined
  /** Ends this caller's wait; a login under way goes on for the others. */
  signal?: AbortSignal | undefined
}

/** For logs and health checks. Times are seconds. */
export interface TokenClientStatus {
  /** `due` is renewed behind its users, for `short` they wait, with `none` they cannot do without. */
  readonly token: Freshness
  readonly expiresIn: number | undefined
  readonly isLoggingIn: boolean
  readonly lastFailure: TokenClientErrorCode | undefined
  /** Logins in a row that brought no token. */
  readonly failures: number
  /** Until a login may start. */
  readonly nextLoginIn: number
  /** How far the service's clock is ahead of ours, where that is more than 30 s. More than five minutes is not corrected. */
  readonly clockSkew: number | undefined
  readonly isClosed: boolean
}

export interface TokenClient extends AsyncDisposable {
  /**
   * The current token, after a login where there is none that works.
   *
   * One login serves any number of callers. A token is renewed before it expires, behind its users; a failed renewal
   * costs nothing while the token works.
   *
   * @returns The compact JWS, without `Bearer `.
   * @throws TokenClientError; TypeError for a wrong or misspelt option.
   */
  get(options?: GetOptions): Promise<string>
  /** The value of an `Authorization` header, for other HTTP libraries. As `get`. */
  getAuthorization(options?: GetOptions): Promise<string>
  /**
   * Drops this token, as after a 401, unless another has taken its place. A token that only just came is kept: an API
   * that refuses every token must not cause a login at each call. Only `fetch` knows of a token that worked until then.
   *
   * @param token With or without `Bearer ` in front, as the request carried it.
   */
  invalidate(token: string): void
  /**
   * The platform's `fetch` with the token, to the configured origins alone.
   *
   * A redirect to another origin goes without it. A 401 drops the token; if the body can be sent again (a stream cannot)
   * the request is repeated once, with another token.
   *
   * @throws TokenClientError if there is no token, `origin_not_allowed` before anything is sent.
   */
  readonly fetch: AuthorizedFetch
  describe(): TokenClientStatus
  /** Ends a login under way and forgets the token. Further calls fail with `aborted`. */
  close(): Promise<void>
}

/** A skew that is worth a report. */
const NOTABLE_SKEW = 30
/** What a caller without a token sits out, the pause after a first failure; for a longer one it is told to come back. */
const LONGEST_PAUSE = 1.1

/**
 * Creates the client of one account. Nothing is sent before the first use.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 */
export function createTokenClient(options: TokenClientOptions): TokenClient {
  checkTokenClientOptions(options)
  const {
    authUrl,
    loginId,
    password,
    response = 'auto',
    timeout = 10,
    allowInsecure = false,
    fetch = async (url, init) => await globalThis.fetch(url, init),
    clock = systemClock,
    verifier,
  } = options
  const origins = originSet(options.origins, allowInsecure)
  const url = tokenUrl(authUrl, allowInsecure)
  const endpoint = { url, loginId, password, response, fetch, clock }
  const closing = new AbortController()
  const plan = { endpoint, timeout, verifier, closing: closing.signal }

  let state: RenewalState = INITIAL
  /** The one under way. Never rejects: a renewal behind its users has nobody to tell. */
  let login: Promise<HeldToken | TokenClientError> | undefined
  /** Callers who have no token that works. */
  let waiters = 0
  let clockSkew: number | undefined

  async function get(getOptions: GetOptions = {}): Promise<string> {
    checkGetOptions(getOptions)
    const { minValidity, signal } = getOptions
    throwIfOver(signal)
    const now = instant(clock)
    const { held } = state
    const word = freshness(held, now, minValidity)
    if (held === undefined || word === 'none') return lasting(await loggedIn(signal), minValidity)
    if (word === 'short') {
      if (minValidity === undefined) return await renewed(held.token, signal)
      // A fresh token that falls short is as good as they get: asking again would bring no other.
      const isBest = !canLast(held, minValidity) && freshness(held, now) === 'fresh'
      return lasting(isBest ? held : await loggedIn(signal), minValidity)
    }
    if (word === 'due' && login === undefined && nextLoginIn(state, now) === 0) void startLogin()
    return lasting(held, minValidity)
  }

  /** The renewed token; if there is none to be had, the one that works as yet. */
  async function renewed(token: string, signal: AbortSignal | undefined): Promise<string> {
    if (login === undefined && nextLoginIn(state, instant(clock)) > 0) return token
    const outcome = await raceAbort(login ?? startLogin(), signal)
    if (!(outcome instanceof TokenClientError)) return outcome.token
    throwIfOver(signal)
    // Meanwhile it may have expired, or been invalidated.
    if (state.held?.token !== token || freshness(state.held, instant(clock)) === 'none') {
      throw outcome
    }
    return token
  }

  async function loggedIn(signal: AbortSignal | undefined): Promise<HeldToken> {
    waiters++
    try {
      const outcome = await raceAbort(login ?? startLogin(), signal)
      if (outcome instanceof TokenClientError) throw outcome
      return outcome
    } finally {
      waiters--
    }
  }

  /** @throws TokenClientError as the last login did, where it is too soon for another. */
  function startLogin(): Promise<HeldToken | TokenClientError> {
    const pause = nextLoginIn(state, instant(clock))
    const { lastFailure } = state
    // A refusal is passed on at once.
    const patience = isRefusal(lastFailure) ? 0 : LONGEST_PAUSE
    if (lastFailure !== undefined && pause > patience) {
      const message = `no login is made for ${Math.ceil(pause)} s, since the last one failed`
      throw new TokenClientError(lastFailure, message, { retryAfter: pause })
    }
    login = settleLogin(pause)
    return login
  }

  async function settleLogin(pause: number): Promise<HeldToken | TokenClientError> {
    const startedAt = clock.monotonic()
    let requests = 0
    const progress: LoginProgress = {
      isAwaited: () => waiters > 0,
      onRequest: () => void requests++,
      onClockSkew: (seconds) => {
        clockSkew = Math.abs(seconds) > NOTABLE_SKEW ? seconds : undefined
      },
    }
    const outcome = await logIn(plan, pause, progress).then(accept, (error: unknown) =>
      fail(error, requests > 0),
    )
    login = undefined
    const failure = outcome instanceof TokenClientError ? outcome : undefined
    publishLogin({
      client,
      outcome: failure?.code ?? 'success',
      detail: failure?.message,
      requests,
      duration: clock.monotonic() - startedAt,
      expiresIn: outcome instanceof TokenClientError ? undefined : outcome.lifetime,
      clockSkew,
    })
    return outcome
  }

  function accept({ token, lifetime, receivedAt }: TokenAnswer): HeldToken {
    const held = hold(token, lifetime, receivedAt, Math.random())
    state = afterLogin(state, held)
    return held
  }

  function fail(error: unknown, isSent: boolean): TokenClientError {
    const failure =
      error instanceof TokenClientError
        ? error
        : new TokenClientError('service_unavailable', 'the login failed')
    // After `close` there is no next login.
    if (closing.signal.aborted) return failure
    const now = instant(clock)
    const { code, message, responseStatus, retryAfter } = failure
    state = afterFailure(state, now, { code, retryAfter, isSent }, Math.random())
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
    state = afterInvalidation(state, token.replace(/^Bearer /i, ''), instant(clock), origin)
  }

  function describe(): TokenClientStatus {
    const now = instant(clock)
    const { held, lastFailure, failures } = state
    return {
      token: freshness(held, now),
      expiresIn: held && Math.max(0, remaining(held, now)),
      isLoggingIn: login !== undefined,
      lastFailure,
      failures,
      nextLoginIn: nextLoginIn(state, now),
      clockSkew,
      isClosed: closing.signal.aborted,
    }
  }

  async function close(): Promise<void> {
    closing.abort()
    await login
    state = INITIAL
  }

  const client: TokenClient = {
    get,
    getAuthorization: async (getOptions) => `Bearer ${await get(getOptions)}`,
    invalidate,
    fetch: authorizedFetch({
      origins,
      fetch,
      get,
      onAnswer: (...answer) => {
        state = afterAnswer(state, ...answer)
      },
      invalidate,
    }),
    describe,
    close,
    [Symbol.asyncDispose]: close,
  }
  return client
}

/** Whoever needs a token for nearly all of its life would log in at nearly each call. */
function canLast({ lifetime }: HeldToken, minValidity: number): boolean {
  return minValidity <= 0.9 * lifetime
}

/** @throws TokenClientError if such tokens do not last for as long as the caller needs them. */
function lasting(held: HeldToken, minValidity = 0): string {
  if (canLast(held, minValidity)) return held.token
  const lifetime = Math.floor(held.lifetime)
  throw new TokenClientError(
    'token_unusable',
    `the token service gives tokens for ${lifetime} s: ${minValidity} s is more than nine tenths of that`,
  )
}

/** Ends one caller's wait, not what it waits for. */
async function raceAbort<Result>(
  promise: Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  if (signal === undefined) return await promise
  let stop: (() => void) | undefined
  const aborted = new Promise<never>((_resolve, reject) => {
    const onAbort = () => {
      reject(new TokenClientError('aborted', 'the wait was aborted'))
    }
    signal.addEventListener('abort', onAbort, { once: true })
    stop = () => {
      signal.removeEventListener('abort', onAbort)
    }
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    stop?.()
  }
}

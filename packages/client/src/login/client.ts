import { instant } from '@portcullis/kit/time'

import { failureWith, reasonOf, TokenClientError } from '../answer/errors.ts'
import { authorizedFetch } from '../present/authorized-fetch.ts'
import type { TokenAnswer } from '../request/token-request.ts'
import type { Closing } from '../waiting/abort.ts'
import { publishLogin } from './diagnostics.ts'
import { canLast, hold, type HeldToken } from './held-token.ts'
import type { LoginPlan } from './login.ts'
import { checkGetOptions } from './options.ts'
import {
  afterAnswer,
  afterFailure,
  afterInvalidation,
  afterLogin,
  type CallerStep,
  callerStep,
  INITIAL,
  isStillHeld,
  type LoginRefusal,
  loginRefusal,
  nextLoginIn,
  type RenewalState,
  statusOf,
} from './renewal.ts'
import { type LoginOutcome, type LostLogin, type SettledLogin, shareLogin } from './shared-login.ts'
import type { GetOptions, TokenClient, TokenClientStatus } from './token-client.ts'

// The client itself, whatever its exchange is: holds the one state, and carries out what `renewal.ts` decides.

export interface ClientSettings {
  /** The origins that may get the token. */
  readonly origins: ReadonlySet<string>
  readonly plan: Omit<LoginPlan, 'closing'>
  /** Ends the client. Several clients may share one. */
  readonly closing: Closing
  /** What callers see of a failure. By default it itself. */
  readonly errorOf?: (error: unknown) => unknown
  /** Called when a login has ended. */
  readonly onSettled?: (token: string | undefined) => void
  /** What the messages of the diagnostics channel name. By default the client. */
  readonly reportedAs?: (() => object) | undefined
  /** Of the runtime; by default it is asked. */
  readonly endsWithRequest?: boolean | undefined
}

export function createClient({
  origins,
  plan,
  closing,
  errorOf = (error) => error,
  onSettled = () => undefined,
  reportedAs,
  endsWithRequest,
}: ClientSettings): TokenClient {
  const { clock, fetch, dpop } = plan.endpoint
  const login = shareLogin({ ...plan, closing }, settle, lose, endsWithRequest)
  const scheme = dpop === undefined ? 'Bearer' : 'DPoP'
  let state: RenewalState = INITIAL

  function change(next: RenewalState): void {
    state = next
  }

  async function get(getOptions: GetOptions = {}): Promise<string> {
    const { minValidity, signal } = checkGetOptions(getOptions)
    try {
      throwIfOver(signal)
      const step = stepOf(minValidity)
      const { held } = state
      if (held === undefined || step === 'wait') return lasting(await loggedIn(signal), minValidity)
      if (step === 'prefer') return (await renewed(held, signal)).token
      if (step === 'renew') login.renew()
      return lasting(held, minValidity)
    } catch (error) {
      throw errorOf(error)
    }
  }

  function stepOf(minValidity: number | undefined): CallerStep {
    const step = () => callerStep(state, instant(clock), login.isUnderWay, minValidity)
    const first = step()
    const mustWait = first === 'wait' || first === 'prefer'
    return mustWait && login.giveUpOrphan() ? step() : first
  }

  /** @throws TokenClientError as the last login did, if it is too soon for another. */
  async function loggedIn(signal: AbortSignal | undefined): Promise<HeldToken> {
    for (;;) {
      login.giveUpOrphan()
      const now = instant(clock)
      const refusal = login.isUnderWay ? undefined : loginRefusal(state, now)
      if (refusal !== undefined) throw tooSoon(refusal)
      const outcome = await login.need(nextLoginIn(state, now), signal)
      if (outcome instanceof TokenClientError) throw outcome
      if (outcome !== undefined) return outcome
    }
  }

  /** The renewed token, or the one that is held if there is no other and it still works. */
  async function renewed(held: HeldToken, signal: AbortSignal | undefined): Promise<HeldToken> {
    const outcome = await login.join(0, signal)
    if (outcome !== undefined && !(outcome instanceof TokenClientError)) return outcome
    throwIfOver(signal)
    if (isStillHeld(state, held.token, instant(clock))) return held
    if (outcome === undefined) return await loggedIn(signal)
    throw outcome
  }

  function settle({ result, requests, duration }: SettledLogin): LoginOutcome {
    const outcome = result instanceof TokenClientError ? fail(result, requests > 0) : accept(result)
    const isFailure = outcome instanceof TokenClientError
    onSettled(isFailure ? undefined : outcome.token)
    publishLogin({
      client: reportedAs?.() ?? client,
      kind: reportedAs === undefined ? 'login' : 'exchange',
      outcome: isFailure ? outcome.code : 'success',
      detail: isFailure ? outcome.message : undefined,
      requests,
      duration,
      expiresIn: isFailure ? undefined : outcome.lifetime,
      clockSkew: login.clockSkew,
    })
    return outcome
  }

  /** The service may have counted it as a wrong password: what was not answered is not asked again at each call. */
  function lose({ at, isSent }: LostLogin): void {
    onSettled(undefined)
    change(afterFailure(state, at, { code: 'timeout', isSent }, Math.random()))
  }

  function accept({ token, lifetime, receivedAt, isRenewable }: TokenAnswer): HeldToken {
    const held = hold(token, lifetime, receivedAt, Math.random(), isRenewable)
    change(afterLogin(state, held))
    return held
  }

  function fail(failure: TokenClientError, isSent: boolean): TokenClientError {
    // After `close` there is no next login.
    if (closing.isClosed) return failure
    const now = instant(clock)
    const { code, message, responseStatus, retryAfter } = failure
    const reason = reasonOf(failure)
    change(afterFailure(state, now, { code, reason, retryAfter, isSent }, Math.random()))
    return failureWith(code, message, {
      reason,
      responseStatus,
      retryAfter: nextLoginIn(state, now),
    })
  }

  /** @throws TokenClientError if this caller, or the client, is not to wait any longer. */
  function throwIfOver(signal: AbortSignal | undefined): void {
    if (closing.isClosed) throw new TokenClientError('aborted', 'the client is closed')
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
      isClosed: closing.isClosed,
    }
  }

  async function close(): Promise<void> {
    closing.close()
    login.giveUpOrphan()
    await login.idle()
    change(INITIAL)
  }

  const authorized = authorizedFetch({
    origins,
    fetch,
    clock,
    get,
    onAnswer: (...answer) => {
      change(afterAnswer(state, ...answer))
    },
    invalidate,
    dpop,
  })

  const client: TokenClient = {
    get,
    getAuthorization: async (getOptions) => `${scheme} ${await get(getOptions)}`,
    invalidate,
    async fetch(input, init) {
      try {
        return await authorized(input, init)
      } catch (error) {
        throw errorOf(error)
      }
    },
    status,
    close,
    [Symbol.asyncDispose]: close,
  }
  return client
}

function tooSoon({ code, reason, retryAfter }: LoginRefusal): TokenClientError {
  const message = 'no token is asked for yet, since the last attempt failed (see retryAfter)'
  return failureWith(code, message, { reason, retryAfter })
}

/** @throws TokenClientError if the service's tokens do not last for as long as the caller needs them. */
function lasting(held: HeldToken, minValidity = 0): string {
  if (canLast(held, minValidity)) return held.token
  throw new TokenClientError(
    'token_unusable',
    'minValidity is more than nine tenths of the lifetime that the token service gives its tokens',
  )
}

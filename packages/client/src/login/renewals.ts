import { instant } from '@portcullis/kit/time'

import { failureWith, reasonOf, TokenClientError } from '../answer/errors.ts'
import type { TokenAnswer } from '../request/token-request.ts'
import type { LoginMessage } from './diagnostics.ts'
import { canLast, hold, type HeldToken } from './held-token.ts'
import type { LoginPlan } from './login.ts'
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
import type { TokenClientStatus } from './token-client.ts'

// Keeps one token at hand: holds the one state of a client, and carries out what `renewal.ts` decides.

type LoginReport = Omit<LoginMessage, 'client' | 'kind'>

export interface Renewals {
  /** @throws TokenClientError */
  readonly token: (
    minValidity: number | undefined,
    signal: AbortSignal | undefined,
  ) => Promise<string>
  readonly answered: (token: string, origin: string, isAccepted: boolean) => void
  readonly invalidate: (token: string, origin?: string) => void
  readonly status: () => TokenClientStatus
  readonly close: () => Promise<void>
}

/** @param report Told of each login that has ended, after `onSettled`. */
export function createRenewals(
  plan: LoginPlan,
  onSettled: (token: string | undefined) => void,
  report: (login: LoginReport) => void,
  endsWithRequest: boolean | undefined,
): Renewals {
  const { closing } = plan
  const { clock } = plan.endpoint
  const login = shareLogin(plan, settle, lose, endsWithRequest)
  let state: RenewalState = INITIAL

  function change(next: RenewalState): void {
    state = next
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

  async function renewed(held: HeldToken, signal: AbortSignal | undefined): Promise<HeldToken> {
    const outcome = await login.join(0, signal)
    if (outcome !== undefined && !(outcome instanceof TokenClientError)) return outcome
    throwIfOver(signal)
    if (isStillHeld(state, held.token, instant(clock))) return held
    if (outcome === undefined) return await loggedIn(signal)
    throw outcome
  }

  function settle(settled: SettledLogin): LoginOutcome {
    const { result, requests } = settled
    const outcome = result instanceof TokenClientError ? fail(result, requests > 0) : accept(result)
    onSettled(outcome instanceof TokenClientError ? undefined : outcome.token)
    report(reportOf(settled, outcome, login.clockSkew))
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

  function throwIfOver(signal: AbortSignal | undefined): void {
    if (closing.isClosed) throw new TokenClientError('aborted', 'the client is closed')
    if (signal?.aborted === true) throw new TokenClientError('aborted', 'the wait was aborted')
  }

  return {
    async token(minValidity, signal) {
      throwIfOver(signal)
      const step = stepOf(minValidity)
      const { held } = state
      if (held === undefined || step === 'wait') return lasting(await loggedIn(signal), minValidity)
      if (step === 'prefer') return (await renewed(held, signal)).token
      if (step === 'renew') login.renew()
      return lasting(held, minValidity)
    },
    answered(...answer) {
      change(afterAnswer(state, ...answer))
    },
    invalidate(token, origin) {
      const bare = token.replace(/^(?:Bearer|DPoP) /i, '')
      change(afterInvalidation(state, bare, instant(clock), origin))
    },
    status: () => ({
      ...statusOf(state, instant(clock)),
      isLoggingIn: login.isUnderWay,
      clockSkew: login.clockSkew,
      isClosed: closing.isClosed,
    }),
    async close() {
      closing.close()
      login.giveUpOrphan()
      await login.idle()
      change(INITIAL)
    },
  }
}

function reportOf(
  { requests, duration }: SettledLogin,
  outcome: LoginOutcome,
  clockSkew: number | undefined,
): LoginReport {
  const told = { requests, duration, clockSkew }
  return outcome instanceof TokenClientError
    ? { ...told, outcome: outcome.code, detail: outcome.message, expiresIn: undefined }
    : { ...told, outcome: 'success', detail: undefined, expiresIn: outcome.lifetime }
}

function tooSoon({ code, reason, retryAfter }: LoginRefusal): TokenClientError {
  const message = 'no token is asked for yet, since the last attempt failed (see retryAfter)'
  return failureWith(code, message, { reason, retryAfter })
}

function lasting(held: HeldToken, minValidity = 0): string {
  if (canLast(held, minValidity)) return held.token
  throw new TokenClientError(
    'token_unusable',
    'minValidity is more than nine tenths of the lifetime that the token service gives its tokens',
  )
}

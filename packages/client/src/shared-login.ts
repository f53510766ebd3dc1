import { TokenClientError } from './errors.ts'
import type { HeldToken } from './held-token.ts'
import { logIn, type LoginPlan, onAbort } from './login.ts'
import type { LoginProgress, TokenAnswer } from './token-request.ts'

// One login for many callers: whoever needs a token joins the login under way.

export type LoginOutcome = HeldToken | TokenClientError

/** A login that has ended. */
export interface SettledLogin {
  readonly result: TokenAnswer | TokenClientError
  /** Requests that it took. */
  readonly requests: number
  /** Seconds, with the pause before it. */
  readonly duration: number
}

/** At most one login at a time, for any number of callers. */
export interface SharedLogin {
  readonly isUnderWay: boolean
  /** How far the service's clock was ahead of ours in its last answer, where that is more than 30 s. */
  readonly clockSkew: number | undefined
  /**
   * Waits for the login under way, or starts one.
   *
   * @param pause Seconds before a login that is started.
   * @returns How it ended; rejects only if the signal ends this caller's wait.
   */
  join(pause: number, signal?: AbortSignal): Promise<LoginOutcome>
  /** The same for a caller who has no token: while one waits, requests that failed are repeated. */
  need(pause: number, signal?: AbortSignal): Promise<LoginOutcome>
  /** Ends with the login under way, if there is one. */
  idle(): Promise<void>
}

const NOTABLE_CLOCK_SKEW = 30

/** @param onSettled Called once for each login, when none is under way any more. */
export function shareLogin(
  plan: LoginPlan,
  onSettled: (login: SettledLogin) => LoginOutcome,
): SharedLogin {
  const { clock } = plan.endpoint
  let underWay: Promise<LoginOutcome> | undefined
  let callersInNeed = 0
  let clockSkew: number | undefined

  /** Never rejects: a renewal that nobody waits for has nobody to tell. */
  async function run(pause: number): Promise<LoginOutcome> {
    const startedAt = clock.monotonic()
    let requests = 0
    const progress: LoginProgress = {
      isAwaited: () => callersInNeed > 0,
      onRequest: () => void requests++,
      onClockSkew: (seconds) => {
        clockSkew = Math.abs(seconds) > NOTABLE_CLOCK_SKEW ? seconds : undefined
      },
    }
    const result = await logIn(plan, pause, progress).catch(clientErrorOf)
    underWay = undefined
    return onSettled({ result, requests, duration: clock.monotonic() - startedAt })
  }

  async function join(pause: number, signal?: AbortSignal): Promise<LoginOutcome> {
    underWay ??= run(pause)
    return await raceAbort(underWay, signal)
  }

  return {
    get isUnderWay() {
      return underWay !== undefined
    },
    get clockSkew() {
      return clockSkew
    },
    join,
    async need(pause, signal) {
      callersInNeed++
      try {
        return await join(pause, signal)
      } finally {
        callersInNeed--
      }
    },
    async idle() {
      await underWay
    },
  }
}

function clientErrorOf(error: unknown): TokenClientError {
  if (error instanceof TokenClientError) return error
  return new TokenClientError('service_unavailable', 'the login failed')
}

/** Ends one caller's wait, and not the login that the others wait for. */
export async function raceAbort<Result>(
  promise: Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  if (signal === undefined) return await promise
  let stop: (() => void) | undefined
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = onAbort(signal, () => {
      reject(new TokenClientError('aborted', 'the wait was aborted'))
    })
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    stop?.()
  }
}

import { beginFlight, type Flight } from '@portcullis/kit/calls'
import { type Instant, instant } from '@portcullis/kit/time'

import { TokenClientError } from '../answer/errors.ts'
import type { LoginProgress, TokenAnswer } from '../request/token-request.ts'
import { waitFor } from '../waiting/abort.ts'
import type { HeldToken } from './held-token.ts'
import { logIn, type LoginPlan } from './login.ts'

// One login for many callers: whoever needs a token joins the login under way.

export type LoginOutcome = HeldToken | TokenClientError

export interface SettledLogin {
  readonly result: TokenAnswer | TokenClientError
  readonly requests: number
  /** Seconds, with the pause before it. */
  readonly duration: number
}

/** A login of which nobody will hear how it ended. */
export interface LostLogin {
  /** When its last request was sent; without one, when it began. */
  readonly at: Instant
  readonly isSent: boolean
}

export interface SharedLogin {
  readonly isUnderWay: boolean
  /** How far the service's clock was ahead of ours in its last answer, where that is more than 30 s. */
  readonly clockSkew: number | undefined
  /** Joins the login under way, or starts one after a pause. `undefined` if nobody will know its end. Rejects by the signal alone. */
  join(pause: number, signal?: AbortSignal): Promise<LoginOutcome | undefined>
  /** The same for a caller who has no token: while one waits, requests that failed are repeated. */
  need(pause: number, signal?: AbortSignal): Promise<LoginOutcome | undefined>
  renew(): void
  /** Gives up a login that whoever must wait does not join: it may have ended with its request. Returns whether there was one. */
  giveUpOrphan(): boolean
  idle(): Promise<void>
}

const NOTABLE_CLOCK_SKEW = 30

interface UnderWay {
  readonly flight: Flight<LoginOutcome>
  sentAt: Instant | undefined
}

/** @param onSettled Called once for each login, when none is under way any more. @param onLost The same for one that was given up. */
export function shareLogin(
  plan: LoginPlan,
  onSettled: (login: SettledLogin) => LoginOutcome,
  onLost: (login: LostLogin) => void,
  endsWithRequest?: boolean,
): SharedLogin {
  const { clock } = plan.endpoint
  let underWay: UnderWay | undefined
  let callersInNeed = 0
  let clockSkew: number | undefined

  function begin(pause: number): UnderWay {
    const timeout = pause + plan.timeout
    const own: UnderWay = {
      sentAt: undefined,
      flight: beginFlight(async () => await run(pause, () => own), {
        clock,
        timeout,
        waitUntil: undefined,
        endsWithRequest,
      }),
    }
    return own
  }

  /** Never rejects: a renewal that nobody waits for has nobody to tell. */
  async function run(pause: number, self: () => UnderWay): Promise<LoginOutcome> {
    const startedAt = clock.monotonic()
    let requests = 0
    const progress: LoginProgress = {
      isAwaited: () => callersInNeed > 0,
      onRequest: () => {
        // Another has taken its place, and sends the credentials.
        if (underWay !== self()) throw GIVEN_UP
        requests++
        self().sentAt = instant(clock)
      },
      onClockSkew: (seconds) => {
        clockSkew = Math.abs(seconds) > NOTABLE_CLOCK_SKEW ? seconds : undefined
      },
    }
    const result = await logIn(plan, pause, progress).catch(clientErrorOf)
    // It was given up, and another has taken its place.
    if (underWay !== self()) return GIVEN_UP
    underWay = undefined
    return onSettled({ result, requests, duration: clock.monotonic() - startedAt })
  }

  async function join(pause: number, signal?: AbortSignal): Promise<LoginOutcome | undefined> {
    underWay ??= begin(pause)
    const outcome = await waitFor(underWay.flight, signal)
    return outcome === GIVEN_UP ? undefined : outcome
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
    renew() {
      underWay ??= begin(0)
    },
    giveUpOrphan() {
      if (underWay?.flight.isOrphaned() !== true) return false
      const { flight, sentAt } = underWay
      underWay = undefined
      onLost({ at: sentAt ?? flight.startedAt, isSent: sentAt !== undefined })
      return true
    },
    async idle() {
      await underWay?.flight.wait()
    },
  }
}

const GIVEN_UP = new TokenClientError('aborted', 'the login was given up')

function clientErrorOf(error: unknown): TokenClientError {
  if (error instanceof TokenClientError) return error
  return new TokenClientError('service_unavailable', 'the login failed')
}

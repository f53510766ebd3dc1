import { type Clock, instant } from '@portcullis/kit/time'

import { failureWith, reasonOf, type TokenClientError } from '../answer/errors.ts'
import { believed } from '../answer/lifetime.ts'
import { afterFailure, INITIAL, nextLoginIn, type RenewalState } from '../login/renewal.ts'
import type { ServiceAnswer } from '../request/token-request.ts'

// What an answer of the server means for all grants of a client: its clock, and the pauses that concern the client itself.

export interface ServerPace {
  /** The time of the server, as far as it is known. Seconds since 1970-01-01T00:00:00Z. */
  now(): number
  /** @throws TokenClientError while nothing may be asked. */
  check(): void
  learn(answer: ServiceAnswer, refused: TokenClientError | undefined): void
}

export function createServerPace(clock: Clock): ServerPace {
  let skew = 0
  let state: RenewalState = INITIAL

  return {
    now: () => clock.now() + skew,
    check() {
      const { lastFailure, lastReason } = state
      const retryAfter = nextLoginIn(state, instant(clock))
      if (lastFailure === undefined || retryAfter === 0) return
      const why =
        lastFailure === 'credentials_rejected'
          ? 'the authorization server refuses this client'
          : 'the authorization server wants a pause'
      const message = `${why}: it is not asked again yet (see retryAfter)`
      throw failureWith(lastFailure, message, { reason: lastReason, retryAfter })
    },
    learn({ sentAt, receivedAt, clockSkew }, refused) {
      skew = believed(clockSkew)
      // What was asked before the last failure says nothing of the time since then.
      if (state.failures > 0 && sentAt.monotonic <= state.settledAt) return
      if (refused === undefined) state = INITIAL
      else if (concernsAll(refused)) {
        const { code, retryAfter } = refused
        const failure = { code, reason: reasonOf(refused), retryAfter, isSent: true }
        // Not longer than stated: each grant that hears of it spreads its own return.
        state = afterFailure(state, receivedAt, failure, 0)
      }
    },
  }
}

/** What some servers say of a wrong secret, with the status 401. Without that, it may be about the target. RFC 6749 section 5.2 */
const CLIENT_REFUSALS: ReadonlySet<unknown> = new Set(['invalid_client', 'unauthorized_client'])

/** A stated pause, and a refusal of the client itself. Any other failure may come of the token of one subject. */
function concernsAll(refused: TokenClientError): boolean {
  const { retryAfter = 0, responseStatus } = refused
  return retryAfter > 0 || (responseStatus === 401 && CLIENT_REFUSALS.has(reasonOf(refused)))
}

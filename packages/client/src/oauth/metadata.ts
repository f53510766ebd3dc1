import { beginFlight, type Flight, flightOrPause } from '@portcullis/kit/calls'
import { REQUEST_SETTINGS } from '@portcullis/kit/http'
import { afterStatus, metadataUrls, readPlaces } from '@portcullis/kit/metadata'
import { type Clock, elapsed, type Instant, instant } from '@portcullis/kit/time'

import { TokenClientError } from '../answer/errors.ts'
import { afterFailure, INITIAL, nextLoginIn, type RenewalState } from '../login/renewal.ts'
import type { Retry } from '../request/retry.ts'
import { type ClientFetch, sleep } from '../request/token-request.ts'
import { type Closing, raceAbort, waitFor } from '../waiting/abort.ts'
import {
  type AuthorizationServer,
  type ExpectedIssuer,
  isServer,
  type MetadataOutcome,
  outcomeOf,
  type UnusableMetadata,
} from './metadata-answer.ts'

// Where the token endpoint is, as the metadata of the issuer say. `metadata-answer.ts` reads each answer.

export interface DiscoveryOptions extends ExpectedIssuer {
  readonly fetch: ClientFetch
  readonly retry: Retry
  readonly clock: Clock
  /** Of one attempt. Seconds. */
  readonly timeout: number
  readonly closing: Closing
  /** Of the runtime; by default it is asked. */
  readonly endsWithRequest?: boolean | undefined
}

/** @throws TokenClientError */
export type Locate = (signal: AbortSignal) => Promise<AuthorizationServer>

type Outcome = AuthorizationServer | TokenClientError

/** Seconds. */
const METADATA_AGE = 3600

/** One attempt at a time, for any number of callers; after a failure there is a pause. What is known serves on meanwhile. */
export function createDiscovery(options: DiscoveryOptions): Locate {
  const { clock, timeout, endsWithRequest } = options
  let known: AuthorizationServer | undefined
  let askedAt: Instant | undefined
  let attempt: Flight<Outcome> | undefined
  let pace: RenewalState = INITIAL
  let failure: TokenClientError | undefined

  function begin(): Flight<Outcome> {
    askedAt = instant(clock)
    const own = beginFlight(
      async () => {
        const outcome = await readInTime(options).catch(failureOf)
        // Otherwise it was given up, and another has taken its place.
        if (attempt === own) settle(outcome)
        return outcome
      },
      { clock, timeout, waitUntil: undefined, endsWithRequest },
    )
    attempt = own
    return own
  }

  function settle(outcome: Outcome): void {
    attempt = undefined
    if (!(outcome instanceof TokenClientError)) {
      known = outcome
      pace = INITIAL
      return
    }
    failure = outcome
    const { code, retryAfter } = failure
    pace = afterFailure(pace, instant(clock), { code, retryAfter, isSent: true }, Math.random())
  }

  /** @throws TokenClientError while nothing may be asked. */
  function beginIfDue(): Flight<Outcome> {
    const retryAfter = nextLoginIn(pace, instant(clock))
    if (failure === undefined || retryAfter === 0) return begin()
    throw new TokenClientError(failure.code, failure.message, { retryAfter })
  }

  return async (signal) => {
    if (known !== undefined) {
      const isOld = askedAt !== undefined && elapsed(askedAt, instant(clock)) >= METADATA_AGE
      // What is known serves on.
      if (isOld && (attempt?.untilGivenUp() ?? 0) <= 0) begin()
      return known
    }
    for (;;) {
      const next = flightOrPause(attempt, clock, beginIfDue)
      if (typeof next === 'number') await sleep(clock, next, signal)
      else {
        const outcome = await waitFor(next, signal)
        if (outcome instanceof TokenClientError) throw outcome
        if (outcome !== undefined) return outcome
      }
    }
  }
}

function failureOf(error: unknown): TokenClientError {
  if (error instanceof TokenClientError) return error
  return new TokenClientError('service_unavailable', 'the metadata were not read')
}

/** One attempt with its deadline: an injected `fetch` may ignore its signal. */
async function readInTime(options: DiscoveryOptions): Promise<AuthorizationServer> {
  const { clock, timeout, closing } = options
  const ending = new AbortController()
  const end = () => {
    ending.abort()
  }
  const cancel = clock.after(timeout, end)
  const stop = closing.onClose(end)
  try {
    return await raceAbort(readMetadata(options, ending.signal), ending.signal)
  } catch (error) {
    if (closing.isClosed || !ending.signal.aborted) throw error
    const message = `the authorization server gave no metadata in ${timeout} s`
    throw new TokenClientError('timeout', message)
  } finally {
    cancel()
    stop()
    ending.abort()
  }
}

/** @throws TokenClientError */
async function readMetadata(options: DiscoveryOptions, signal: AbortSignal) {
  const { issuer, timeout, clock } = options
  const reader = {
    read: async (url: string) => await readLocation(url, options, signal),
    isWanted: isServer,
    wantsPause: (outcome: MetadataOutcome) =>
      !isServer(outcome) && afterStatus(outcome.failure.responseStatus) === 'pause',
  }
  const urls = metadataUrls(issuer, 'oauth-authorization-server')
  const found = await readPlaces(urls, reader, timeout / 3, { clock, signal })
  if ('token_endpoint' in found) return found
  throw mostTelling(found.flatMap((each) => (isServer(each) ? [] : [each])))
}

const HEADERS = { accept: 'application/json', 'user-agent': 'portcullis' }

/** Never rejects. */
async function readLocation(url: string, options: DiscoveryOptions, signal: AbortSignal) {
  const { fetch, retry, clock } = options
  const init = { headers: HEADERS, ...REQUEST_SETTINGS, signal } as const
  const exchange = {
    compose: () => init,
    send: async () => ({ response: await fetch(url, init) }),
    mayFollow: () => true,
  }
  try {
    const { response } = await retry(exchange, signal)
    return await outcomeOf(response, url, clock.now(), options)
  } catch (error) {
    return { failure: failureOf(error), isOfDocument: false }
  }
}

/** A document that cannot be used explains more than one that could not be had, and an outage more than one that is not there. */
function mostTelling(outcomes: readonly UnusableMetadata[]): TokenClientError {
  const failures = outcomes.map(({ failure }) => failure)
  return (
    outcomes.find(({ isOfDocument }) => isOfDocument)?.failure ??
    failures.find(({ code }) => code === 'service_unavailable') ??
    failureOf(failures.at(-1))
  )
}

import type { Clock } from '@portcullis/core'
import {
  beginFlight,
  type Flight,
  flightOrPause,
  outcomeOf,
  type WaitUntil,
} from '@portcullis/kit/calls'
import { createExchange, type FetchFailure, type Retry, withDeadline } from '@portcullis/kit/http'
import { checkIssuer, endpointReader, findUrl } from '@portcullis/kit/metadata'
import { failurePauseEnd } from '@portcullis/kit/pace'
import { elapsed, type Instant, instant } from '@portcullis/kit/time'

import type { Failure } from './decisions.ts'
import { COMMON_HEADERS, FailedExchange, type IntrospectionFetch } from './exchange.ts'

// Where the introspection endpoint is, as the metadata of the issuer say. Core reads them, as it reads those that name keys.

export interface MetadataOptions {
  readonly issuer: string
  readonly allowInsecure: boolean
  readonly fetch: IntrospectionFetch
  /** Of the issuer: the same for all requests to it. */
  readonly retry: Retry
  readonly clock: Clock
  /** The deadline of one attempt. Seconds. */
  readonly timeout: number
  /** Whether this API shows a certificate: an issuer may have other URLs for that. */
  readonly hasCertificate: boolean
  /** Of the runtime; by default it is asked. */
  readonly endsWithRequest?: boolean | undefined
}

export interface Discovery {
  /** Its URL. @param waitUntil Of the request. @throws FailedExchange */
  readonly locate: (waitUntil?: WaitUntil) => Promise<string>
  /** Is told that the endpoint has failed: it may have moved. */
  readonly doubt: (waitUntil?: WaitUntil) => void
}

/** How long metadata are used before they are read again, and for how long at least while the endpoint fails. Seconds. */
const METADATA_AGE = 3600
const DOUBTED_AGE = 60

interface FailedAttempt {
  readonly failures: number
  readonly failure: Failure
  /** Seconds of the monotonic clock. */
  readonly pauseEnd: number
}

/** One attempt at a time, of no caller; after a failure a pause. An old URL serves meanwhile. @throws TypeError for what is no issuer. */
export function createDiscovery(options: MetadataOptions): Discovery {
  const { clock, timeout, hasCertificate, endsWithRequest } = options
  const names = ['introspection endpoint', 'introspection_endpoint'] as const
  const reader = endpointReader('introspected', ...names, hasCertificate)
  const issuer = checkIssuer(options.issuer, options.allowInsecure, reader)
  let known: string | undefined
  let readAt: Instant | undefined
  let failed: FailedAttempt | undefined
  let attempt: Flight<'read'> | undefined

  function begin(waitUntil: WaitUntil | undefined): Flight<'read'> {
    const work = async (): Promise<'read'> => {
      const outcome = await readMetadata()
      // Otherwise it was given up, and another has taken its place.
      if (attempt === own) settle(own.startedAt, outcome)
      return 'read'
    }
    const own = beginFlight(work, { clock, timeout, waitUntil, endsWithRequest })
    attempt = own
    return own
  }

  function settle(began: Instant, outcome: string | FetchFailure): void {
    readAt = began
    attempt = undefined
    if (typeof outcome === 'string') {
      known = outcome
      failed = undefined
    } else {
      failed = afterFailure(failureOf(outcome), began.monotonic)
    }
  }

  async function readMetadata(): Promise<string | FetchFailure> {
    return await withDeadline(clock, timeout, async (signal) => {
      const exchange = createExchange({ ...options, headers: HEADERS }, signal)
      return await findUrl(issuer, exchange, timeout / 3)
    })
  }

  function afterFailure(failure: Failure, startedAt: number): FailedAttempt {
    const failures = (failed?.failures ?? 0) + 1
    const times = { startedAt, settledAt: clock.monotonic() }
    const pauseEnd = failurePauseEnd(failures, times, failure.retryAfter ?? 0, Math.random())
    return { failures, failure, pauseEnd }
  }

  /** The attempt under way, unless it should have ended long ago. */
  function underWay(): Flight<'read'> | undefined {
    return attempt === undefined || attempt.untilGivenUp() <= 0 ? undefined : attempt
  }

  /** Another request may have read them while this one paused, or have failed to. */
  function readingOrPause(waitUntil: WaitUntil | undefined): Flight<'read'> | number {
    const isRead = known !== undefined || clock.monotonic() < (failed?.pauseEnd ?? -Infinity)
    if (isRead) {
      const unheld = { clock, timeout, waitUntil: undefined }
      return beginFlight(async (): Promise<'read'> => 'read', unheld)
    }
    return flightOrPause(underWay(), clock, () => begin(waitUntil))
  }

  /** For nobody who waits. */
  function readBehind(waitUntil: WaitUntil | undefined): void {
    if (underWay() === undefined) begin(waitUntil)
  }

  /** @throws FailedExchange with what is left of the pause */
  function urlOrFailure(): string {
    if (known !== undefined) return known
    const retryAfter = Math.max(0, (failed?.pauseEnd ?? 0) - clock.monotonic())
    throw new FailedExchange({ ...(failed?.failure ?? UNREAD), retryAfter })
  }

  function isOlderThan(age: number): boolean {
    return readAt === undefined || elapsed(readAt, instant(clock)) >= age
  }

  return {
    async locate(waitUntil) {
      if (known !== undefined) {
        if (isOlderThan(METADATA_AGE)) readBehind(waitUntil)
      } else if (failed === undefined || clock.monotonic() >= failed.pauseEnd) {
        await outcomeOf(() => readingOrPause(waitUntil), clock)
      }
      return urlOrFailure()
    },
    doubt(waitUntil) {
      if (isOlderThan(DOUBTED_AGE)) readBehind(waitUntil)
    },
  }
}

const HEADERS = { accept: 'application/json', ...COMMON_HEADERS }

function failureOf({ failure, detail, retryAfter }: FetchFailure): Failure {
  const reason = failure === 'bad_document' ? 'bad_answer' : failure
  return { reason, detail, concerns: 'endpoint', retryAfter }
}

const UNREAD: Failure = {
  reason: 'unreachable',
  detail: 'the metadata were not read',
  concerns: 'endpoint',
  retryAfter: undefined,
}

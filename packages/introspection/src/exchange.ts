import type { Clock, FetchResponse, ResponseHeaders } from '@portcullis/core'
import {
  member,
  parseUnambiguousObject,
  platformCode,
  readBody,
  retryAfter,
} from '@portcullis/core/verifier'

import type { Failure } from './decisions.ts'

// Sends one request to the issuer and reads what comes back: that it is no redirect, its status and its size.

/** The part of `fetch` that is used. The platform's `fetch` and that of undici both fit. */
export type IntrospectionFetch = (
  url: string,
  init: {
    readonly method: 'GET' | 'POST'
    readonly headers: Readonly<Record<string, string>>
    readonly body?: URLSearchParams
    readonly redirect: 'manual'
    readonly credentials: 'omit'
    readonly signal: AbortSignal
  },
) => Promise<FetchResponse>

/** What the issuer has answered with status 200. Nothing of it is read yet. */
export interface RawAnswer {
  readonly mediaType: string
  readonly octets: Buffer
}

/** An exchange without an answer. It is thrown through `oauth4webapi`, which knows nothing of failures in words. */
export class FailedExchange extends Error {
  readonly failure: Failure
  constructor(failure: Failure) {
    super(failure.detail)
    this.failure = failure
  }
}

/** What an exchange is made with. */
export interface Exchange {
  readonly fetch: IntrospectionFetch
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** Of each request to the issuer. */
export const COMMON_HEADERS = { 'accept-encoding': 'identity', 'user-agent': 'portcullis' }

/** Octets. */
const LONGEST_ANSWER = 65_536

/**
 * @param name What a failure calls the URL.
 * @throws FailedExchange
 */
export async function exchange(
  url: string,
  request: Omit<Parameters<IntrospectionFetch>[1], 'redirect' | 'credentials' | 'signal'>,
  { fetch, clock, signal }: Exchange,
  name: string,
): Promise<RawAnswer> {
  try {
    const init = { ...request, redirect: 'manual', credentials: 'omit', signal } as const
    const response = await fetch(url, init)
    const pause = retryAfter(textOf(response.headers, 'retry-after'), clock.now())
    checkStatus(response, url, name, pause)
    const octets = await readBody(response.body, signal, LONGEST_ANSWER)
    if (octets === undefined) {
      throw failed('bad_answer', `the answer of ${name} has more than ${LONGEST_ANSWER} bytes`)
    }
    if (response.status === 400) throw badRequest(octets, name, pause)
    return { mediaType: mediaTypeOf(response.headers), octets }
  } catch (error) {
    if (error instanceof FailedExchange) throw error
    throw unavailableEndpoint(
      'unreachable',
      `the connection to ${name} failed${platformCode(error)}`,
    )
  }
}

function checkStatus(
  { status, redirected, url: answered }: FetchResponse,
  url: string,
  name: string,
  pause: number | undefined,
): void {
  // A constructed `Response` has an empty URL.
  if (redirected || (answered !== '' && answered !== url) || (status >= 300 && status < 400)) {
    const detail = `${name} answered with a redirect, which is not followed`
    throw unavailableEndpoint('bad_answer', detail)
  }
  if (status === 200 || status === 400) return
  if (status === 401 || status === 403) throw refusedClient(name, status, pause)
  if (status >= 500 || status === 429) {
    throw unavailableEndpoint('unreachable', `${name} answered ${status}`, pause)
  }
  throw failed('bad_answer', `${name} answered ${status}`, pause)
}

/** A client may be refused with 400 as well; the body says so. RFC 6749 section 5.2. */
function badRequest(octets: Buffer, name: string, pause: number | undefined): FailedExchange {
  const body = parseUnambiguousObject(octets)
  const error = body && member(body, 'error')
  return error === 'invalid_client' || error === 'unauthorized_client'
    ? refusedClient(name, 400, pause)
    : failed('bad_answer', `${name} answered 400`, pause)
}

function refusedClient(name: string, status: number, pause: number | undefined): FailedExchange {
  const detail = `${name} refuses this API as its client (${status}): are its credentials right?`
  return unavailableEndpoint('bad_answer', detail, pause)
}

/**
 * A failure that may be the fault of the token.
 *
 * @param pause What the answer asked for. Seconds.
 */
export function failed(reason: Failure['reason'], detail: string, pause?: number): FailedExchange {
  return new FailedExchange({ reason, detail, concerns: 'token', retryAfter: pause })
}

/** @param pause As of {@link failed}. */
export function unavailableEndpoint(
  reason: Failure['reason'],
  detail: string,
  pause?: number,
): FailedExchange {
  return new FailedExchange({ reason, detail, concerns: 'endpoint', retryAfter: pause })
}

/** Without parameters, in small letters. RFC 9110 section 8.3.1. */
function mediaTypeOf(headers: ResponseHeaders): string {
  return (textOf(headers, 'content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
}

/** Whatever an injected `fetch` makes of a header. */
function textOf(headers: ResponseHeaders, name: string): string | null {
  const value: unknown = headers.get(name)
  return typeof value === 'string' ? value : null
}

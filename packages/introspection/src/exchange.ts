import type { Clock, FetchResponse } from '@portcullis/core'
import {
  mediaTypeOf,
  platformCode,
  readBody,
  type Retry,
  retryAfter,
  textOf,
  whatIsMissing,
  whereItIsFrom,
  whyFailed,
} from '@portcullis/kit/http'
import { member, parseUnambiguousObject } from '@portcullis/kit/json'

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
    readonly cache: 'no-store'
    readonly signal: AbortSignal
  },
) => Promise<FetchResponse>

export interface RawAnswer {
  readonly mediaType: string
  readonly octets: Buffer
  /** The pause that it asked for all the same. Seconds. */
  readonly retryAfter: number | undefined
}

/** An exchange without an answer: thrown, since it ends all steps of the exchange at once. */
export class FailedExchange extends Error {
  readonly failure: Failure
  constructor(failure: Failure) {
    super(failure.detail)
    this.failure = failure
  }
}

export interface Exchange {
  readonly retry: Retry
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** Of each request to the issuer. */
export const COMMON_HEADERS = { 'user-agent': 'portcullis' }

/** Octets. */
const LONGEST_ANSWER = 65_536

/** @param send Anew each time: an issuer may accept an assertion only once. @param name Of the URL. @throws FailedExchange */
export async function exchange(
  url: string,
  send: () => Promise<FetchResponse>,
  { retry, clock, signal }: Exchange,
  name: string,
): Promise<RawAnswer> {
  try {
    const response = await retry(send, signal)
    const missing = whatIsMissing(response)
    // Whatever the token: it is the fault of the function.
    if (missing !== undefined) throw unavailableEndpoint('bad_answer', missing)
    const pause = retryAfter(response.headers, clock.now())
    checkStatus(response, url, name, pause)
    const octets = await readBody(response.body, signal, LONGEST_ANSWER)
    if (octets === undefined) {
      const detail = `the answer of ${name} has more than ${LONGEST_ANSWER} bytes`
      throw failed('bad_answer', detail, pause)
    }
    if (response.status !== 200) throw refused(response.status, octets, name, pause)
    return {
      mediaType: mediaTypeOf(textOf(response.headers, 'content-type')),
      octets,
      retryAfter: pause,
    }
  } catch (error) {
    if (error instanceof FailedExchange) throw error
    const code = platformCode(error)
    const detail = `the connection to ${name} failed${whyFailed(error)}`
    throw UNCONNECTED.some((each) => code?.startsWith(each))
      ? unavailableEndpoint('unreachable', detail)
      : failed('unreachable', detail)
  }
}

/** How codes begin where nothing was sent: no address, connection or TLS. A later end may answer a token: some issuers reset it. */
const UNCONNECTED: readonly string[] = [
  'ENOTFOUND',
  'EAI_',
  'ECONNREFUSED',
  'EHOST',
  'ENET',
  'ETIMEDOUT',
  'EADDR',
  'EACCES',
  'EPERM',
  'EMFILE',
  'ENFILE',
  'UND_ERR_CONNECT',
  'EPROTO',
  'ERR_SSL_',
  'ERR_TLS_',
  'CERT_',
  'DEPTH_ZERO_',
  'SELF_SIGNED_',
  'UNABLE_TO_',
  'HOSTNAME_MISMATCH',
  'INVALID_',
]

function checkStatus(
  response: FetchResponse,
  url: string,
  name: string,
  pause: number | undefined,
): void {
  const { status } = response
  const redirected = response.redirected || (status >= 300 && status < 400)
  const elsewhere = whereItIsFrom({ redirected, url: response.url }, url, name)
  if (elsewhere !== undefined) throw failed('bad_answer', elsewhere, pause)
  if (status === 200 || status === 400 || status === 401 || status === 403) return
  const detail = `${name} answered ${status}`
  if (status === 429) throw unavailableEndpoint('unreachable', detail, pause)
  throw failed(status >= 500 ? 'unreachable' : 'bad_answer', detail, pause)
}

/** That a client is refused stands in the body, whatever the status. RFC 6749 section 5.2. */
function refused(
  status: number,
  octets: Buffer,
  name: string,
  pause: number | undefined,
): FailedExchange {
  const body = parseUnambiguousObject(octets)
  const error = body && member(body, 'error')
  if (error === 'invalid_client' || error === 'unauthorized_client') {
    const detail = `${name} refuses this API as its client (${status}): are its credentials right?`
    return failed('bad_answer', detail, pause, 'client')
  }
  const hint = status === 400 ? '' : ': are the credentials of this API right?'
  return failed('bad_answer', `${name} answered ${status}${hint}`, pause)
}

/** A failure that may be the fault of the token, or of this API as a client; if the answer asked for a pause (seconds), of neither. */
export function failed(
  reason: Failure['reason'],
  detail: string,
  pause?: number,
  concerns: 'token' | 'client' = 'token',
): FailedExchange {
  if (pause !== undefined) return unavailableEndpoint(reason, detail, pause)
  return new FailedExchange({ reason, detail, concerns, retryAfter: undefined })
}

/** A failure that cannot depend on the token. @param pause As of {@link failed}. */
export function unavailableEndpoint(
  reason: Failure['reason'],
  detail: string,
  pause?: number,
): FailedExchange {
  return new FailedExchange({ reason, detail, concerns: 'endpoint', retryAfter: pause })
}

import { isUtf8 } from 'node:buffer'

import type { Clock } from '@portcullis/core'
import {
  createRetry,
  discardBody,
  readBody,
  REQUEST_SETTINGS,
  retryAfter,
  whatIsMissing,
  whereItIsFrom,
  whyFailed,
  withDeadline,
} from '@portcullis/kit/http'
import { parseJson } from '@portcullis/kit/json'

import { CLOSED, TransmitterError } from './transmitter-error.ts'
import { whenClosed } from './until-closed.ts'

// One request to a transmitter: its deadline, its limits, and what counts as an answer.

export interface TransmitterRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** A URL that is trusted, as `fetch` writes it. */
  readonly url: string
  /** What failures call the URL. */
  readonly name: string
  readonly body?: object
  /** The statuses that are an answer. Of `withBody` the body is read, and must be JSON. */
  readonly withBody: readonly number[]
  readonly without: readonly number[]
  /** What is sent twice must mean no more than what is sent once. */
  readonly isRepeatable: boolean
}

interface TransmitterAnswer {
  readonly status: number
  readonly value: unknown
}

/** @throws TransmitterError if there is no answer of such a status, in time, from that very URL. */
export type CallTransmitter = (
  request: TransmitterRequest,
  closed: AbortSignal,
) => Promise<TransmitterAnswer>

/** Octets. */
const MAX_ANSWER = 1024 * 1024
/** Seconds. */
const TIMEOUT = 20

type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** What some versions of the types of Node leave out. */
type CallInit = RequestInit & { readonly cache: 'no-store' }

export function createTransmitterCalls(fetch: Fetch, clock: Clock): CallTransmitter {
  const retry = createRetry()

  async function exchange(
    request: TransmitterRequest,
    signal: AbortSignal,
  ): Promise<TransmitterAnswer | TransmitterError> {
    const { method, url, name, body, withBody, without, isRepeatable } = request
    const init: CallInit = {
      method,
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // A redirect would take the token to where nobody has allowed it.
      ...REQUEST_SETTINGS,
      signal,
    }
    try {
      const send = async () => await fetch(url, init)
      const response = isRepeatable ? await retry(send, signal) : await send()
      // An injected `fetch` may follow redirects all the same.
      const wrong = whatIsMissing(response) ?? whereItIsFrom(response, url, name)
      if (wrong !== undefined) return new TransmitterError(wrong)
      const { status } = response
      if (withBody.includes(status)) return await readAnswer(response, name, signal)
      const asked = retryAfter(response.headers, clock.now())
      discardBody(response)
      return without.includes(status)
        ? { status, value: undefined }
        : new TransmitterError(`${name} answered ${status}`, asked)
    } catch (error) {
      return new TransmitterError(`the connection to ${name} failed${whyFailed(error)}`)
    }
  }

  return async (request, closed) => {
    if (closed.aborted) throw new TransmitterError(CLOSED)
    const answer = await withDeadline(
      clock,
      TIMEOUT,
      async (signal) =>
        await Promise.race([
          exchange(request, signal),
          whenClosed(closed, signal, new TransmitterError(CLOSED)),
        ]),
    )
    if (answer instanceof TransmitterError) throw answer
    if ('failure' in answer) throw new TransmitterError(`${request.name}: ${answer.detail}`)
    return answer
  }
}

async function readAnswer(
  { status, body }: Response,
  name: string,
  signal: AbortSignal,
): Promise<TransmitterAnswer | TransmitterError> {
  const octets = await readBody(body, signal, MAX_ANSWER)
  if (octets === undefined) {
    return new TransmitterError(`the answer of ${name} has more than ${MAX_ANSWER} bytes`)
  }
  const value = isUtf8(octets) ? parseJson(octets.toString()) : undefined
  return value === undefined
    ? new TransmitterError(`the answer of ${name} is not JSON`)
    : { status, value }
}

import { discardBody, REQUEST_SETTINGS } from '@portcullis/kit/http'
import { doubled, drawn } from '@portcullis/kit/pace'
import { type Clock, type Instant, instant } from '@portcullis/kit/time'

import { TokenClientError } from '../answer/errors.ts'
import { readBody } from '../answer/http-answer.ts'
import { clockSkewOf } from '../answer/http-time.ts'
import { reach } from '../answer/outage.ts'
import { errorIn } from '../answer/token-response.ts'
import type { Dpop, Proof } from '../dpop/dpop.ts'
import type { Retry } from './retry.ts'

// The requests of one login, and which of them are repeated. What they say is the matter of the exchange that is handed to it.

/**
 * Like the platform's `fetch`: it sends the logins, and the requests of the client's own `fetch`. One of another type, such
 * as undici's, may not accept the platform's bodies: to use it all the same, cast it (`undici.fetch as typeof fetch`).
 */
export type ClientFetch = (url: string, init: RequestInit) => Promise<Response>

export interface TokenEndpoint {
  readonly exchange: Exchange
  readonly fetch: ClientFetch
  readonly retry: Retry
  readonly clock: Clock
  /** For tokens that are bound to a key. */
  readonly dpop?: Dpop | undefined
}

/** How a token is obtained: the requests that are sent for it, and what their answers mean. */
export interface Exchange {
  /** Reads what one login needs, and returns what composes each request: some have what a service accepts once. @throws TokenClientError */
  prepare(signal: AbortSignal): Promise<() => Promise<TokenRequest>>
  /** @throws TokenClientError if the service has refused, or the answer has no token; whatever reading the body fails with. */
  read(answer: ServiceAnswer): Promise<GrantedToken>
}

/** One request, which is a form and sent by POST. */
export interface TokenRequest {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body: string
}

export interface ServiceAnswer {
  readonly url: string
  readonly response: Response
  readonly sentAt: Instant
  readonly receivedAt: Instant
  /** Seconds that the service's clock is ahead of ours; 0 if the answer does not tell. */
  readonly clockSkew: number
  /** That of the request. */
  readonly proof: Proof | undefined
  /** Reads the body, once. @throws TokenClientError */
  readonly body: () => Promise<string>
}

export interface GrantedToken {
  readonly token: string
  /** Seconds from the answer until it expires; `undefined` if that is not known. */
  readonly lifetime: number | undefined
  /** Whether it is bound to the key with this thumbprint, as far as it can be told. */
  readonly isBoundTo: (jkt: string) => boolean
  /** Whether another one could last longer. */
  readonly isRenewable: boolean
}

export type TokenAnswer = GrantedToken & Pick<ServiceAnswer, 'receivedAt'>

export interface LoginProgress {
  /** Whether a caller waits: if none does, a failed request is not repeated. */
  isAwaited(): boolean
  onRequest(): void
  /** Seconds that the service's clock is ahead of ours; 0 if the time on the way explains the difference. */
  onClockSkew(seconds: number): void
}

/** Repeats the request while the service is unavailable, a caller waits, and no pause would end after `endsAt`. @throws TokenClientError */
export async function requestToken(
  endpoint: TokenEndpoint,
  progress: LoginProgress,
  endsAt: number,
  signal: AbortSignal,
): Promise<TokenAnswer> {
  const { clock, exchange } = endpoint
  const compose = await exchange.prepare(signal)
  for (let repetitions = 0; ; repetitions++) {
    // The login may have ended while a credential function was running.
    signal.throwIfAborted()
    try {
      return await attempt(endpoint, compose, progress, signal)
    } catch (error) {
      if (!(error instanceof TokenClientError) || error.code !== 'service_unavailable') throw error
      // Random, so that processes which failed together do not come back together.
      const delay = doubled(1, repetitions, Infinity)
      const pause = Math.max(drawn(delay, 1, 1.25, Math.random()), error.retryAfter ?? 0)
      if (!progress.isAwaited() || clock.monotonic() + pause >= endsAt) throw error
      await sleep(clock, pause, signal)
    }
  }
}

/** Rejects with the signal's reason when that is aborted, and leaves no timer behind. */
export async function sleep(clock: Clock, seconds: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  await new Promise<void>((resolve, reject) => {
    const cancel = clock.after(seconds, resolve)
    signal.addEventListener(
      'abort',
      () => {
        cancel()
        reject(signal.reason as Error /* `logIn` always aborts with an error */)
      },
      { once: true },
    )
  })
}

type Compose = () => Promise<TokenRequest>

async function attempt(
  endpoint: TokenEndpoint,
  compose: Compose,
  progress: LoginProgress,
  signal: AbortSignal,
): Promise<TokenAnswer> {
  const first = await post(endpoint, compose, progress, signal)
  const better = await betterProof(endpoint, first)
  const answer =
    better === undefined ? first : await post(endpoint, compose, progress, signal, better.nonce)
  const { response, receivedAt } = answer
  // It may be another than that of the first answer: some servers accept each nonce once. RFC 9449 section 8.2
  if (better !== undefined) endpoint.dpop?.learnNonce(answer.url, response.headers)
  try {
    return { ...(await endpoint.exchange.read(answer)), receivedAt }
  } catch (error) {
    discardBody(response)
    throw error
  }
}

interface ProvenRequest {
  readonly request: TokenRequest
  readonly proof: Proof | undefined
}

/** @param nonce By default the last one that the service sent. */
async function post(
  { fetch, retry, clock, dpop }: TokenEndpoint,
  compose: Compose,
  progress: LoginProgress,
  signal: AbortSignal,
  nonce?: string,
): Promise<ServiceAnswer> {
  async function proven(): Promise<ProvenRequest> {
    const request = await compose()
    const { url } = request
    const proof = await dpop?.proof(url, { method: 'POST', url, token: undefined }, nonce)
    // The login may have ended while the request was composed.
    signal.throwIfAborted()
    return { request, proof }
  }

  async function send({ request, proof }: ProvenRequest) {
    const { url } = request
    progress.onRequest()
    const sentAt = instant(clock)
    const response = await fetch(url, initOf(request, proof, signal))
    return { url, response, sentAt, receivedAt: instant(clock), proof }
  }

  const answer = await retry({ compose: proven, send, mayFollow: isSignedAnew }, signal)
  const { response, sentAt, receivedAt } = answer
  const clockSkew = clockSkewOf(response.headers, sentAt, receivedAt)
  progress.onClockSkew(clockSkew)
  dpop?.learnClock(clockSkew)
  let text: Promise<string> | undefined
  const body = async () => await (text ??= reach(async () => await readBody(response)))
  return { ...answer, clockSkew, body }
}

function initOf({ headers, body }: TokenRequest, proof: Proof | undefined, signal: AbortSignal) {
  return {
    method: 'POST',
    headers: {
      accept: '*/*',
      'content-type': 'application/x-www-form-urlencoded',
      'user-agent': 'portcullis',
      ...headers,
      ...(proof === undefined ? {} : { dpop: proof.text }),
    },
    body,
    // Following a redirect could send the password to another host.
    ...REQUEST_SETTINGS,
    signal,
  }
}

/** A server accepts an assertion of the client once. RFC 7523 section 3 */
function isSignedAnew(first: ProvenRequest, second: ProvenRequest): boolean {
  const assertion = assertionIn(first.request)
  return assertion === null || assertion !== assertionIn(second.request)
}

function assertionIn({ body }: TokenRequest): string | null {
  return new URLSearchParams(body).get('client_assertion')
}

/**
 * The nonce of this answer, or another time. The service must say that it refused the proof: to repeat any refusal would try a wrong
 * password twice. RFC 9449 sections 5 and 8
 */
async function betterProof(
  { dpop }: TokenEndpoint,
  { url, response, clockSkew, proof, body }: ServiceAnswer,
): Promise<{ readonly nonce: string | undefined } | undefined> {
  if (dpop === undefined || proof === undefined) return undefined
  const nonce = dpop.learnNonce(url, response.headers)
  const isRefused = response.status === 400 || response.status === 401
  const correction = dpop.betterCorrection(proof, clockSkew)
  if (!isRefused || (nonce === undefined && correction === undefined)) return undefined
  const error = errorIn(await body().catch(() => ''))
  if (error === 'use_dpop_nonce') return nonce === undefined ? undefined : { nonce }
  if (error !== 'invalid_dpop_proof' || correction === undefined) return undefined
  dpop.correct(url, correction)
  return { nonce }
}

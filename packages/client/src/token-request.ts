import type { Dpop, Proof } from './dpop.ts'
import { TokenClientError } from './errors.ts'
import { discardBody, notAToken, readBody, refusalOf } from './http-answer.ts'
import { clockSkewOf } from './http-time.ts'
import { lifetimeOf } from './lifetime.ts'
import { type Clock, type Instant, instant } from './time.ts'
import { errorIn, findToken, type ResponseFormat } from './token-response.ts'

// The exchange with the token service: the requests of one login, and which of them are repeated.

/**
 * Like the platform's `fetch`: it sends the logins, and the requests of the client's own `fetch`. One of another type, such
 * as undici's, may not accept the platform's bodies: to use it all the same, cast it (`undici.fetch as typeof fetch`).
 */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** A text, or a function that is called for each login. */
export type Credential = string | (() => string | Promise<string>)

/** What a login needs. */
export interface TokenEndpoint {
  readonly url: string
  readonly loginId: Credential
  readonly password: Credential
  readonly response: ResponseFormat
  readonly fetch: Fetch
  readonly clock: Clock
  /** For tokens that are bound to a key. */
  readonly dpop?: Dpop | undefined
}

export interface TokenAnswer {
  readonly token: string
  readonly receivedAt: Instant
  /** Seconds from then until it expires; `undefined` if the token has no expiry. */
  readonly lifetime: number | undefined
}

export interface LoginProgress {
  /** Whether a caller waits: if none does, a failed request is not repeated. */
  isAwaited(): boolean
  onRequest(): void
  /** Seconds that the service's clock is ahead of ours; 0 if the time on the way explains the difference. */
  onClockSkew(seconds: number): void
}

/**
 * Logs in: one request, and further ones while the service is unavailable, a caller waits and there is time.
 *
 * @param endsAt On the monotonic clock: no pause that ends later is begun.
 * @throws TokenClientError
 */
export async function requestToken(
  endpoint: TokenEndpoint,
  progress: LoginProgress,
  endsAt: number,
  signal: AbortSignal,
): Promise<TokenAnswer> {
  const { clock } = endpoint
  const form = new URLSearchParams({
    loginId: await readCredential('loginId', endpoint.loginId),
    password: await readCredential('password', endpoint.password),
  }).toString()
  for (let delay = 1; ; delay *= 2) {
    // The login may have ended while a credential function was running.
    signal.throwIfAborted()
    try {
      return await exchange(endpoint, form, progress, signal)
    } catch (error) {
      if (!(error instanceof TokenClientError) || error.code !== 'service_unavailable') throw error
      // Random, so that processes which failed together do not come back together.
      const pause = Math.max(delay * (1 + Math.random() / 4), error.retryAfter ?? 0)
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

async function readCredential(name: string, credential: Credential): Promise<string> {
  let text: unknown
  try {
    text = typeof credential === 'function' ? await credential() : credential
  } catch {
    throw new TokenClientError('service_unavailable', `the function ${name} failed`)
  }
  if (typeof text === 'string' && text !== '') return text
  throw new TokenClientError('service_unavailable', `the function ${name} gave no text`)
}

async function exchange(
  endpoint: TokenEndpoint,
  form: string,
  progress: LoginProgress,
  signal: AbortSignal,
): Promise<TokenAnswer> {
  const { url, response: format } = endpoint
  const first = await post(endpoint, form, progress, signal)
  const better = await betterProof(endpoint, first)
  const answer =
    better === undefined ? first : await post(endpoint, form, progress, signal, better.nonce)
  const { response, receivedAt, clockSkew } = answer
  const refusal = refusalOf(response, url, receivedAt.wall)
  if (refusal !== undefined) {
    discardBody(response)
    throw refusal
  }
  const body = await reach(async () => await readBody(response))
  const token = tokenIn(body, format, response)
  if (token === undefined) throw notAToken(response, `${body.length} characters`)
  return { token, receivedAt, lifetime: lifetimeOf(token, receivedAt.wall, clockSkew) }
}

interface ServiceAnswer {
  readonly response: Response
  readonly receivedAt: Instant
  readonly clockSkew: number
  readonly proof: Proof | undefined
}

/** @param nonce By default the last one that the service sent. */
async function post(
  { url, fetch, clock, dpop }: TokenEndpoint,
  form: string,
  progress: LoginProgress,
  signal: AbortSignal,
  nonce?: string,
): Promise<ServiceAnswer> {
  const proof = await dpop?.proof(url, { method: 'POST', url, token: undefined }, nonce)
  // The login may have ended while the proof was made.
  signal.throwIfAborted()
  progress.onRequest()
  const sentAt = instant(clock)
  const response = await reach(async () => {
    return await fetch(url, {
      method: 'POST',
      headers: {
        accept: '*/*',
        'content-type': 'application/x-www-form-urlencoded',
        'user-agent': 'portcullis',
        ...(proof === undefined ? {} : { dpop: proof.text }),
      },
      body: form,
      // Following a redirect could send the password to another host.
      redirect: 'manual',
      credentials: 'omit',
      signal,
    })
  })
  const receivedAt = instant(clock)
  const clockSkew = clockSkewOf(response.headers, sentAt, receivedAt)
  progress.onClockSkew(clockSkew)
  dpop?.learnClock(clockSkew)
  return { response, receivedAt, clockSkew, proof }
}

/**
 * What another proof would have that the refused one had not: the nonce of this answer, or another time. The service must say
 * that it refused the proof: to repeat any refusal would try a wrong password twice.
 *
 * @see RFC 9449 sections 5 and 8
 */
async function betterProof(
  { url, dpop }: TokenEndpoint,
  { response, clockSkew, proof }: ServiceAnswer,
): Promise<{ readonly nonce: string | undefined } | undefined> {
  if (dpop === undefined || proof === undefined) return undefined
  const nonce = dpop.learnNonce(url, response.headers)
  const isRefused = response.status === 400 || response.status === 401
  const correction = dpop.betterCorrection(proof, clockSkew)
  if (!isRefused || (nonce === undefined && correction === undefined)) return undefined
  const error = errorIn(await readBody(response).catch(() => ''))
  if (error === 'use_dpop_nonce') return nonce === undefined ? undefined : { nonce }
  if (error !== 'invalid_dpop_proof' || correction === undefined) return undefined
  dpop.correct(url, correction)
  return { nonce }
}

function tokenIn(body: string, format: ResponseFormat, { headers }: Response): string | undefined {
  // Not the `Response` itself: the function must not read or keep more than it needs.
  const lookup = { get: (name: string) => headers.get(name) }
  try {
    return findToken(body, format, { headers: lookup })
  } catch {
    const message = 'the function response gave a promise: it must give the token at once'
    throw new TokenClientError('unexpected_response', message)
  }
}

/** Everything that `fetch` or the body's stream fails with counts as an outage. */
async function reach<Result>(step: () => Promise<Result>): Promise<Result> {
  try {
    return await step()
  } catch (error) {
    if (error instanceof TokenClientError) throw error
    const message = `the token service could not be reached${platformCode(error)}`
    throw new TokenClientError('service_unavailable', message)
  }
}

/** Such as ECONNREFUSED. The error's message is left out, since it may quote what was sent. */
function platformCode(error: unknown): string {
  const causes = [error, error instanceof Error ? error.cause : undefined]
  const code = causes
    .map((each) => (each instanceof Error && 'code' in each ? each.code : undefined))
    .find((each) => typeof each === 'string' && /^[A-Z][A-Z\d_]{2,40}$/.test(each))
  return typeof code === 'string' ? ` (${code})` : ''
}

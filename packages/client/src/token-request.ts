import { TokenClientError } from './errors.ts'
import { clockSkewOf, retryAfterOf } from './http-time.ts'
import { lifetimeOf } from './lifetime.ts'
import { type Clock, type Instant, instant } from './time.ts'
import { findToken, type ResponseFormat } from './token-response.ts'

/**
 * As the platform's `fetch`: it makes the logins, and the requests of the client's own `fetch`. What is of other types,
 * such as undici's own, takes only its own bodies: `undici.fetch as typeof fetch` says that you know.
 */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** A text, or where to read it at each login. */
export type Credential = string | (() => string | Promise<string>)

/** What a login needs. */
export interface TokenEndpoint {
  readonly url: string
  readonly loginId: Credential
  readonly password: Credential
  readonly response: ResponseFormat
  readonly fetch: Fetch
  readonly clock: Clock
}

export interface TokenAnswer {
  readonly token: string
  readonly receivedAt: Instant
  /** Seconds from then until it expires, by the service's clock; `undefined` if it does not say. */
  readonly lifetime: number | undefined
}

export interface LoginProgress {
  /** Whether somebody waits: nobody's login is not tried a second time. */
  isAwaited(): boolean
  onRequest(): void
  /** Seconds that the service's clock is ahead of ours; 0 if it cannot be told apart from the way there and back. */
  onClockSkew(seconds: number): void
}

const MAX_BODY_OCTETS = 64 * 1024

/**
 * Logs in: one request, and further ones while the service cannot answer, somebody waits and there is time.
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
    // A credential function may take longer than the login: nothing is sent once that is over.
    signal.throwIfAborted()
    try {
      progress.onRequest()
      return await exchange(endpoint, form, progress, signal)
    } catch (error) {
      if (!(error instanceof TokenClientError) || error.code !== 'service_unavailable') throw error
      // Spread, so that a fleet that failed together does not come back together.
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
        reject(signal.reason as Error /* whoever aborts a login gives an error */)
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
  { url, response: format, fetch, clock }: TokenEndpoint,
  form: string,
  progress: LoginProgress,
  signal: AbortSignal,
): Promise<TokenAnswer> {
  const sentAt = clock.monotonic()
  const response = await reach(async () => {
    return await fetch(url, {
      method: 'POST',
      headers: {
        accept: '*/*',
        'content-type': 'application/x-www-form-urlencoded',
        'user-agent': 'portcullis',
      },
      body: form,
      // A redirect that was followed could post the password to anywhere.
      redirect: 'manual',
      credentials: 'omit',
      signal,
    })
  })
  const receivedAt = instant(clock)
  const roundTrip = receivedAt.monotonic - sentAt
  const clockSkew = clockSkewOf(response.headers, receivedAt.wall, roundTrip)
  progress.onClockSkew(clockSkew)
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

function tokenIn(body: string, format: ResponseFormat, { headers }: Response): string | undefined {
  // The lookup alone, since a function that keeps the whole answer would keep its socket.
  const lookup = { get: (name: string) => headers.get(name) }
  try {
    return findToken(body, format, { headers: lookup })
  } catch {
    const message = 'the function response gave a promise: it must give the token at once'
    throw new TokenClientError('unexpected_response', message)
  }
}

/** Whatever else fails on the way is an outage. */
async function reach<Result>(step: () => Promise<Result>): Promise<Result> {
  try {
    return await step()
  } catch (error) {
    if (error instanceof TokenClientError) throw error
    const message = `the token service could not be reached${platformCode(error)}`
    throw new TokenClientError('service_unavailable', message)
  }
}

/** Without waiting: how the rest of an answer ends, if it ever does, must not change what the answer means. */
export function discardBody({ body }: { readonly body: Discardable | null }): void {
  discard(body).catch(() => {
    // It is gone all the same.
  })
}

/** A stream of the platform, or one of Node's. */
interface Discardable {
  cancel?(): Promise<void>
  destroy?(): unknown
}

async function discard(body: Discardable | null): Promise<void> {
  if (body?.cancel === undefined) body?.destroy?.()
  else await body.cancel()
}

function refusalOf(response: Response, url: string, now: number): TokenClientError | undefined {
  const { status: responseStatus, headers } = response
  // A constructed `Response` has an empty URL.
  if (response.redirected || (response.url !== '' && response.url !== url)) {
    return new TokenClientError('unexpected_response', 'the token service redirected', {
      responseStatus,
    })
  }
  if (responseStatus >= 200 && responseStatus < 300) return undefined
  const message = `the token service answered with status ${responseStatus}`
  if ([400, 401, 403].includes(responseStatus)) {
    return new TokenClientError('credentials_rejected', message, { responseStatus })
  }
  if (responseStatus === 429 || responseStatus >= 500) {
    const retryAfter = retryAfterOf(headers, now)
    return new TokenClientError('service_unavailable', message, { responseStatus, retryAfter })
  }
  return new TokenClientError('unexpected_response', message, { responseStatus })
}

async function readBody(response: Response): Promise<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: false })
  let size = 0
  let text = ''
  const body: AsyncIterable<Uint8Array> | null = response.body
  for await (const chunk of body ?? []) {
    size += chunk.length
    if (size > MAX_BODY_OCTETS) throw notAToken(response, `more than ${MAX_BODY_OCTETS} octets`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** Names the media type and the size, never the body: that may be the token in a form that we do not know. */
function notAToken({ status: responseStatus, headers }: Response, size: string): TokenClientError {
  const type = mediaTypeOf(headers.get('content-type'))
  const message = `the answer of the token service has no token that can be found: ${type}, ${size}`
  return new TokenClientError('unexpected_response', message, { responseStatus })
}

const MEDIA_TYPES: ReadonlySet<string> = new Set([
  'application/json',
  'application/jwt',
  'application/octet-stream',
  'application/problem+json',
  'application/x-www-form-urlencoded',
  'application/xml',
  'text/html',
  'text/plain',
  'text/xml',
])

/** One that says no more than its name: a service may write anything there. */
function mediaTypeOf(contentType: string | null): string {
  if (contentType === null) return 'no media type'
  const [type = ''] = contentType.toLowerCase().split(';')
  return MEDIA_TYPES.has(type.trim()) ? type.trim() : 'another media type'
}

/** Such as ECONNREFUSED. The message of the error itself may quote what was sent. */
function platformCode(error: unknown): string {
  const causes = [error, error instanceof Error ? error.cause : undefined]
  const code = causes
    .map((each) => (each instanceof Error && 'code' in each ? each.code : undefined))
    .find((each) => typeof each === 'string' && /^[A-Z][A-Z\d_]{2,40}$/.test(each))
  return typeof code === 'string' ? ` (${code})` : ''
}

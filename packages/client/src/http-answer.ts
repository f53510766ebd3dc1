import { TokenClientError } from './errors.ts'
import { retryAfterOf } from './http-time.ts'

// Reads answers of the token service: a refusal by the status, or a body of limited size. No error shows what the answer says.

const MAX_BODY_OCTETS = 64 * 1024

/** Does not wait for it: cancelling may fail or never end, and the answer means the same in any case. */
export function discardBody({ body }: { readonly body: Discardable | null }): void {
  discard(body).catch(() => {
    // Nothing more can be done about a body that is not wanted.
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

/** @throws TokenClientError for what is no `Response`: a mock, or what another library gives. */
export function checkResponse(response: unknown): void {
  const missing = whatIsMissing(response)
  if (missing !== undefined) throw new TokenClientError('unexpected_response', missing)
}

const WHAT_TO_GIVE =
  'it must give a Response, or an object with status, url, headers and body as a Response has them'

/** What is missing in something that a `fetch` has given as an answer; `undefined` if it is one. */
function whatIsMissing(answer: unknown): string | undefined {
  if (typeof answer !== 'object' || answer === null) {
    return `fetch gave ${answer === null ? 'null' : typeof answer}: ${WHAT_TO_GIVE}`
  }
  const of = (name: string): unknown => Reflect.get(answer, name)
  const missing = [
    ...(typeof of('status') === 'number' ? [] : ['a status']),
    ...(typeof of('url') === 'string' ? [] : ['a url']),
    ...(isFunction(of('headers'), 'get') ? [] : ['headers.get']),
    ...(isBody(of('body')) ? [] : ['a body that is a stream or null']),
  ]
  return missing.length === 0
    ? undefined
    : `fetch gave an object without ${missing.join(', ')}: ${WHAT_TO_GIVE}`
}

/** Octets that come one after the other. */
function isBody(body: unknown): boolean {
  return body === null || isFunction(body, Symbol.asyncIterator)
}

function isFunction(holder: unknown, name: string | symbol): boolean {
  if (typeof holder !== 'object' || holder === null) return false
  return typeof Reflect.get(holder, name) === 'function'
}

/** Why an answer cannot have a token, judged by its status and its URL. */
export function failureOfStatus(
  response: Response,
  url: string,
  now: number,
): TokenClientError | undefined {
  const { status: responseStatus, headers } = response
  const elsewhere = whereItIsFrom(response, url)
  if (elsewhere !== undefined) {
    return new TokenClientError('unexpected_response', elsewhere, { responseStatus })
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

/** What is said of an answer of another URL than was asked. A constructed `Response` has an empty one. */
function whereItIsFrom({ redirected, url }: Response, asked: string): string | undefined {
  if (redirected) return 'the token service redirected'
  return url === '' || url === asked
    ? undefined
    : 'the answer has another url than was asked for: a fetch must follow no redirect, and one that asks elsewhere must give an answer whose url is empty'
}

/** @throws TokenClientError for a body that is too long; whatever the stream fails with. */
export async function readBody(response: Response): Promise<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: false })
  let size = 0
  let text = ''
  const body: AsyncIterable<Uint8Array> | null = response.body
  for await (const chunk of body ?? []) {
    size += chunk.length
    if (size > MAX_BODY_OCTETS) throw notAToken(response, `more than ${MAX_BODY_OCTETS} bytes`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** Names the media type and the size, never the body, which may be a token in an unknown form. */
export function notAToken(
  { status: responseStatus, headers }: Response,
  size: string,
): TokenClientError {
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

/** Only a known one is named, since a service may write anything there, even a token. */
export function mediaTypeOf(contentType: string | null): string {
  if (contentType === null) return 'no media type'
  const [type = ''] = contentType.toLowerCase().split(';')
  return MEDIA_TYPES.has(type.trim()) ? type.trim() : 'another media type'
}

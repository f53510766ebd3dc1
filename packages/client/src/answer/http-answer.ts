import {
  mediaTypeOf,
  readBody as readOctets,
  retryAfter,
  whatIsMissing,
  whereItIsFrom,
} from '@portcullis/kit/http'

import { TokenClientError } from './errors.ts'

// Reads answers of the token service: a refusal by the status, or a body of limited size. No error shows what the answer says.

const MAX_BODY_OCTETS = 64 * 1024

/** @throws TokenClientError for what is no `Response`: a mock, or what another library gives. */
export function checkResponse(response: unknown): void {
  const missing = whatIsMissing(response)
  if (missing !== undefined) throw new TokenClientError('unexpected_response', missing)
}

export function failureOfStatus(
  response: Response,
  url: string,
  now: number,
): TokenClientError | undefined {
  const { status: responseStatus, headers } = response
  const elsewhere = whereItIsFrom(response, url, 'the token service')
  if (elsewhere !== undefined) {
    return new TokenClientError('unexpected_response', elsewhere, { responseStatus })
  }
  if (responseStatus >= 200 && responseStatus < 300) return undefined
  const message = `the token service answered with status ${responseStatus}`
  if ([400, 401, 403].includes(responseStatus)) {
    return new TokenClientError('credentials_rejected', message, { responseStatus })
  }
  if (responseStatus === 429 || responseStatus >= 500) {
    const pause = { retryAfter: retryAfter(headers, now) }
    return new TokenClientError('service_unavailable', message, { responseStatus, ...pause })
  }
  return new TokenClientError('unexpected_response', message, { responseStatus })
}

/** @throws TokenClientError for a body that is too long; whatever the stream fails with. */
export async function readBody(response: Response): Promise<string> {
  const octets = await readOctets(response.body, undefined, MAX_BODY_OCTETS)
  if (octets === undefined) throw notAToken(response, `more than ${MAX_BODY_OCTETS} bytes`)
  return new TextDecoder().decode(octets)
}

/** Names the media type and the size, never the body, which may be a token in an unknown form. */
export function notAToken(
  { status: responseStatus, headers }: Response,
  size: string,
): TokenClientError {
  const type = statedType(headers.get('content-type'))
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
export function statedType(contentType: string | null): string {
  if (contentType === null) return 'no media type'
  const type = mediaTypeOf(contentType)
  return MEDIA_TYPES.has(type) ? type : 'another media type'
}

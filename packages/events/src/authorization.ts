import { createHash, timingSafeEqual } from 'node:crypto'

import {
  AuthError,
  authenticateRequest,
  type RequestHeaders,
  type Verifier,
} from '@portcullis/core'
import { warn } from '@portcullis/kit/report'

import { type EventRequest, headerOf } from './event-request.ts'
import { inTime, type Limits } from './in-time.ts'

// Who may push events: the holders of access tokens, or of one text that was agreed upon.

export interface Stranger {
  readonly error: AuthError
  /** `WWW-Authenticate`, where it is not that of the error. */
  readonly challenge: string | undefined
}

export type Authorize = (request: EventRequest) => Promise<Stranger | undefined>

export function createAuthorization(
  authorize: Verifier<unknown> | string | null,
  limits: Limits,
): Authorize {
  if (authorize === null) return async () => undefined
  if (typeof authorize === 'string') return bySecret(authorize)
  return async (request) => {
    try {
      // Its headers are those of Node or of the Fetch standard, and core reads nothing else of a request.
      const headers = request as RequestHeaders
      await inTime('authorize', limits, () => authenticateRequest(authorize, headers))
      return undefined
    } catch (error) {
      if (error instanceof AuthError) return { error, challenge: undefined }
      // A verifier of the application's own: what is wrong with it is not the sender's matter.
      warn('authorize', error)
      return { error: new AuthError('keys_unavailable', 'unreachable'), challenge: undefined }
    }
  }
}

function bySecret(secret: string): Authorize {
  const expected = digest(secret)
  const challenge = challengeFor(secret)
  return async ({ headers }) => {
    const header = headerOf(headers, 'authorization')
    if (header === undefined) {
      return { error: new AuthError('missing_token', 'missing_header'), challenge }
    }
    // Digests have one length, and the comparison takes the same time for all of them.
    return timingSafeEqual(digest(header), expected)
      ? undefined
      : { error: new AuthError('invalid_token', 'signature'), challenge }
  }
}

/** Only before credentials that are long enough alone, a word is a scheme: that of a passphrase must not be told. */
const CREDENTIALS = /^(?:(basic) |([a-z][a-z0-9-]*) [a-z0-9\-._~+/]{16,}=*$)/i

/** The challenge for a text of another scheme than `Bearer`. RFC 9110 section 11.6.1; RFC 7617 section 2. */
function challengeFor(secret: string): string | undefined {
  const [, basic, other] = CREDENTIALS.exec(secret) ?? []
  const scheme = basic === undefined ? other : 'Basic'
  const isBearer = scheme === undefined || scheme.toLowerCase() === 'bearer'
  return isBearer ? undefined : `${scheme} realm="api"`
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

import { createHash, timingSafeEqual } from 'node:crypto'

import {
  AuthError,
  authenticateRequest,
  type RequestHeaders,
  type Verifier,
} from '@portcullis/core'

import { type EventRequest, headerOf } from './event-request.ts'

// Who may push events: the holders of access tokens, or of one text that was agreed upon.

/** @returns The refusal, if there is one. */
export type Authorize = (request: EventRequest) => Promise<AuthError | undefined>

export function createAuthorization(authorize: Verifier<unknown> | string | null): Authorize {
  if (authorize === null) return async () => undefined
  if (typeof authorize === 'string') return bySecret(authorize)
  return async (request) => {
    try {
      // Its headers are those of Node or of the Fetch standard, and core reads nothing else of a request.
      await authenticateRequest(authorize, request as RequestHeaders)
      return undefined
    } catch (error) {
      if (error instanceof AuthError) return error
      // A verifier of the application's own: what is wrong with it is not the sender's matter.
      process.emitWarning(error instanceof Error ? error : 'authorize failed')
      return new AuthError('keys_unavailable', 'unreachable')
    }
  }
}

function bySecret(secret: string): Authorize {
  const expected = digest(secret)
  return async ({ headers }) => {
    const header = headerOf(headers, 'authorization')
    if (header === undefined) return new AuthError('missing_token', 'missing_header')
    // Digests have one length, and the comparison takes the same time for all of them.
    return timingSafeEqual(digest(header), expected)
      ? undefined
      : new AuthError('invalid_token', 'signature')
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

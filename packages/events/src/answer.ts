import { AuthError } from '@portcullis/core'

import type { Stranger } from './authorization.ts'
import type { Receipt } from './inbox.ts'
import type { RefusedEvent } from './refused-event.ts'

// The answers to senders of events, as any framework can send them.

/** An HTTP answer. */
export interface EventAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Empty, or JSON. */
  readonly body: string
}

export interface Wording {
  readonly success: 200 | 202
  readonly bodyOf: (refused: RefusedEvent) => Readonly<Record<string, string>>
}

/** OpenID Connect Back-Channel Logout 1.0 section 2.8. */
export const LOGOUT_WORDING: Wording = {
  success: 200,
  bodyOf: ({ description }) => ({ error: 'invalid_request', error_description: description }),
}

/** RFC 8935 sections 2.2 and 2.3. */
export const PUSH_WORDING: Wording = {
  success: 202,
  bodyOf: ({ err, description }) => ({ err, description }),
}

/** Apple names 200 as success, and no form of a refusal. */
export const APPLE_WORDING: Wording = { ...PUSH_WORDING, success: 200 }

const NO_STORE = { 'Cache-Control': 'no-store' }

export function answerTo(receipt: Receipt, wording: Wording): EventAnswer {
  if (receipt.outcome === 'refused') return refusalOf(receipt.refused, wording)
  if (receipt.outcome === 'accepted')
    return { status: wording.success, headers: NO_STORE, body: '' }
  return { status: 503, headers: { ...NO_STORE, ...pauseOf(receipt.error) }, body: '' }
}

function refusalOf(refused: RefusedEvent, { bodyOf }: Wording, status = 400): EventAnswer {
  const headers = {
    ...NO_STORE,
    'Content-Type': 'application/json',
    // RFC 8935 section 2.3: the language of the description.
    'Content-Language': 'en',
  }
  return { status, headers, body: JSON.stringify(bodyOf(refused)) }
}

export const NOT_POST: EventAnswer = {
  status: 405,
  headers: { ...NO_STORE, Allow: 'POST' },
  body: '',
}

/** What somebody is told who may not send events; `undefined` if that cannot be said now. */
export function refusedSender({ status, message }: AuthError): RefusedEvent | undefined {
  if (status === 503) return undefined
  return { err: status === 403 ? 'access_denied' : 'authentication_failed', description: message }
}

/** The answer to such a sender: that of a guard, with a body of RFC 8935. */
export function unauthorized(
  { error, challenge }: Stranger,
  refused: RefusedEvent | undefined,
): EventAnswer {
  if (refused === undefined)
    return answerTo({ outcome: 'unavailable', error, failed: 'keys' }, PUSH_WORDING)
  const answer = refusalOf(refused, PUSH_WORDING, error.status)
  return {
    ...answer,
    headers: { ...answer.headers, ...challengeOf(error, challenge), ...NO_STORE },
  }
}

function challengeOf(
  { headers }: AuthError,
  stated: string | undefined,
): Readonly<Record<string, string>> {
  const challenge = stated ?? headers['WWW-Authenticate']
  return challenge === undefined ? {} : { 'WWW-Authenticate': challenge }
}

function pauseOf(error: unknown): Readonly<Record<string, string>> {
  const pause = error instanceof AuthError ? error.headers['Retry-After'] : undefined
  return pause === undefined ? {} : { 'Retry-After': pause }
}

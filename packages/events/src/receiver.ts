import type { IncomingMessage, ServerResponse } from 'node:http'

import { closeUnread } from '@portcullis/kit/http'
import { ownMembers } from '@portcullis/kit/options'

import {
  answerTo,
  APPLE_WORDING,
  type EventAnswer,
  LOGOUT_WORDING,
  NOT_POST,
  PUSH_WORDING,
  refusedSender,
  unauthorized,
} from './answer.ts'
import { createAuthorization } from './authorization.ts'
import { publishEvent } from './diagnostics.ts'
import {
  type EventRequest,
  findLogoutToken,
  findPayload,
  findSecurityEventToken,
  isBody,
} from './event-request.ts'
import { createEventProver } from './event-verifier.ts'
import { createInbox } from './inbox.ts'
import {
  checkAppleEventOptions,
  checkLogoutOptions,
  checkReceiveEventsOptions,
  limitsOf,
} from './option-checks.ts'
import type { AppleEventOptions, LogoutOptions, ReceiveEventsOptions } from './options.ts'
import { readLogout } from './read-logout.ts'
import { createAppleInbox, createSecurityEventInbox, type Heed } from './security-events.ts'

// Receives events that others send, log-outs of an OpenID provider and security events of a transmitter, in the forms in which frameworks
// call a receiver.

/**
 * Receives events by HTTP. As a function it is a handler for Express and for `node:http`; it answers each request itself, and
 * never rejects. A body parser may run before it or not.
 */
export interface EventReceiver {
  (request: IncomingMessage & { body?: unknown }, response: ServerResponse): Promise<void>
  /** For frameworks with the `Request` of the Fetch standard, such as Hono. */
  fetch(request: Request): Promise<Response>
  /** For every other framework: give it the headers and the body, and send what it answers. */
  answer(request: EventRequest): Promise<EventAnswer>
}

function createReceiver(answer: (request: EventRequest) => Promise<EventAnswer>): EventReceiver {
  async function handle(
    request: IncomingMessage & { body?: unknown },
    response: ServerResponse,
  ): Promise<void> {
    const { method, headers, rawHeaders } = request
    const sent = { method, headers, rawHeaders, body: bodyOf(request) }
    const { status, headers: fields, body } = await answer(sent)
    // A time-out of the application may have answered meanwhile.
    if (response.headersSent) return
    response.statusCode = status
    for (const [name, value] of Object.entries(fields)) response.setHeader(name, value)
    closeUnread(request, response)
    response.end(body)
  }

  return Object.assign(handle, {
    answer,
    async fetch(request: Request): Promise<Response> {
      const { method, headers, body: stream } = request
      const { status, headers: fields, body } = await answer({ method, headers, body: stream })
      // They inherit nothing, since a `Response` reads its options at request time.
      return new Response(body, ownMembers({ status, headers: ownMembers(fields) }))
    },
  })
}

/** What a body parser has made of the body, or else the request as a stream, if nobody has read it. */
function bodyOf(request: IncomingMessage & { body?: unknown }): unknown {
  const body = Object.hasOwn(request, 'body') ? request.body : undefined
  return isBody(body) || request.readableDidRead ? body : request
}

/**
 * Receives security event tokens: each that is proven and revokes something becomes a revocation.
 *
 * It answers 202 when the event is recorded, or when it revokes nothing; 400 with `err` and `description` to what it refuses;
 * 401 or 403 to whom `authorize` refuses; and 503 when the event could not be recorded.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 * @see RFC 8935; OpenID Shared Signals Framework 1.0
 */
export function receiveEvents(options: ReceiveEventsOptions): EventReceiver {
  return createPushReceiver(checkReceiveEventsOptions(options))
}

/** @param options Checked. @param heed Of a stream whose events are pushed. @param source What diagnostics call it, if not the receiver. */
export function createPushReceiver(
  { authorize: who, ...stated }: ReceiveEventsOptions,
  heed?: Heed,
  source?: () => object,
): EventReceiver {
  const authorize = createAuthorization(who, limitsOf(stated))
  const reportedAs = source ?? (() => receiver)
  const inbox = createSecurityEventInbox(stated, reportedAs, heed)
  const receiver = createReceiver(async (request) => {
    if (request.method !== undefined && request.method !== 'POST') return NOT_POST
    // Before the body is read: strangers cost no more than their headers.
    const stranger = await authorize(request)
    if (stranger !== undefined) {
      const refused = refusedSender(stranger.error)
      // There is no event to tell of. But a transmitter with an old secret must not go unnoticed.
      publishEvent(reportedAs, refused === undefined ? 'unavailable' : 'refused', refused)
      return unauthorized(stranger, refused)
    }
    const found = await findSecurityEventToken(request)
    if (found.err !== undefined) return answerTo(inbox.refuse(found), PUSH_WORDING)
    return answerTo(await inbox.take(found.token), PUSH_WORDING)
  })
  return receiver
}

/**
 * Receives the notifications of Sign in with Apple: `consent-revoked` and `account-delete` become revocations of the user that
 * `mapSubject` names. The other ones are told to `onEvent`.
 *
 * They are no security event tokens: `events` is the text of one object, and the header names no type. So an opening of its own accepts
 * them, and only as what Apple has signed for this client. Strangers may call it: the signature alone decides.
 *
 * It answers 200 when the event is recorded, or when it revokes nothing; 400 to what it refuses; and 503 when it could not be recorded.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 * @see https://developer.apple.com/documentation/signinwithapple/processing-changes-for-sign-in-with-apple-accounts
 */
export function receiveAppleEvents(options: AppleEventOptions): EventReceiver {
  const inbox = createAppleInbox(checkAppleEventOptions(options), () => receiver)
  const receiver = createReceiver(async (request) => {
    if (request.method !== undefined && request.method !== 'POST') return NOT_POST
    const found = await findPayload(request)
    if (found.err !== undefined) return answerTo(inbox.refuse(found), APPLE_WORDING)
    return answerTo(await inbox.take(found.token), APPLE_WORDING)
  })
  return receiver
}

/** Seconds: so long providers may repeat a log-out that names no end. A later replay only repeats the same cut. */
const A_DAY = 86_400

/**
 * Receives log-out tokens: each that is proven becomes a revocation. Its URL is the `backchannel_logout_uri` of the client, and
 * needs no other authorization.
 *
 * It answers 200 when the log-out is recorded, 400 to what it refuses, and 503 when it could not be recorded.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 * @see OpenID Connect Back-Channel Logout 1.0
 */
export function receiveLogout(options: LogoutOptions): EventReceiver {
  const stated = checkLogoutOptions(options)
  const { clientId, type = 'logout+jwt', revokes, maxTokenLifetime, revocations, onEvent } = stated
  const { requireExpiry = true, maxTokenAge = requireExpiry ? undefined : A_DAY } = stated
  const prove = createEventProver(stated, {
    audience: clientId,
    maxTokenAge,
    type: 'logout+jwt',
    isTypeOptional: type === null,
  })
  const read = (claims: Parameters<typeof readLogout>[0]) =>
    readLogout(claims, { revokes, maxTokenLifetime, requireExpiry })
  const inbox = createInbox({
    prove,
    read,
    revocations,
    limits: limitsOf(stated),
    onEvent,
    reportedAs: () => receiver,
  })
  const receiver = createReceiver(async (request) => {
    if (request.method !== undefined && request.method !== 'POST') return NOT_POST
    const found = await findLogoutToken(request)
    if (found.err !== undefined) return answerTo(inbox.refuse(found), LOGOUT_WORDING)
    return answerTo(await inbox.take(found.token), LOGOUT_WORDING)
  })
  return receiver
}

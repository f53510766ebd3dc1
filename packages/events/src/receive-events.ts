import { answerTo, NOT_POST, PUSH_WORDING, refusedSender, unauthorized } from './answer.ts'
import { createAuthorization } from './authorization.ts'
import { publishEvent } from './diagnostics.ts'
import { findSecurityEventToken } from './event-request.ts'
import { checkReceiveEventsOptions, limitsOf } from './option-checks.ts'
import type { ReceiveEventsOptions } from './options.ts'
import { createReceiver, type EventReceiver } from './receiver.ts'
import { createSecurityEventInbox } from './security-events.ts'

// Receives security events that a transmitter pushes.

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
  const { authorize: who, ...stated } = checkReceiveEventsOptions(options)
  const authorize = createAuthorization(who, limitsOf(stated))
  const inbox = createSecurityEventInbox(stated, () => receiver)
  const receiver = createReceiver(async (request) => {
    if (request.method !== undefined && request.method !== 'POST') return NOT_POST
    // Before the body is read: strangers cost no more than their headers.
    const stranger = await authorize(request)
    if (stranger !== undefined) {
      const refused = refusedSender(stranger.error)
      // There is no event to tell of. But a transmitter with an old secret must not go unnoticed.
      publishEvent(() => receiver, refused === undefined ? 'unavailable' : 'refused', refused)
      return unauthorized(stranger, refused)
    }
    const found = await findSecurityEventToken(request)
    if (found.err !== undefined) return answerTo(inbox.refuse(found), PUSH_WORDING)
    return answerTo(await inbox.take(found.token), PUSH_WORDING)
  })
  return receiver
}

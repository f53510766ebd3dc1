import { answerTo, LOGOUT_WORDING, NOT_POST } from './answer.ts'
import { findLogoutToken } from './event-request.ts'
import { createEventProver } from './event-verifier.ts'
import { createInbox } from './inbox.ts'
import { checkLogoutOptions, limitsOf } from './option-checks.ts'
import type { LogoutOptions } from './options.ts'
import { readLogout } from './read-logout.ts'
import { createReceiver, type EventReceiver } from './receiver.ts'

// Receives the log-outs of an OpenID provider.

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

import type { AuthError, AuthErrorReason } from '@portcullis/core'

// What the sender of an event is told when it is refused. The texts are fixed: nothing of the event is repeated.

/** Why an event was refused, in the words of RFC 8935 section 2.3. The sender reads both. */
export interface RefusedEvent {
  /** The codes of RFC 8935 section 2.4, and `invalid_state` of the Shared Signals Framework. */
  readonly err:
    | 'invalid_request'
    | 'invalid_key'
    | 'invalid_issuer'
    | 'invalid_audience'
    | 'authentication_failed'
    | 'access_denied'
    | 'invalid_state'
  readonly description: string
}

/** @param description Fixed text. */
export function invalidEvent(description: string): RefusedEvent {
  return { err: 'invalid_request', description }
}

const PROVES_NOTHING: RefusedEvent = {
  err: 'invalid_key',
  description: 'No trusted key has signed the token',
}

/** What a verifier found. As long as no key is known to have signed a token, its sender learns no more than its form. */
const FINDINGS: ReadonlyMap<AuthErrorReason, RefusedEvent> = new Map([
  ['malformed', invalidEvent('The token is not a signed JWT')],
  ['critical_header', invalidEvent('The token is not a signed JWT')],
  ['too_large', invalidEvent('The token is too large')],
  ['algorithm', PROVES_NOTHING],
  ['unknown_key', PROVES_NOTHING],
  ['signature', PROVES_NOTHING],
  ['type', invalidEvent('The token has another typ')],
  ['expired', invalidEvent('The token has expired')],
  ['not_yet_valid', invalidEvent('The token is not yet valid')],
  ['too_old', invalidEvent('The token is older than maxTokenAge of its receiver')],
  ['issued_in_future', invalidEvent('The token was issued in the future')],
  ['missing_claim', invalidEvent('The token lacks iat, jti or another claim that it must have')],
  ['claim', invalidEvent('The token has a time that is not in seconds')],
  ['issuer', { err: 'invalid_issuer', description: 'The token is from another issuer' }],
  ['audience', { err: 'invalid_audience', description: 'The token is for another audience' }],
])

export function refusedBy({ reason }: AuthError): RefusedEvent {
  return FINDINGS.get(reason) ?? invalidEvent('The token is not valid')
}

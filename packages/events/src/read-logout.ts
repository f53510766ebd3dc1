import type { JsonObject } from '@portcullis/core'
import { isJsonObject, member } from '@portcullis/kit/json'

import { LOGOUT_EVENT } from './event-types.ts'
import { entryFor, nameIn, type ReadEvent, readHead, type Whose } from './reading.ts'
import { invalidEvent, type RefusedEvent } from './refused-event.ts'

// What a log-out token says, once a key has proven it.

export interface ReadingRules {
  readonly revokes: 'session' | 'subject'
  /** Seconds. */
  readonly maxTokenLifetime: number | undefined
}

export interface LogoutRules extends ReadingRules {
  readonly requireExpiry: boolean
}

/** OpenID Connect Back-Channel Logout 1.0 sections 2.4 and 2.6 */
export function readLogout(
  claims: JsonObject,
  { revokes, maxTokenLifetime, requireExpiry }: LogoutRules,
): ReadEvent | RefusedEvent {
  const head = readHead(claims)
  if (head.err !== undefined) return head
  const { iss, jti, iat, events, types } = head
  // What an ID token has. A log-out token with it could be taken for one elsewhere.
  if (Object.hasOwn(claims, 'nonce')) return invalidEvent('nonce is forbidden')
  if (requireExpiry && !Object.hasOwn(claims, 'exp')) {
    return invalidEvent('The token has no exp. Its receiver accepts that with requireExpiry: false')
  }
  // Whatever stands beside it: Keycloak adds `revoke_offline_access: true`, and others an event of their own.
  if (!isJsonObject(member(events, LOGOUT_EVENT))) {
    return invalidEvent('events must have the event of a back-channel log-out')
  }
  const [sub, sid] = [nameIn(claims, 'sub'), nameIn(claims, 'sid')]
  const isWrong = (name: string, value: unknown) =>
    value === undefined && Object.hasOwn(claims, name)
  if (isWrong('sub', sub) || isWrong('sid', sid)) return invalidEvent('sub and sid must be texts')
  const whose = whoseLogout({ sub, sid }, revokes)
  if ('err' in whose) return whose
  const entry = entryFor(iss, whose, { time: iat, iat }, maxTokenLifetime)
  return { err: undefined, iss, jti, types, unreadable: [], revokes: [entry] }
}

/** Whose log-out it is. Without `sid` the issuer means all sessions of the user. OpenID Connect Back-Channel Logout 1.0 section 2.4. */
function whoseLogout(
  { sub, sid }: { readonly sub: string | undefined; readonly sid: string | undefined },
  revokes: 'session' | 'subject',
): Whose | RefusedEvent {
  if (revokes === 'session' && sid !== undefined) return { claim: 'sid', value: sid }
  if (sub !== undefined) return { claim: 'sub', value: sub }
  return sid === undefined
    ? invalidEvent('The log-out must have sub or sid')
    : invalidEvent(
        "The log-out has no sub. Its receiver ends sessions by sid with revokes: 'session'",
      )
}

// The types of events that are known, and which of them end access.

/** The one event of a log-out token. OpenID Connect Back-Channel Logout 1.0 section 2.4. */
export const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout'

const CAEP = 'https://schemas.openid.net/secevent/caep/event-type/'
const RISC = 'https://schemas.openid.net/secevent/risc/event-type/'
const OAUTH = 'https://schemas.openid.net/secevent/oauth/event-type/'

/** The last part of the URI of an event's type, in CAEP 1.0, RISC 1.0 or OAuth Event Types 1.0 (a draft). */
export type RevokingEvent =
  | 'session-revoked'
  | 'credential-change'
  | 'token-claims-change'
  | 'assurance-level-change'
  | 'account-disabled'
  | 'account-purged'
  | 'sessions-revoked'
  | 'tokens-revoked'

/** A `session`, as which an opaque name is taken; a `user`; or all of an `account`, of which a session or a token is only a part. */
export type About = 'session' | 'user' | 'account'

interface EventType {
  readonly name: RevokingEvent
  readonly about: About
}

const EVENT_TYPES: ReadonlyMap<string, EventType> = new Map([
  [`${CAEP}session-revoked`, { name: 'session-revoked', about: 'session' }],
  [`${CAEP}credential-change`, { name: 'credential-change', about: 'user' }],
  [`${CAEP}token-claims-change`, { name: 'token-claims-change', about: 'user' }],
  [`${CAEP}assurance-level-change`, { name: 'assurance-level-change', about: 'user' }],
  [`${RISC}account-disabled`, { name: 'account-disabled', about: 'account' }],
  [`${RISC}account-purged`, { name: 'account-purged', about: 'account' }],
  [`${RISC}sessions-revoked`, { name: 'sessions-revoked', about: 'account' }],
  [`${OAUTH}tokens-revoked`, { name: 'tokens-revoked', about: 'account' }],
])

export const REVOKING_EVENTS: readonly RevokingEvent[] = [...EVENT_TYPES.values()].map(
  ({ name }) => name,
)

/** The URI of an event that is named, as of one that is a URI already. */
export function uriOfEvent(name: string): string {
  return [...EVENT_TYPES].find(([, type]) => type.name === name)?.[0] ?? name
}

/** Those that say by themselves that access has ended. The others say what has changed. */
export const DEFAULT_REVOKE_ON: readonly RevokingEvent[] = [
  'session-revoked',
  'account-disabled',
  'account-purged',
  'sessions-revoked',
]

export function findEventType(uri: string): EventType | undefined {
  return EVENT_TYPES.get(uri)
}

import type {
  Algorithm,
  Clock,
  JsonObject,
  KeySource,
  RevocationWriter,
  Verifier,
} from '@portcullis/core'
import {
  checkOptions,
  hasMethods,
  isFunction,
  type OptionCheck,
  ownMembers,
  ruleChecks,
  seconds,
  urlComplaint,
} from '@portcullis/core/verifier'

import type { EventMessage } from './event-message.ts'
import { type RevokingEvent, REVOKING_EVENTS } from './event-types.ts'
import type { PollFetch } from './poll-exchange.ts'

// The options of receivers: their types, and their checks at start-up.

/** What every receiver of events needs. */
export interface EventOptions {
  /** The keys of the issuer of events, such as `discoverKeys(issuer)`. The verifier of access tokens may share them. */
  keys: KeySource
  /** The accepted values of `iss`. It must be the `iss` of the access tokens. */
  issuer: string | readonly string[]
  /** Where it is recorded what an event revokes: `localRevocations()`, `redisRevocations(...)`. */
  revocations: RevocationWriter
  /**
   * `'session'` revokes the tokens with the `sid` of the event, and all tokens of its user (`sub`) if it names no session.
   * `'subject'` always revokes all tokens of its user, also those without a `sid`; an event that names no user is refused.
   */
  revokes: 'session' | 'subject'
  /**
   * How long an access token is valid at the most. Seconds, up to 10 years. So long after an event, what it has revoked is
   * kept. If it is too short, tokens are accepted again; if it is not stated, entries are kept for ever.
   */
  maxTokenLifetime?: number | undefined
  /** The accepted signature algorithms, as in `createVerifier`. */
  algorithms?: readonly Algorithm[] | undefined
  /**
   * How far the issuer's clock may differ from ours. Seconds, 0 to 600.
   * @default 5
   */
  clockTolerance?: number | undefined
  /** By default that of the key source. */
  clock?: Clock | undefined
  /** Is told of each event: recorded, repeated, ignored, refused, or not recorded. What it throws is a warning. */
  onEvent?: ((message: EventMessage) => void) | undefined
}

/** Of `receiveLogout`. */
export interface LogoutOptions extends EventOptions {
  /** The `client_id` that the log-out token must be for. */
  clientId: string | readonly string[]
  /**
   * `null` also accepts a log-out token without `typ`, or with `JWT`: some issuers do not name the type.
   * @default 'logout+jwt'
   */
  type?: 'logout+jwt' | null | undefined
  /**
   * Whether a log-out token without `exp` is refused. With `false` its `iat` bounds its age, by `maxTokenAge`.
   * @default true
   */
  requireExpiry?: boolean | undefined
  /**
   * The greatest age of a log-out token by `iat`, in seconds.
   * @default a day with `requireExpiry: false`, else none
   */
  maxTokenAge?: number | undefined
}

/** Whose tokens an event revokes: one member of `sub`, `sid` and `jti`. `iss` is by default that of the event. */
export interface MappedSubject {
  readonly iss?: string | undefined
  readonly sub?: string | undefined
  readonly sid?: string | undefined
  readonly jti?: string | undefined
}

/** What `mapSubject` is told beside the subject. */
export interface SubjectContext {
  /** The issuer of the event. */
  readonly iss: string
  /** The types of the event: URIs. */
  readonly types: readonly string[]
}

/** Of `pollEvents` and `receiveEvents`. */
export interface SecurityEventOptions extends EventOptions {
  /** The values of `aud` that name this receiver. */
  audience: string | readonly string[]
  /**
   * The events that revoke. All others are acknowledged, and told to `onEvent`.
   * @default ['session-revoked', 'account-disabled', 'account-purged', 'sessions-revoked']
   */
  revokeOn?: readonly RevokingEvent[] | undefined
  /**
   * Says whom a subject identifier means, such as an email address or a user of another issuer. It is asked before
   * everything else; `undefined` leaves it to the rules of this package. If it fails, the event is not acknowledged.
   */
  mapSubject?:
    | ((
        subject: JsonObject,
        context: SubjectContext,
      ) => MappedSubject | undefined | PromiseLike<MappedSubject | undefined>)
    | undefined
}

/** Of `pollEvents`. */
export interface PollEventsOptions extends SecurityEventOptions {
  /** The `endpoint_url` of the stream: https, or http on this machine. */
  endpoint: string | URL
  /** Sends the polls with what the transmitter wants as authorization: the `fetch` of a token client, for example. */
  fetch: PollFetch
  /**
   * The shortest time between the starts of two polls that bring nothing. Seconds, 1 to 3600. While there are events, the next
   * poll follows at once.
   * @default 5
   */
  interval?: number | undefined
  /**
   * How long a poll may wait for its answer, in seconds, 1 to 600: longer than the transmitter lets it wait for events.
   * @default 60
   */
  timeout?: number | undefined
}

/** Of `receiveEvents`. */
export interface ReceiveEventsOptions extends SecurityEventOptions {
  /**
   * Who may send events: those whose access token this verifier accepts; or those who send this text as the header
   * `Authorization`, as it was given to the transmitter (`authorization_header`). `null` lets everybody in: then the
   * signature alone decides.
   */
  authorize: Verifier<unknown> | string | null
}

const TEN_YEARS = 315_360_000

/** Nothing is accepted of anybody: what an event revokes depends on who tells it. */
const isStated =
  (check: OptionCheck): OptionCheck =>
  (value) =>
    value === null || check(value) !== undefined
      ? 'must be a string or a list of strings'
      : undefined

const EVENT_CHECKS: Readonly<Record<keyof EventOptions, OptionCheck>> = {
  keys: (value) =>
    hasMethods(value, 'now', 'current', 'wait', 'suspect')
      ? undefined
      : 'must be a key source, such as discoverKeys(issuer)',
  issuer: isStated(ruleChecks.issuer),
  revocations: (value) =>
    hasMethods(value, 'revoke', 'revokeBefore')
      ? undefined
      : 'must have the functions revoke and revokeBefore, as localRevocations() has',
  revokes: (value) =>
    value === 'session' || value === 'subject' ? undefined : "must be 'session' or 'subject'",
  maxTokenLifetime: seconds(1, TEN_YEARS),
  algorithms: () => undefined, // `createVerifier` knows the names
  clockTolerance: ruleChecks.clockTolerance,
  clock: ruleChecks.clock,
  onEvent: isFunction,
}

const LOGOUT_CHECKS: Readonly<Record<keyof LogoutOptions, OptionCheck>> = {
  ...EVENT_CHECKS,
  clientId: isStated(ruleChecks.audience),
  type: (value) =>
    value === null || value === 'logout+jwt' ? undefined : "must be 'logout+jwt' or null",
  requireExpiry: ruleChecks.requireExpiry,
  maxTokenAge: ruleChecks.maxTokenAge,
}

const SECURITY_EVENT_CHECKS: Readonly<Record<keyof SecurityEventOptions, OptionCheck>> = {
  ...EVENT_CHECKS,
  audience: isStated(ruleChecks.audience),
  revokeOn: (value) =>
    Array.isArray(value) && value.every((each) => REVOKING_EVENTS.some((name) => name === each))
      ? undefined
      : `must be a list of ${REVOKING_EVENTS.join(', ')}`,
  mapSubject: isFunction,
}

/** Characters. Shorter ones can be guessed. */
const SHORTEST_SECRET = 16

/** What arrives as it was sent: HTTP takes spaces and the end of a line away. RFC 9110 section 5.5. */
const HEADER = /^[!-~](?:[ -~]*[!-~])?$/

const isAuthorization: OptionCheck = (value) => {
  const isSecret =
    typeof value === 'string' && value.length >= SHORTEST_SECRET && HEADER.test(value)
  return value === null || isSecret || hasMethods(value, 'verify', 'ready')
    ? undefined
    : `must be a verifier, null, or a text of ${SHORTEST_SECRET} characters or more as a header can have it`
}

const POLL_CHECKS: Readonly<Record<keyof PollEventsOptions, OptionCheck>> = {
  ...SECURITY_EVENT_CHECKS,
  endpoint: (value) => urlComplaint(String(value), false),
  fetch: isFunction,
  interval: seconds(1, 3600),
  timeout: seconds(1, 600),
}

/**
 * @returns The options, safe from a polluted prototype.
 * @throws TypeError for a wrong, misspelt or missing option.
 */
export function checkLogoutOptions(options: LogoutOptions): LogoutOptions {
  return checked('receiveLogout', options, LOGOUT_CHECKS, ['clientId'])
}

export function checkReceiveEventsOptions(options: ReceiveEventsOptions): ReceiveEventsOptions {
  const checks = { ...SECURITY_EVENT_CHECKS, authorize: isAuthorization }
  return checked('receiveEvents', options, checks, ['audience', 'authorize'])
}

export function checkPollEventsOptions(options: PollEventsOptions): PollEventsOptions {
  return checked('pollEvents', options, POLL_CHECKS, ['audience', 'endpoint', 'fetch'])
}

const REQUIRED = ['keys', 'issuer', 'revocations', 'revokes'] as const

/** @param required Those of this factory; what every receiver needs is required as well. */
function checked<Options extends EventOptions>(
  factory: string,
  options: Options,
  checks: Readonly<Record<string, OptionCheck>>,
  required: readonly (string & keyof Options)[],
): Options {
  checkOptions(factory, options, checks)
  const stated = ownMembers(options)
  for (const name of [...REQUIRED, ...required]) {
    if (stated[name] === undefined) throw new TypeError(`${factory}: ${name} must be stated`)
  }
  return stated
}

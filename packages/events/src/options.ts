import type {
  Algorithm,
  Clock,
  JsonObject,
  KeySource,
  RevocationWriter,
  Verifier,
} from '@portcullis/core'

import type { EventMessage } from './diagnostics.ts'
import type { RevokingEvent } from './event-types.ts'

// The options of receivers. `option-checks.ts` checks them at start-up.

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
  /** Holds the receiver to FAPI 2.0, as a guard: `algorithms` must be stated, and be of the profile. */
  profile?: 'fapi2' | undefined
  /**
   * How far the issuer's clock may differ from ours. Seconds, 0 to 600.
   * @default 5
   */
  clockTolerance?: number | undefined
  /** The clock, for tests. By default that of the key source. */
  clock?: Clock | undefined
  /**
   * How long each call of `revocations`, of `mapSubject` and of the verifier of `authorize` may take. Seconds, 1 to 600: longer than
   * the time that the store itself takes to give up (`redisRevocations`: 5). Then the event is not acknowledged, and can be tried again.
   * @default 10
   */
  recordTimeout?: number | undefined
  /**
   * Is told of each event, and of requests without one: `{ outcome, iss, jti, types, claims, unreadable, revokes, refused, error }`.
   * What it throws is a warning.
   */
  onEvent?: ((message: EventMessage) => void) | undefined
}

/** Of `receiveLogout`. */
export interface LogoutOptions extends EventOptions {
  /** The `client_id` that the log-out token must be for. */
  clientId: string | readonly string[]
  /**
   * `null` also accepts a log-out token without `typ`, or with `JWT`: older providers do not name the type.
   * @default 'logout+jwt'
   */
  type?: 'logout+jwt' | null | undefined
  /**
   * Whether a log-out token without `exp` is refused. With `false`, for Hydra and older authentik,
   * its `iat` bounds its age, by `maxTokenAge`.
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

/** Of `pollEvents` and `receiveEvents`. */
export interface SecurityEventOptions extends EventOptions {
  /** The values of `aud` that name this receiver. */
  audience: string | readonly string[]
  /**
   * `null` also accepts an event without `typ`, or with `JWT`, as some transmitters send it. Then only its claims tell it from other
   * tokens of the same keys, such as ID tokens: state it only if the documents of yours do not name the type.
   * @default 'secevent+jwt'
   */
  type?: 'secevent+jwt' | null | undefined
  /**
   * The events that revoke. All others are acknowledged, and told to `onEvent`.
   * @default ['session-revoked', 'account-disabled', 'account-purged', 'sessions-revoked']
   */
  revokeOn?: readonly RevokingEvent[] | undefined
  /**
   * Says whom a subject identifier means, such as an email address or a user of another issuer. It is asked before
   * everything else, with the issuer and the types of the event, which are URIs. `undefined` leaves it to the rules of this
   * package. If it fails, the event is not acknowledged.
   */
  mapSubject?:
    | ((
        subject: JsonObject,
        context: { readonly iss: string; readonly types: readonly string[] },
      ) => MappedSubject | undefined | PromiseLike<MappedSubject | undefined>)
    | undefined
}

/** Of `receiveAppleEvents`. Apple names users alone, so `revokes` is always `'subject'`. */
export interface AppleEventOptions extends Pick<
  EventOptions,
  | 'keys'
  | 'revocations'
  | 'maxTokenLifetime'
  | 'algorithms'
  | 'clockTolerance'
  | 'clock'
  | 'recordTimeout'
  | 'onEvent'
> {
  /** The client ids that Apple has given: of an app its bundle id, of a website its Services ID. */
  clientId: string | readonly string[]
  /**
   * Says who the user is in your access tokens, which Apple has not issued: `{ iss, sub }`. With `undefined` only tokens end that
   * Apple itself has issued to that user. If it fails, the event is not acknowledged.
   */
  mapSubject: NonNullable<SecurityEventOptions['mapSubject']>
}

/** Of `pollEvents`. */
export interface PollEventsOptions extends SecurityEventOptions {
  /** The `endpoint_url` of the stream: https, or http on this machine. */
  endpoint: string | URL
  /** Sends the polls with what the transmitter wants as authorization: the `fetch` of a token client, for example. */
  fetch: (url: string, init: RequestInit) => Promise<Response>
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

/** How a transmitter pushes the events of a stream. */
export interface PushDelivery {
  /** The URL of the route of `stream.receiver`, as the transmitter reaches it: https, or http on this machine. */
  endpoint: string | URL
  /**
   * What the transmitter sends as the header `Authorization`: a scheme, such as `Bearer`, and a secret of 128 bits or more, which all
   * processes have. `null` makes a new one at each start: for an application that has one process alone.
   */
  authorization: string | null
}

/** Of `openStream`. The transmitter is the issuer of the events. */
export interface StreamOptions extends Omit<SecurityEventOptions, 'issuer'> {
  /**
   * The issuer URL of the transmitter, exactly as its metadata write it: https, or http on this machine. They are at
   * `/.well-known/ssf-configuration`.
   */
  transmitter: string
  /** Sends the requests with what the transmitter wants as authorization: the `fetch` of a token client, for example. */
  fetch: (url: string, init: RequestInit) => Promise<Response>
  /** `'poll'`, or where the transmitter pushes to and how it authorizes itself: `{ endpoint, authorization }`. */
  deliver: 'poll' | PushDelivery
  /** The events that are requested, as in `revokeOn`, or by their URIs. */
  events: readonly string[]
  /** The name of this stream, up to 200 characters. Streams of other applications with the same client have other ones. */
  description: string
  /** Where the transmitter may name endpoints, beside its own origin. They are sent the access token. */
  origins?: readonly string[] | undefined
  /**
   * As in `pollEvents`.
   * @default 5
   */
  interval?: number | undefined
  /**
   * As in `pollEvents`.
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

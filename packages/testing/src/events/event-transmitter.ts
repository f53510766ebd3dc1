import { checkOptions, isFunction, isText, oneOf } from '@portcullis/kit/options'

import { createTestIssuer, type TestIssuer } from '../issuer.ts'
import { platformFetch } from '../platform-fetch.ts'
import { backendOf } from '../service/backend.ts'
import { fetchFrom } from '../service/emulation.ts'
import { type BadEvent, createBadLogouts, createBadSecurityEvents } from './bad-events.ts'
import {
  type LogoutTokenOptions,
  type EventTokenOptions,
  signLogoutToken,
  signSecurityEvent,
} from './event-token.ts'
import { createPollQueue } from './poll-queue.ts'

// What tells receivers of log-outs and security events, for tests.

export interface EventTransmitterOptions {
  /** The claim `aud`: the client's id for log-out tokens, the receiver for security events. */
  audience: string
  /** The platform's by default. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined
}

export interface BadEventOptions {
  /** Which events the receiver under test accepts. */
  kind: 'logout' | 'security'
  /** What it revokes: events that do not name it are bad. */
  revokes: 'session' | 'subject'
}

/** Tells receivers what has happened at an issuer: log-outs, and security events by push and poll. */
export interface EventTransmitter {
  /** Signs a log-out token, valid or not. */
  logoutToken(options?: LogoutTokenOptions): Promise<string>
  /** Signs a security event token, valid or not. */
  securityEvent(options: EventTokenOptions): Promise<string>
  /** Sends a log-out token as OpenID Connect Back-Channel Logout 1.0 section 2.5 says. */
  sendLogout(url: string | URL, token: string): Promise<Response>
  /** Sends a security event token as RFC 8935 says. */
  push(url: string | URL, token: string, authorization?: string): Promise<Response>
  /** Lets an event wait for whoever polls, under its `jti`. */
  publish(jti: string, token: string): void
  /** Answers polls, as RFC 8936 says, at any URL. Pass it to the receiver as `fetch`. */
  readonly pollFetch: (url: string | URL | Request, init?: RequestInit) => Promise<Response>
  /** The names of the published events that were neither acknowledged nor refused. */
  waiting(): readonly string[]
  /** In the order of the acknowledgements. */
  acknowledged(): readonly string[]
  /** What receivers have refused (`setErrs`), by its name. */
  errors(): ReadonlyMap<string, { readonly err: string; readonly description: string }>
  /** Events of every kind that a receiver must refuse, each with its `err`. */
  badEvents(options: BadEventOptions): Promise<readonly BadEvent[]>
}

/**
 * Creates a transmitter of the events of an issuer.
 *
 * @throws TypeError for a wrong, misspelt or missing option, and for an issuer without a name.
 */
export function eventTransmitter(
  issuer: TestIssuer,
  options: EventTransmitterOptions,
): EventTransmitter {
  backendOf('eventTransmitter', issuer)
  checkOptions('eventTransmitter', options, { audience: isText, fetch: isFunction })
  const { audience, fetch = platformFetch } = options
  if (audience === undefined) throw new TypeError('eventTransmitter: audience must be stated')
  const { issuer: name, algorithms, clock } = issuer.verifierOptions
  if (name === null) throw new TypeError('eventTransmitter: the issuer must have the option issuer')
  const queue = createPollQueue()

  async function post(
    url: string | URL,
    type: string,
    body: string,
    authorization?: string,
  ): Promise<Response> {
    const headers = {
      'content-type': type,
      ...(authorization === undefined ? {} : { authorization }),
    }
    return await fetch(String(url), { method: 'POST', headers, body })
  }

  return {
    logoutToken: async (given = {}) => await signLogoutToken(issuer, audience, given),
    securityEvent: async (given) => await signSecurityEvent(issuer, audience, given),
    async sendLogout(url, token) {
      const form = new URLSearchParams({ logout_token: token })
      return await post(url, 'application/x-www-form-urlencoded', String(form))
    },
    push: async (url, token, authorization) =>
      await post(url, 'application/secevent+jwt', token, authorization),
    publish(jti, token) {
      queue.add(jti, token)
    },
    pollFetch: fetchFrom(
      async (request, signal) => await queue.answer(await request.text(), signal),
    ),
    waiting: () => queue.waiting(),
    acknowledged: () => queue.acknowledged(),
    errors: () => queue.errors(),
    async badEvents(given) {
      checkOptions('badEvents', given, {
        kind: oneOf('logout', 'security'),
        revokes: oneOf('session', 'subject'),
      })
      const { kind, revokes } = given
      if (kind === undefined || revokes === undefined) {
        throw new TypeError('badEvents: kind and revokes must be stated')
      }
      const [algorithm] = algorithms
      const forger = await createTestIssuer({ clock, issuer: name, algorithm })
      const parts = { issuer, forger, audience, now: Math.floor(clock.now()), revokes }
      return await (kind === 'logout' ? createBadLogouts(parts) : createBadSecurityEvents(parts))
    },
  }
}

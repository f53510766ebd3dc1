import { localRevocations, type RevocationWriter } from '@portcullis/core'
import { parseJson } from '@portcullis/kit/json'
import { createTestIssuer, eventTransmitter, manualClock } from '@portcullis/testing'

import {
  type EventAnswer,
  type EventMessage,
  type EventReceiver,
  type LogoutOptions,
  type ReceiveEventsOptions,
  receiveEvents,
  receiveLogout,
} from '../src/index.ts'

// A receiver of events, and an issuer that tells them.

export const ISSUER = 'https://login.test'
export const AUDIENCE = 'client-1'
const URL = 'https://api.test/events'

export const clock = manualClock()
export const issuer = await createTestIssuer({
  clock,
  issuer: ISSUER,
  audience: 'https://api.test',
  algorithm: 'ES256',
})
export const transmitter = eventTransmitter(issuer, { audience: AUDIENCE })

/** What never settles: a store or a function that hangs. */
export const NEVER = new Promise<never>(() => undefined)

/** A store of revocations that counts what it is told, and fails when it is told to. */
export function createStore() {
  const local = localRevocations({ clock })
  const store = {
    calls: 0,
    isDown: false,
    /** The call that fails. */
    failsAt: 0,
    /** It records, and fails all the same. */
    losesAnswers: false,
    /** The names of users and sessions that it never takes. */
    failsFor: new Set<unknown>(),
    pause: undefined as Promise<void> | undefined,
    entries: () => local.toSnapshot().entries,
  }
  async function count(name?: unknown): Promise<void> {
    store.calls += 1
    await store.pause
    if (store.failsFor.has(name)) throw new Error('it is never taken')
    if (store.isDown || store.calls === store.failsAt) throw new Error('down')
  }
  function lose(): void {
    if (store.losesAnswers) throw new Error('lost')
  }
  const revocations: RevocationWriter = {
    async revoke(token) {
      await count()
      await local.revoke(token)
      lose()
    },
    async revokeBefore(whose, options) {
      await count(whose.sub ?? whose.sid)
      await local.revokeBefore(whose, options)
      lose()
    },
  }
  return Object.assign(store, { revocations, local })
}

export function logoutScene(options: Partial<LogoutOptions> = {}) {
  const store = createStore()
  const told: EventMessage[] = []
  const receiver = receiveLogout({
    keys: issuer.verifierOptions.keys,
    issuer: ISSUER,
    clientId: AUDIENCE,
    revocations: store.revocations,
    revokes: 'session',
    onEvent: (message) => void told.push(message),
    ...options,
  })
  return {
    store,
    told,
    receiver,
    send: async (token: string) => await post(receiver, form(token)),
  }
}

export function eventScene(options: Partial<ReceiveEventsOptions> = {}) {
  const store = createStore()
  const told: EventMessage[] = []
  const receiver = receiveEvents({
    keys: issuer.verifierOptions.keys,
    issuer: ISSUER,
    audience: AUDIENCE,
    revocations: store.revocations,
    revokes: 'subject',
    authorize: null,
    onEvent: (message) => void told.push(message),
    ...options,
  })
  return {
    store,
    told,
    receiver,
    send: async (token: string, authorization?: string) =>
      await post(receiver, token, 'application/secevent+jwt', authorization),
  }
}

export function form(token: string): string {
  return String(new URLSearchParams({ logout_token: token }))
}

async function post(
  receiver: EventReceiver,
  body: string,
  type = 'application/x-www-form-urlencoded',
  authorization?: string,
): Promise<EventAnswer> {
  const headers = { 'content-type': type, ...(authorization && { authorization }) }
  const response = await receiver.fetch(new Request(URL, { method: 'POST', headers, body }))
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
  }
}

/** The body of an answer. */
export function read(body: string): unknown {
  return parseJson(body)
}

import type { JsonObject } from '@portcullis/core'
import { createTestIssuer, eventTransmitter, manualClock } from '@portcullis/testing'
import { onTestFinished } from 'vitest'

import {
  type EventMessage,
  type EventStream,
  openStream,
  type StreamOptions,
} from '../src/index.ts'
import { AUDIENCE, createStore, ISSUER } from './scene.ts'
import {
  METADATA_URL,
  streamTransmitter,
  type StreamTransmitterOptions,
} from './stream-transmitter.ts'

// Streams at a transmitter, in virtual time.

export const DESCRIPTION = 'the API of Example'
export const REVOKED = 'https://schemas.openid.net/secevent/caep/event-type/session-revoked'
export const CHANGED = 'https://schemas.openid.net/secevent/caep/event-type/credential-change'

/** What a stream of ours has at a transmitter. */
export const POLLED: JsonObject = {
  description: DESCRIPTION,
  delivery: { method: 'urn:ietf:rfc:8936' },
  events_requested: [REVOKED],
}

/** What a transmitter says with other members; of `undefined` members it says nothing. */
export const saying =
  (members: object) =>
  (object: object): JsonObject => ({ ...object, ...members })

/** What a promise fails with; from now on its failure is not unhandled. */
export async function failureOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise
    return 'no failure'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

export type Fault = (url: string, init: RequestInit) => Response | Promise<Response>

export async function streamScene(
  options: Partial<StreamOptions> = {},
  ofTransmitter: StreamTransmitterOptions = {},
  algorithm: 'ES256' | 'RS256' = 'ES256',
) {
  const clock = manualClock()
  const issuer = await createTestIssuer({ clock, issuer: ISSUER, algorithm })
  const transmitter = streamTransmitter(
    () => eventTransmitter(issuer, { audience: AUDIENCE }),
    ofTransmitter,
  )
  const store = createStore()
  const told: EventMessage[] = []
  /** Answer in place of the transmitter, each once, by the beginning of the URL. */
  const faults = new Map<string, Fault>()

  const settings: StreamOptions = {
    transmitter: ISSUER,
    async fetch(url, init) {
      const [place, fault] = [...faults].find(([beginning]) => url.startsWith(beginning)) ?? []
      if (place === undefined || fault === undefined) return await transmitter.fetch(url, init)
      faults.delete(place)
      return await fault(url, init)
    },
    deliver: 'poll',
    events: ['session-revoked'],
    description: DESCRIPTION,
    keys: issuer.verifierOptions.keys,
    audience: AUDIENCE,
    revocations: store.revocations,
    revokes: 'subject',
    clock,
    onEvent: (message) => void told.push(message),
    ...options,
  }

  function opened<Stream extends EventStream>(stream: Stream): Stream {
    onTestFinished(async () => {
      const closed = stream.close()
      // What hangs is given up.
      await clock.advance(30)
      await closed
    })
    return stream
  }

  /** Lets virtual time pass until something holds: slowly, since signatures take real time, and more of it on a busy machine. */
  async function until(holds: () => boolean): Promise<void> {
    for (let turns = 0; !holds(); turns++) await clock.advance(turns % 50 === 49 ? 0.05 : 0)
  }

  return {
    clock,
    issuer,
    transmitter,
    store,
    told,
    faults,
    settings,
    until,
    opened,
    open: (more: Partial<StreamOptions> = {}) => opened(openStream({ ...settings, ...more })),
    /** Opens one, and waits until it is open. */
    openAndWait: async (more: Partial<StreamOptions> = {}): Promise<EventStream> => {
      const stream = opened(openStream({ ...settings, ...more }))
      await until(() => stream.status().state === 'open')
      return stream
    },
    /** What was asked beside polls and metadata. */
    calls: () =>
      transmitter.requests
        .filter(({ url }) => url !== METADATA_URL && !url.includes('/poll/'))
        .map(({ method, url }) => `${method} ${new URL(url).pathname}`),
  }
}

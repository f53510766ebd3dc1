import { createVerifier, localKeys } from '@portcullis/core'
import { createTestIssuer, eventTransmitter, type EventTransmitter } from '@portcullis/testing'
import { expect, test } from 'vitest'

import {
  type EventOptions,
  openStream,
  pollEvents,
  receiveAppleEvents,
  receiveEvents,
} from '../src/index.ts'
import { AUDIENCE, clock, createStore, eventScene, issuer, ISSUER, logoutScene } from './scene.ts'
import { DESCRIPTION, REVOKED, streamScene } from './stream-scene.ts'

// The same issuer signs with two keys, and the receiver has both: what is refused is refused for its algorithm.
const older = await createTestIssuer({ clock, issuer: ISSUER, algorithm: 'RS256' })
const keys = localKeys({ keys: [issuer.publicJwk, older.publicJwk] })
const BY_ALGORITHM = [
  ['ES256', eventTransmitter(issuer, { audience: AUDIENCE })],
  ['RS256', eventTransmitter(older, { audience: AUDIENCE })],
] as const

type Profiled = Pick<EventOptions, 'algorithms' | 'profile'>

const { revocations } = createStore()
const ofEvents = { keys, revocations, revokes: 'subject', audience: AUDIENCE } as const
const fetch = async () => await new Promise<Response>(() => undefined)

/** Each receiver, whose other options are sound. */
const CREATED: Readonly<Record<string, (options: Profiled) => object>> = {
  receiveLogout: (options) => logoutScene({ keys, ...options }).receiver,
  receiveEvents: (options) => eventScene({ keys, ...options }).receiver,
  pollEvents: (options) =>
    pollEvents({ ...ofEvents, issuer: ISSUER, endpoint: `${ISSUER}/poll`, fetch, ...options }),
  openStream: (options) =>
    openStream({
      ...ofEvents,
      transmitter: ISSUER,
      deliver: 'poll',
      events: ['session-revoked'],
      description: DESCRIPTION,
      fetch,
      ...options,
    }),
}

/** Those that ask by themselves would go on. */
async function end(receiver: { close?: () => Promise<void> } | object): Promise<void> {
  if ('close' in receiver) await receiver.close?.()
}

const PERMITTED = 'PS256, ES256, EdDSA, Ed25519'
const profile = 'fapi2'

test.each(Object.entries(CREATED))(
  'profile of %s: algorithms must be stated, and be those of FAPI 2.0',
  async (name, create) => {
    expect(() => create({ profile })).toThrow(
      `${name}: profile fapi2: it must state algorithms, of ${PERMITTED}`,
    )
    expect(() => create({ profile, algorithms: ['ES256', 'RS256'] })).toThrow(
      `${name}: profile fapi2: it must not use RS256, but ${PERMITTED} alone`,
    )
    expect(() => create({ profile, algorithms: 'ES256' as never })).toThrow('must state algorithms')
    expect(() => create({ profile: 'fapi1' as never })).toThrow(
      `${name}: profile must be one of fapi2`,
    )
    await end(create({ profile, algorithms: ['PS256', 'ES256'] }))
    await end(create({ algorithms: ['RS256'] }))
  },
)

const subject = { format: 'iss_sub', iss: ISSUER, sub: 'ada' }

/** An event by each algorithm, under whose name a transmitter queues it. */
const queued = async () =>
  await Promise.all(
    BY_ALGORITHM.map(async ([algorithm, signer]) => {
      const event = { type: REVOKED, subject, claims: { jti: algorithm } }
      return [algorithm, await signer.securityEvent(event)] as const
    }),
  )

type Verdicts = readonly (readonly [algorithm: string, isAccepted: boolean])[]

/** Of what was polled: what was acknowledged, and what was refused. */
const verdictsOf = (queue: EventTransmitter): Verdicts => [
  ...queue.acknowledged().map((name) => [name, true] as const),
  ...[...queue.errors().keys()].map((name) => [name, false] as const),
]

/** Whether each receiver accepts an event of each algorithm. */
const ACCEPTED: Readonly<Record<string, (options: Profiled) => Promise<Verdicts>>> = {
  async receiveLogout(options) {
    const { send } = logoutScene({ keys, clock, ...options })
    return await Promise.all(
      BY_ALGORITHM.map(async ([algorithm, signer]) => {
        const { status } = await send(await signer.logoutToken({ sub: 'ada', sid: 's-1' }))
        return [algorithm, status === 200] as const
      }),
    )
  },
  async receiveEvents(options) {
    const { send } = eventScene({ keys, ...options })
    const events = await queued()
    return await Promise.all(
      events.map(
        async ([algorithm, token]) => [algorithm, (await send(token)).status === 202] as const,
      ),
    )
  },
  async pollEvents(options) {
    const queue = eventTransmitter(issuer, { audience: AUDIENCE })
    for (const [name, token] of await queued()) queue.publish(name, token)
    const endpoint = `${ISSUER}/poll`
    const ofPoll = { ...ofEvents, issuer: ISSUER, endpoint, fetch: queue.pollFetch, clock }
    await using _ = pollEvents({ ...ofPoll, ...options })
    while (verdictsOf(queue).length < 2) await clock.advance(0.05)
    return verdictsOf(queue)
  },
  async openStream(options) {
    const scene = await streamScene({ keys, ...options })
    const { openAndWait, transmitter, until } = scene
    // Events are signed at the time of the other clock, which polls have moved.
    scene.clock.set(clock.now())
    const stream = await openAndWait()
    const { queue } = transmitter.streams.get(stream.status().streamId ?? '') ?? {}
    if (queue === undefined) throw new Error('there is no stream')
    for (const [name, token] of await queued()) queue.publish(name, token)
    await until(() => verdictsOf(queue).length === 2)
    return verdictsOf(queue)
  },
}

test.each(Object.entries(ACCEPTED))(
  '%s under the profile: an event of RS256 is refused, that of another key is accepted',
  async (_name, accepted) => {
    const both = { algorithms: ['ES256', 'RS256'] } as const
    expect(Object.fromEntries(await accepted(both))).toEqual({
      ES256: true,
      RS256: true,
    })
    const held = { profile, algorithms: ['ES256'] } as const
    expect(Object.fromEntries(await accepted(held))).toEqual({
      ES256: true,
      RS256: false,
    })
  },
)

test('receiveEvents: the verifier of authorize must keep the profile as well', () => {
  const options = { ...ofEvents, issuer: ISSUER, profile, algorithms: ['ES256'] } as const
  const ofTokens = { keys, issuer: ISSUER, audience: null, revocations: null }
  const receiving = (authorize: Parameters<typeof receiveEvents>[0]['authorize']) => () =>
    receiveEvents({ ...options, authorize })
  expect(receiving(createVerifier(ofTokens))).toThrow(
    `receiveEvents: profile fapi2: the verifier must state algorithms, of ${PERMITTED}`,
  )
  expect(receiving(createVerifier({ ...ofTokens, algorithms: ['PS256'] }))).not.toThrow()
  expect(receiving('a text that was agreed upon')).not.toThrow()
  expect(receiving(null)).not.toThrow()
})

test('receiveAppleEvents has no profile: Apple signs as it does', () => {
  const options = { keys, revocations, clientId: 'a', mapSubject: () => undefined }
  expect(() => receiveAppleEvents({ ...options, profile } as never)).toThrow('unknown option')
})

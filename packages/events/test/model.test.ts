import { localKeys } from '@portcullis/core'
import { createTestIssuer, eventTransmitter, manualClock } from '@portcullis/testing'
import fc from 'fast-check'
import { expect, test } from 'vitest'

import { pollEvents, receiveEvents } from '../src/index.ts'
import { AUDIENCE, createStore, ISSUER } from './scene.ts'

// Events that come repeated, late, out of order and forged, to a store that fails, in virtual time. Whatever happens:
// - what was acknowledged is revoked from then on, and what was told is revoked in the end;
// - nobody is revoked of whom no event was told, and no log-in that is newer than the event;
// - nothing is acknowledged that is not recorded, and a forged event changes nothing.

const USERS = ['ada', 'bob', 'eve'] as const
type User = (typeof USERS)[number]

interface Token {
  readonly user: User
  readonly iat: number
}

interface Told {
  readonly user: User
  readonly iat: number
  readonly jti: string
  readonly token: string
}

const user = fc.constantFrom(...USERS)
const place = fc.nat({ max: 30 })
/** For how long random sequences are played, in place of the usual number of them. */
const minutes = Number(process.env['MODEL_MINUTES'] ?? 0)
const LIMIT = 20_000 + minutes * 90_000
const runs = (usual: number) =>
  minutes > 0
    ? { numRuns: 1e9, interruptAfterTimeLimit: minutes * 60_000, markInterruptAsFailure: false }
    : { numRuns: usual }

const ACTION = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('logIn' as const), user }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('tell' as const), user }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('deliver' as const), place }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('deliverTwice' as const), place }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('forge' as const), user }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('foreign' as const), user }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('store' as const),
      state: fc.constantFrom('up', 'up', 'down', 'loses answers'),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      // Within a second, as far as clocks may differ, and longer than any memory of a log-out token.
      seconds: fc.constantFrom(0.2, 0.9, 1, 3, 10, 60, 500),
    }),
  },
)
type Action = typeof ACTION extends fc.Arbitrary<infer Value> ? Value : never

const clock = manualClock()
/** Of the issuer, which need not show what ours does. */
const issuerClock = manualClock()
const issuer = await createTestIssuer({ clock: issuerClock, issuer: ISSUER, algorithm: 'ES256' })
const forger = await createTestIssuer({ clock: issuerClock, issuer: ISSUER, algorithm: 'ES256' })
const transmitter = eventTransmitter(issuer, { audience: AUDIENCE })
const strangers = eventTransmitter(issuer, { audience: 'somebody else' })
const forgery = eventTransmitter(forger, { audience: AUDIENCE })
/** No key is fetched: what waits for keys is the matter of core. */
const keys = localKeys(issuer.publicJwk)
let named = 0

function eventOf(told: User) {
  named += 1
  const jti = `j-${named}`
  const subject = { format: 'iss_sub', iss: ISSUER, sub: told }
  return { type: 'session-revoked', subject, claims: { jti } }
}

function means(event: Told, token: Token): boolean {
  return event.user === token.user && token.iat <= event.iat
}

function scene() {
  const store = createStore()
  const receiver = receiveEvents({
    keys,
    issuer: ISSUER,
    audience: AUDIENCE,
    revocations: store.revocations,
    revokes: 'subject',
    authorize: null,
    clock,
  })
  const headers = { 'content-type': 'application/secevent+jwt' }
  const tokens: Token[] = []
  const told: Told[] = []
  const delivered = new Set<Told>()
  const acknowledged = new Set<Told>()
  const send = async (body: string) => (await receiver.answer({ headers, body })).status

  async function deliver(event: Told): Promise<void> {
    delivered.add(event)
    const status = await send(event.token)
    expect([202, 503]).toContain(status)
    if (status === 202) acknowledged.add(event)
  }

  async function act(action: Action): Promise<void> {
    const now = Math.floor(issuerClock.now())
    switch (action.kind) {
      case 'logIn':
        tokens.push({ user: action.user, iat: now })
        break
      case 'tell': {
        const event = eventOf(action.user)
        const token = await transmitter.securityEvent(event)
        told.push({ user: action.user, iat: now, jti: event.claims.jti, token })
        break
      }
      case 'deliver':
      case 'deliverTwice': {
        const event = told[action.place % Math.max(1, told.length)]
        if (event === undefined) break
        const times = action.kind === 'deliver' ? 1 : 2
        await Promise.all(Array.from({ length: times }, async () => await deliver(event)))
        break
      }
      case 'forge':
        expect(await send(await forgery.securityEvent(eventOf(action.user)))).toBe(400)
        break
      case 'foreign':
        expect(await send(await strangers.securityEvent(eventOf(action.user)))).toBe(400)
        break
      case 'store':
        store.isDown = action.state === 'down'
        store.losesAnswers = action.state === 'loses answers'
        break
      case 'wait':
        await clock.advance(action.seconds)
        await issuerClock.advance(action.seconds)
    }
  }

  function check(): void {
    for (const token of tokens) {
      const claims = { iss: ISSUER, sub: token.user, iat: token.iat }
      const isRevoked = store.local.statusOf(claims, clock.now()) === 'revoked'
      if ([...acknowledged].some((event) => means(event, token))) expect(isRevoked).toBe(true)
      if (![...delivered].some((event) => means(event, token))) expect(isRevoked).toBe(false)
    }
  }

  return { store, told, act, check, deliver, acknowledged }
}

test(
  'nothing told is forgotten, nobody else is revoked, and nothing is acknowledged before it holds',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(ACTION, { minLength: 5, maxLength: 60 }),
        fc.integer({ min: -300, max: 55 }),
        async (actions, ahead) => {
          issuerClock.set(clock.now() + ahead)
          const { store, told, act, check, deliver, acknowledged } = scene()
          for (const action of actions) {
            await act(action)
            check()
          }
          store.isDown = false
          store.losesAnswers = false
          for (const event of told) await deliver(event)
          expect(acknowledged.size).toBe(told.length)
          check()
        },
      ),
      runs(150),
    )
  },
  LIMIT,
)

const FAULT = fc.constantFrom<'fine' | 'lost' | 'unheard' | 'broken' | 'store' | 'silent'>(
  'fine',
  'fine',
  'lost',
  'unheard',
  'broken',
  'store',
  'silent',
)

test(
  'of what waits at a transmitter, all is recorded and acknowledged in the end, and what is forged is named',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(FAULT, { maxLength: 12 }),
        fc.array(fc.tuple(user, fc.boolean()), { minLength: 1, maxLength: 8 }),
        async (faults, events) => {
          issuerClock.set(clock.now())
          const source = eventTransmitter(issuer, { audience: AUDIENCE })
          const store = createStore()
          const poll = pollEvents({
            endpoint: 'https://login.test/poll',
            async fetch(url, init) {
              const fault = faults.shift() ?? 'fine'
              store.isDown = fault === 'store'
              if (fault === 'lost') throw new Error('not sent')
              if (fault === 'silent') return await new Promise(() => undefined)
              const answer = await source.pollFetch(url, init)
              if (fault === 'unheard') throw new Error('the answer is lost')
              return fault === 'broken' ? new Response('{"sets":{') : answer
            },
            keys,
            issuer: ISSUER,
            audience: AUDIENCE,
            revocations: store.revocations,
            revokes: 'subject',
            clock,
          })
          const forged: string[] = []
          for (const [sub, isForged] of events) {
            const event = eventOf(sub)
            const { jti } = event.claims
            if (isForged) forged.push(jti)
            source.publish(jti, await (isForged ? forgery : transmitter).securityEvent(event))
            await clock.advance(0.5)
          }
          while (source.waiting().length > 0) {
            await clock.advance(0.5)
          }
          await poll.close()
          expect([...source.errors().keys()].toSorted()).toEqual(forged.toSorted())
          expect(source.acknowledged()).toHaveLength(events.length - forged.length)
          const whose = new Set(events.filter(([, isForged]) => !isForged).map(([sub]) => sub))
          expect(
            new Set(store.entries().flatMap((entry) => ('sub' in entry ? [entry.sub] : []))),
          ).toEqual(whose)
        },
      ),
      runs(60),
    )
  },
  LIMIT,
)

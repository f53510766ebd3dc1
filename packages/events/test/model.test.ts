import type { RevocationWriter } from '@portcullis/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'

import { MODEL_LIMIT, modelRuns } from '../../../test/model-runs.ts'
import { receiveEvents, receiveLogout, type SecurityEventOptions } from '../src/index.ts'
import { eventOf, type ModelScene, modelScene, type User, user } from './model-scene.ts'
import { AUDIENCE, createStore, form, ISSUER, NEVER } from './scene.ts'

// Events that come repeated, late, out of order, forged, and with times that are none, to a store and a mapping of subjects that fail
// and hang, in virtual time. Whatever happens:
// - what was acknowledged is revoked from then on, and what was told is revoked in the end;
// - nobody is revoked of whom no event was told, and no log-in that is newer than the event;
// - nothing is acknowledged that is not recorded, and a forged event changes nothing, nor do many of them at once.
// A log-out is refused once it has expired. Until then the same holds of it.

interface Token {
  readonly user: User
  readonly iat: number
}

interface Told {
  readonly user: User
  readonly iat: number
  readonly token: string
}

const place = fc.nat({ max: 30 })
const ACTION = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('logIn' as const), user }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('tell' as const),
      user,
      stamp: fc.constantFrom(undefined, undefined, 'a text', -1, 1.9e12, [7], null),
      isEverywhere: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('poison' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('mapping' as const),
      state: fc.constantFrom('up', 'hangs', 'fails'),
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('deliver' as const), place }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('deliverTwice' as const), place }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('forge' as const), user }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('foreign' as const), user }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('flood' as const), user, place }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('store' as const),
      state: fc.constantFrom('up', 'up', 'down', 'loses answers', 'hangs'),
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

function means(event: Told, token: Token): boolean {
  return event.user === token.user && token.iat <= event.iat
}

type Signer = ModelScene['transmitter']
type Ours = Pick<ModelScene, 'clock' | 'keys'>
type MapSubject = SecurityEventOptions['mapSubject']

/** What differs from event to event of a kind. */
interface Style {
  readonly stamp?: unknown
  readonly isEverywhere?: boolean
}

/** Seconds: `exp` less `iat`, and what clocks may differ in. */
const LOGOUT_ENDS = 120 + 5

/** How an event is told and received: a security event of a user, or the log-out of a session, which has the name of its user. */
const KINDS = {
  'security events': {
    sign: async (by: Signer, whose: User, { stamp }: Style = {}) =>
      await by.securityEvent(eventOf(whose, { event_timestamp: stamp })),
    receiver: (revocations: RevocationWriter, { keys, clock }: Ours, mapSubject: MapSubject) =>
      receiveEvents({
        keys,
        issuer: ISSUER,
        audience: AUDIENCE,
        revocations,
        revokes: 'subject',
        authorize: null,
        mapSubject,
        clock,
      }),
    type: 'application/secevent+jwt',
    body: (token: string) => token,
    endsAfter: Infinity,
  },
  'log-outs': {
    sign: async (by: Signer, whose: User, { isEverywhere }: Style = {}) =>
      await by.logoutToken(isEverywhere === true ? { sub: whose } : { sid: whose }),
    receiver: (revocations: RevocationWriter, { keys, clock }: Ours) =>
      receiveLogout({
        keys,
        issuer: ISSUER,
        clientId: AUDIENCE,
        revocations,
        revokes: 'session',
        clock,
      }),
    type: 'application/x-www-form-urlencoded',
    body: form,
    endsAfter: LOGOUT_ENDS,
  },
} as const

function scene(kind: keyof typeof KINDS, around: ModelScene) {
  const { clock, issuerClock, transmitter, strangers, forgery } = around
  const { sign, receiver: create, type, body: bodyOf, endsAfter } = KINDS[kind]
  const store = createStore()
  const mapping = { state: 'up' }
  const receiver = create(store.revocations, around, async ({ format }) => {
    if (format === 'poison' || mapping.state === 'fails') throw new Error('of the directory')
    return mapping.state === 'hangs' ? await NEVER : undefined
  })
  const headers = { 'content-type': type }
  const tokens: Token[] = []
  const told: Told[] = []
  const delivered = new Set<Told>()
  const acknowledged = new Set<Told>()
  /** Time passes as long as something hangs. */
  async function send(token: string): Promise<number> {
    const state = { isOver: false }
    const answer = receiver.answer({ headers, body: bodyOf(token) }).finally(() => {
      state.isOver = true
    })
    while (!state.isOver && (store.pause !== undefined || mapping.state === 'hangs')) {
      await new Promise((resolve) => setImmediate(resolve))
      await clock.advance(0.5)
      await issuerClock.advance(0.5)
    }
    return (await answer).status
  }
  const hasEnded = ({ iat }: Told) => clock.now() >= iat + endsAfter

  async function deliver(event: Told): Promise<void> {
    delivered.add(event)
    const hadEnded = hasEnded(event)
    const status = await send(event.token)
    expect([...(hadEnded ? [] : [200, 202, 503]), ...(hasEnded(event) ? [400] : [])]).toContain(
      status,
    )
    if (status < 300) acknowledged.add(event)
  }

  async function act(action: Action): Promise<void> {
    const now = Math.floor(issuerClock.now())
    switch (action.kind) {
      case 'logIn':
        tokens.push({ user: action.user, iat: now })
        break
      case 'tell': {
        const token = await sign(transmitter, action.user, action)
        told.push({ user: action.user, iat: now, token })
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
        expect(await send(await sign(forgery, action.user))).toBe(400)
        break
      case 'flood': {
        const forged = await Promise.all(
          Array.from({ length: 10 }, async () => await sign(forgery, action.user)),
        )
        const event = told[action.place % Math.max(1, told.length)]
        const statuses = forged.map(async (token) => await send(token))
        if (event !== undefined) await deliver(event)
        expect(new Set(await Promise.all(statuses))).toEqual(new Set([400]))
        break
      }
      case 'foreign':
        expect(await send(await sign(strangers, action.user))).toBe(400)
        break
      case 'poison': {
        if (kind === 'log-outs') break
        const { claims } = eventOf('eve')
        const subject = { format: 'poison' }
        const poison = { type: 'session-revoked', subject, claims }
        expect(await send(await transmitter.securityEvent(poison))).toBe(503)
        break
      }
      case 'mapping':
        mapping.state = action.state
        break
      case 'store':
        store.isDown = action.state === 'down'
        store.pause = action.state === 'hangs' ? NEVER : undefined
        store.losesAnswers = action.state === 'loses answers'
        break
      case 'wait':
        await clock.advance(action.seconds)
        await issuerClock.advance(action.seconds)
    }
  }

  function check(): void {
    for (const token of tokens) {
      const claims = { iss: ISSUER, sub: token.user, sid: token.user, iat: token.iat }
      const isRevoked = store.local.statusOf(claims, clock.now()) === 'revoked'
      if ([...acknowledged].some((event) => means(event, token))) expect(isRevoked).toBe(true)
      if (![...delivered].some((event) => means(event, token))) expect(isRevoked).toBe(false)
    }
  }

  return { store, mapping, told, act, check, deliver, acknowledged, hasEnded }
}

test.each(['security events', 'log-outs'] as const)(
  'of %s nothing told is forgotten, nobody else is revoked, and nothing is acknowledged before it holds',
  { timeout: MODEL_LIMIT },
  async (kind) => {
    const around = await modelScene()
    await fc.assert(
      fc.asyncProperty(
        fc.array(ACTION, { minLength: 5, maxLength: 60 }),
        fc.integer({ min: -300, max: 55 }),
        async (actions, ahead) => {
          around.issuerClock.set(around.clock.now() + ahead)
          const parts = scene(kind, around)
          const { store, mapping, told, act, check, deliver, acknowledged, hasEnded } = parts
          for (const action of actions) {
            await act(action)
            check()
          }
          store.isDown = false
          store.losesAnswers = false
          store.pause = undefined
          mapping.state = 'up'
          for (const event of told) await deliver(event)
          expect(told.filter((event) => !acknowledged.has(event) && !hasEnded(event))).toEqual([])
          check()
        },
      ),
      modelRuns(100, 20_261_122),
    )
  },
)

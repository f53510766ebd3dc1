import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { MODEL_LIMIT, modelRuns } from '../../model-runs.ts'
import {
  type ClientWorld,
  type ClockEvent,
  createClientWorld,
  type DateHeader,
  LIFETIME,
  SERVICE,
} from './client-world.ts'

// The client and a clock that is wrong, was wrong, or stands still for a while: first each sequence that could go wrong, then
// random ones.

const RUNS = 300

const API = 'https://api.test'
const OTHER = 'https://other.test'

function setUp(lifetime?: number) {
  return createClientWorld([API, OTHER], lifetime)
}

/** How each request to the APIs was answered. */
function answersIn({ calls }: ClientWorld): readonly string[] {
  return calls.map(({ answer }) => answer)
}

describe('a machine that is suspended', () => {
  test('during a login, after the service has answered: no dead token is used', async () => {
    const world = setUp()
    world.server(SERVICE).after = { suspend: 299 }
    expect(await world.call(API)).toBe('token_unusable')
    await world.happen({ pass: 2 })
    expect(await world.call(API)).toBe(200)
    expect(answersIn(world)).toEqual(['ok'])
  })

  test('during a login, before its request arrives: its token is used, for as long as it lasts', async () => {
    const world = setUp()
    expect(await world.call(API)).toBe(200)
    await world.happen({ pass: LIFETIME })
    world.server(SERVICE).before = { suspend: 3 }
    expect(await world.call(API)).toBe(200)
    await world.happen({ pass: LIFETIME - 1 })
    expect(await world.call(API)).toBe(200)
    expect(answersIn(world)).toEqual(['ok', 'ok', 'ok'])
  })

  test('during a login: the proofs after it are accepted at once', async () => {
    const world = setUp(3600)
    world.server(SERVICE).after = { suspend: 120 }
    expect(await world.call(API)).toBe(200)
    expect(answersIn(world)).toEqual(['ok'])
  })

  test('between login and call: the token is replaced if it is over, and the proof has the time', async () => {
    const world = setUp()
    expect(await world.call(API)).toBe(200)
    await world.happen({ suspend: 40 })
    expect(await world.call(API)).toBe(200)
    await world.happen({ suspend: 40 })
    expect(await world.call(API)).toBe(200)
    expect(answersIn(world)).toEqual(['ok', 'ok', 'ok'])
    expect(world.logins).toEqual([200, 200])
  })

  test('while a call is on its way: it is repeated once, with a proof of now', async () => {
    const world = setUp(3600)
    world.server(API).before = { suspend: 120 }
    expect(await world.call(API)).toBe(200)
    expect(answersIn(world)).toEqual(['refused proof', 'ok'])
    expect(world.logins).toHaveLength(1)
  })
})

describe('a wrong Date of the token service', () => {
  test.each([-290, 290])(
    'once, %i s off, as one node of a balancer has it: one request is repeated',
    async (date) => {
      const world = setUp(3600)
      world.server(SERVICE).date = date
      await world.get()
      world.server(SERVICE).date = 0
      for (let count = 0; count < 3; count++) expect(await world.call(API)).toBe(200)
      expect(answersIn(world)).toEqual(['refused proof', 'ok', 'ok', 'ok'])
      expect(world.logins).toHaveLength(1)
    },
  )

  test('always: neither logins nor calls are refused for long', async () => {
    const world = setUp()
    world.server(SERVICE).date = 290
    for (let count = 0; count < 3; count++) {
      expect(await world.call(API)).toBe(200)
      await world.happen({ pass: LIFETIME })
    }
    expect(answersIn(world).filter((answer) => answer !== 'ok')).toEqual(['refused proof'])
    expect(world.logins).toEqual([200, 400, 200, 200])
  })
})

describe('a clock that is set', () => {
  test.each([-240, 240])(
    'by %i s during a login: one request is refused at most, and no token is used after its time',
    async (step) => {
      const world = setUp(300)
      world.server(SERVICE).after = { set: step }
      for (let second = 0; second < 900; second += 10) {
        expect(await world.call(API)).toBe(200)
        await world.happen({ pass: 10 })
      }
      expect(world.calls.every(({ dead }) => dead === 0)).toBe(true)
      expect(answersIn(world).filter((answer) => answer !== 'ok').length).toBeLessThanOrEqual(1)
    },
  )

  test.each([-240, 240])(
    'by %i s between login and call: one proof is refused by each API',
    async (step) => {
      const world = setUp(3600)
      await world.get()
      await world.happen({ set: step })
      for (const origin of [API, OTHER, API, OTHER]) expect(await world.call(origin)).toBe(200)
      const refused = world.calls.filter(({ answer }) => answer === 'refused proof')
      expect(refused.map(({ server }) => server)).toEqual([API, OTHER])
      expect(world.logins).toHaveLength(1)
    },
  )

  test('by more than five minutes: nothing is corrected, and the caller hears of the login that failed', async () => {
    const world = setUp(3600)
    await world.get()
    await world.happen({ set: 400 })
    expect(await world.call(API)).toBe('credentials_rejected')
    expect(answersIn(world)).toEqual(['refused proof'])
    expect(world.logins).toEqual([200, 400])
  })
})

describe('a 401 for a proof', () => {
  test('without a Date: the request is repeated with our own time, then after another login', async () => {
    const world = setUp(3600)
    world.server(API).date = 'none'
    world.server(SERVICE).date = 290
    await world.get()
    world.server(SERVICE).date = 0
    expect(await world.call(API)).toBe(200)
    expect(answersIn(world)).toEqual(['refused proof', 'ok'])
    await world.happen({ pass: 15 })
    await world.happen({ set: -200 })
    expect(await world.call(API)).toBe(200)
    expect(answersIn(world)).toEqual([
      'refused proof',
      'ok',
      'refused proof',
      'refused proof',
      'ok',
    ])
    expect(world.logins).toEqual([200, 400, 200])
  })

  test('with the Date of an attacker: proofs for other servers are as they were', async () => {
    const world = setUp(3600)
    Object.assign(world.server(API), { refusesProofs: true, date: 290 })
    expect(await world.call(API)).toBe(401)
    expect(await world.call(OTHER)).toBe(200)
    expect(world.calls.filter(({ server }) => server === OTHER)).toMatchObject([{ answer: 'ok' }])
  })

  test('with a wrong Date, for a proof that was right: the next one is repeated, and then all is well', async () => {
    const world = setUp(3600)
    Object.assign(world.server(API), { refusesProofs: true, date: 290 })
    expect(await world.call(API)).toBe(401)
    world.server(API).refusesProofs = false
    const before = world.calls.length
    for (let count = 0; count < 3; count++) expect(await world.call(API)).toBe(200)
    const refused = answersIn(world)
      .slice(before)
      .filter((answer) => answer !== 'ok')
    expect(refused.length).toBeLessThanOrEqual(1)
  })

  test.each<DateHeader>([0, 290, -290, 'none'])(
    'again and again, Date %j: the requests are few, and so are the logins',
    async (date) => {
      const world = setUp(3600)
      Object.assign(world.server(API), { refusesProofs: true, date })
      for (let count = 0; count < 10; count++) expect(await world.call(API)).toBe(401)
      expect(world.calls.length).toBeLessThanOrEqual(2 * 10 + 2)
      expect(world.logins.length).toBeLessThanOrEqual(2)
    },
  )

  test('of a server that also wants a nonce: one request more for each', async () => {
    const world = setUp(3600)
    await world.get()
    await world.happen({ set: -200 })
    world.server(API).nonce = 'n1'
    expect(await world.call(API)).toBe(200)
    expect(answersIn(world)).toEqual(['nonce', 'refused proof', 'ok'])
    expect(await world.call(API)).toBe(200)
    expect(answersIn(world)).toHaveLength(4)
  })

  test('of a request whose body is a stream: the caller gets it, and the next request is right', async () => {
    const world = setUp(3600)
    await world.get()
    await world.happen({ set: -200 })
    expect(await world.call(API, () => new Blob(['x']).stream())).toBe(401)
    expect(await world.call(API, () => new Blob(['x']).stream())).toBe(200)
    expect(answersIn(world)).toEqual(['refused proof', 'ok'])
    expect(world.logins).toHaveLength(1)
  })

  test('to 20 requests at once: each is repeated once', async () => {
    const world = setUp(3600)
    await world.get()
    await world.happen({ set: -200 })
    const statuses = await Promise.all(
      Array.from({ length: 20 }, async () => await world.call(API)),
    )
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(world.calls.length).toBeLessThanOrEqual(40)
    expect(world.logins).toHaveLength(1)
  })
})

/** Plain, so that a sequence that fails prints as one can read it. */
type Event =
  | { readonly call: string }
  | { readonly machine: ClockEvent }
  | { readonly server: string; readonly date: DateHeader }
  | { readonly server: string; readonly when: 'before' | 'after'; readonly meanwhile: ClockEvent }
  | { readonly server: string; readonly nonce: string | undefined }
  | { readonly connection: 'ended' }

const server = fc.constantFrom(SERVICE, API, OTHER)
const clockEvent: fc.Arbitrary<ClockEvent> = fc.oneof(
  fc.record({ pass: fc.constantFrom(1, 9, 30, 59, 61, 400) }),
  fc.record({ suspend: fc.constantFrom(2, 30, 61, 120, 299, 4000) }),
  fc.record({ set: fc.constantFrom(0, 0, -30, 30, -200, 200, -280, 280) }),
)
const meanwhile: fc.Arbitrary<ClockEvent> = fc.oneof(
  fc.record({ pass: fc.constantFrom(0.1, 0.2) }),
  fc.record({ suspend: fc.constantFrom(30, 120, 299) }),
  fc.record({ set: fc.constantFrom(0, -200, 200) }),
)
const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ call: fc.constantFrom(API, API, OTHER) }) },
  { weight: 5, arbitrary: fc.record({ machine: clockEvent }) },
  {
    weight: 2,
    arbitrary: fc.record({
      server,
      date: fc.constantFrom<DateHeader>(0, 0, 0, 'none', 290, -290, 60, -60, 4000),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ server, when: fc.constantFrom('before', 'after'), meanwhile }),
  },
  { weight: 1, arbitrary: fc.record({ server, nonce: fc.constantFrom('n1', 'n2', undefined) }) },
  { weight: 2, arbitrary: fc.constant<Event>({ connection: 'ended' }) },
)

async function play(world: ClientWorld, each: Event): Promise<void> {
  if ('call' in each) await call(world, each.call)
  else if ('machine' in each) await world.happen(each.machine)
  else if ('date' in each) world.server(each.server).date = each.date
  else if ('nonce' in each) world.server(each.server).nonce = each.nonce
  else if ('connection' in each) world.server(SERVICE).hasEndedConnection = true
  else world.server(each.server)[each.when] = each.meanwhile
}

/** Seconds of a token's time that rounding, `Date` and the way of an answer can cost. */
const SLACK = 3

async function call(world: ClientWorld, origin: string): Promise<void> {
  const { calls, logins } = world
  const before = { calls: calls.length, logins: logins.length }
  const isCalm = isHonest(world, SERVICE) && isHonest(world, origin)
  const isUndisturbed = isUndisturbedBy(world, origin)
  const isRenewalUndisturbed = isUndisturbedBy(world, SERVICE)
  const status = await world.call(origin)
  const own = calls.slice(before.calls)
  // The machine may be suspended by a renewal in the background, while the call has left with the token before.
  const judged = own.filter(({ login }) => isRenewalUndisturbed || login > before.logins)
  for (const { dead, offset, offsetBefore } of isUndisturbed ? judged : []) {
    // A clock that is behind now cannot know that a token is over, nor can one that went back while the machine was suspended.
    if (offset >= 0) expect(dead).toBeLessThanOrEqual(Math.max(0, offsetBefore - offset) + SLACK)
  }
  // Three for each of two tokens.
  expect(own.length).toBeLessThanOrEqual(6)
  expect(logins.length - before.logins).toBeLessThanOrEqual(4)
  if (!isCalm || own.some(({ answer }) => answer === 'dead token')) return
  expect(own.filter(({ answer }) => answer === 'refused proof').length).toBeLessThanOrEqual(1)
  // A pause after an earlier login that failed is all that may be in the way.
  if (own.length > 0) expect(status).toBe(200)
}

/** Whether a server tells its time, and nothing happens to the machine meanwhile. */
function isHonest(world: ClientWorld, name: string): boolean {
  return world.server(name).date === 0 && isUndisturbedBy(world, name)
}

function isUndisturbedBy(world: ClientWorld, name: string): boolean {
  const { before, after } = world.server(name)
  return before === undefined && after === undefined
}

/** From any state: the clock is right, servers tell the time, and everything is accepted, after one refused request at most. */
async function heal(world: ClientWorld): Promise<void> {
  for (const name of [SERVICE, API, OTHER]) {
    Object.assign(world.server(name), { date: 0, before: undefined, after: undefined })
  }
  await world.happen({ set: 0 })
  // The longest pause after a login that failed.
  await world.happen({ pass: 331 })
  for (const origin of [API, OTHER]) {
    const before = world.calls.length
    expect(await world.call(origin)).toBe(200)
    const refused = world.calls.slice(before).filter(({ answer }) => answer === 'refused proof')
    expect(refused.length).toBeLessThanOrEqual(1)
  }
}

test(
  'whatever happens to the clocks: no token is used long after its time, proofs are accepted after one refusal, requests are few',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 3, maxLength: 25 }), async (events) => {
        const world = setUp()
        for (const each of events) await play(world, each)
        await heal(world)
        await world.close()
        expect(world.calls.length).toBeGreaterThan(0)
      }),
      modelRuns(RUNS, 20_260_104),
    )
  },
  MODEL_LIMIT,
)

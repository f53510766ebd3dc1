import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { MODEL_LIMIT, modelRuns } from '../../model-runs.ts'
import {
  createOAuthWorld,
  LIFETIME,
  type OAuthWorld,
  OWN,
  type ServerMood,
  TIMEOUT,
} from './oauth-world.ts'

// The client of OAuth, its callers and the subjects that it acts for: first each sequence that could go wrong, then random ones.

const RUNS = 100

const ENDS = { ada: 250, bob: 5000 }
const NO_ROOM = { max: 0, bytes: 0 }
const setUp = () => createOAuthWorld(ENDS)

async function resultOf(world: OAuthWorld, subject: string) {
  world.call(subject, 1)
  await world.settle()
  return world.outcomes.at(-1)?.result
}

/** What must never be, whatever has happened. */
function faultsOf({ outcomes, mostAtOnce, subjects, asked }: OAuthWorld): readonly string[] {
  const ofCallers = outcomes.flatMap(({ subject, result, time, waited }) => [
    ...(waited > TIMEOUT + 1.2 ? [`${subject} waited for ${waited} s`] : []),
    ...(typeof result === 'number' || result.subject === subject ? [] : [`${subject} has another`]),
    ...(typeof result === 'number' || time <= result.end ? [] : ['a token after its time']),
    ...(typeof result === 'number' || time <= (subjects.get(subject) ?? Infinity)
      ? []
      : [`a token after the end of ${subject}`]),
  ])
  const tooSoon = asked.filter(({ subject, time, mood }, at) => {
    const next = asked.slice(at + 1).find((each) => each.subject === subject)
    return next !== undefined && next.time - time < PAUSES[mood]
  })
  const inPause = asked.filter(({ time }) =>
    asked.some(
      (busy) => busy.mood === 'busy' && busy.time < time && time < busy.time + PAUSES.busy,
    ),
  )
  return [
    ...ofCallers,
    ...inPause.map(({ subject }) => `${subject} asks in a pause of the server`),
    ...tooSoon.map(({ subject, mood }) => `${subject} asks too soon after ${mood}`),
    ...(mostAtOnce() > 1 ? ['several requests at once'] : []),
  ]
}

/** How long nothing is asked for the same subject after such an answer. Seconds. */
const PAUSES: Readonly<Record<ServerMood, number>> = {
  ok: 0,
  gateway: 0,
  hang: 0,
  reset: 0,
  refuse: 30,
  refuse_mildly: 30,
  nonsense: 30,
  busy: 20,
}

/** From any state, after the longest pause: who gets no token, though the subject’s has not expired; and who gets one though it has. */
async function unhealed(world: OAuthWorld): Promise<readonly string[]> {
  world.mood = 'ok'
  await world.clock.advance(331)
  const wrong: string[] = []
  for (const subject of [OWN, ...world.subjects.keys()]) {
    const isOver = world.clock.now() >= (world.subjects.get(subject) ?? Infinity)
    const result = await resultOf(world, subject)
    if (isOver ? result !== 401 : typeof result === 'number') wrong.push(subject)
  }
  return wrong
}

describe('sequences that could go wrong', () => {
  test('1,000 callers come while the server hangs: all hear of it in time, from one request', async () => {
    const world = setUp()
    world.mood = 'hang'
    world.call('bob', 1000)
    await world.settle()
    expect(world.asked).toHaveLength(1)
    expect(world.outcomes.map(({ result }) => result)).toEqual(Array(1000).fill(503))
    expect(faultsOf(world)).toEqual([])
  })

  test('the server hangs while a token is due: it is used, and nobody waits', async () => {
    const world = setUp()
    await resultOf(world, 'bob')
    await world.clock.advance(LIFETIME - 12 - 9)
    world.mood = 'hang'
    expect(await resultOf(world, 'bob')).toMatchObject({ subject: 'bob' })
    expect(world.outcomes.at(-1)?.waited).toBe(0)
    expect(faultsOf(world)).toEqual([])
  })

  test('the server writes milliseconds: a JWT is used until its own end, and no longer', async () => {
    const world = setUp()
    world.mood = 'gateway'
    for (let second = 0; second < 250; second += 5) {
      await resultOf(world, 'bob')
      await world.clock.advance(5)
    }
    expect(faultsOf(world)).toEqual([])
    expect(world.asked.length).toBeGreaterThan(5)
  })

  test('each request has an Auth of its own, whose schema has lost the end: one exchange serves all', async () => {
    const world = setUp()
    for (let count = 0; count < 20; count++) {
      world.call('ada', 1)
      await world.clock.advance(1)
    }
    expect(world.asked).toHaveLength(1)
    await world.clock.advance(ENDS.ada)
    expect(await resultOf(world, 'ada')).toBe(401)
    expect(faultsOf(world)).toEqual([])
  })

  test('the subject expires during its exchange: no token of it is used', async () => {
    const world = setUp()
    world.mood = 'reset'
    await world.clock.advance(ENDS.ada - 1.5)
    world.call('ada', 1)
    await world.clock.advance(0.5)
    world.mood = 'ok'
    await world.settle()
    expect(faultsOf(world)).toEqual([])
    expect(await resultOf(world, 'ada')).toBe(401)
  })

  test('the machine is suspended past the end of the subject: no token of it is used', async () => {
    const world = setUp()
    await resultOf(world, 'ada')
    world.clock.set(world.clock.now() + ENDS.ada)
    expect(await resultOf(world, 'ada')).toBe(401)
    expect(faultsOf(world)).toEqual([])
  })

  test('the server wants a pause from one subject: others ask nothing until it is over', async () => {
    const world = setUp()
    world.mood = 'busy'
    world.call('ada', 1)
    await world.clock.advance(1)
    world.mood = 'ok'
    expect(await resultOf(world, 'bob')).toBe(503)
    expect(await resultOf(world, OWN)).toMatchObject({ subject: OWN })
    expect(world.asked.map(({ time }) => time >= PAUSES.busy)).toEqual([false, true])
    expect(faultsOf(world)).toEqual([])
  })

  test('a caller leaves, and there is room for no subject: the others wait for the same request', async () => {
    const world = createOAuthWorld(ENDS, NO_ROOM)
    world.mood = 'hang'
    world.call('bob', 2)
    await world.leave('bob')
    await world.settle()
    expect(world.outcomes.map(({ result }) => result)).toEqual([503, 503])
    expect(world.asked).toHaveLength(1)
  })

  test('the server has ended the connection that an exchange takes: it is asked again at once', async () => {
    const world = setUp()
    expect(await resultOf(world, OWN)).toMatchObject({ subject: OWN })
    world.hasEndedConnection = true
    expect(await resultOf(world, 'bob')).toMatchObject({ subject: 'bob' })
    expect(world.outcomes.at(-1)?.waited).toBe(0)
    expect(faultsOf(world)).toEqual([])
  })

  test('one subject is refused: others and the client itself get tokens', async () => {
    const world = setUp()
    world.mood = 'refuse'
    expect(await resultOf(world, 'ada')).toBe(401)
    world.mood = 'ok'
    expect(await resultOf(world, 'bob')).toMatchObject({ subject: 'bob' })
    expect(await resultOf(world, OWN)).toMatchObject({ subject: OWN })
    expect(faultsOf(world)).toEqual([])
  })
})

type Event =
  | { readonly call: string; readonly callers: number }
  | { readonly mood: ServerMood }
  | { readonly connection: 'ended' }
  | { readonly pass: number }
  | { readonly suspend: number }
  | { readonly back: number }
  | { readonly leave: string }

const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      call: fc.constantFrom(OWN, 'ada', 'bob'),
      callers: fc.constantFrom(1, 1, 1, 1, 1, 3, 3, 3, 3, 1000),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      mood: fc.constantFrom<ServerMood>(
        'ok',
        'ok',
        'gateway',
        'gateway',
        'hang',
        'reset',
        'refuse',
        'refuse_mildly',
        'busy',
        'nonsense',
      ),
    }),
  },
  { weight: 2, arbitrary: fc.constant<Event>({ connection: 'ended' }) },
  { weight: 4, arbitrary: fc.record({ pass: fc.constantFrom(0, 0.5, 1, 5, 29, 31, 89, 96, 101) }) },
  { weight: 1, arbitrary: fc.record({ suspend: fc.constantFrom(30, 101, 260) }) },
  { weight: 1, arbitrary: fc.record({ back: fc.constantFrom(1, 40, 300) }) },
  { weight: 2, arbitrary: fc.record({ leave: fc.constantFrom(OWN, 'ada', 'bob') }) },
)

test(
  'whatever happens: tokens are those of their subjects and in their time, requests are few, and nobody waits for ever',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 3, maxLength: 25 }), async (events) => {
        const world = setUp()
        for (const each of events) {
          if ('call' in each) world.call(each.call, each.callers)
          else if ('mood' in each) world.mood = each.mood
          else if ('connection' in each) world.hasEndedConnection = true
          else if ('pass' in each) await world.clock.advance(each.pass)
          else if ('leave' in each) await world.leave(each.leave)
          else if ('back' in each) world.clock.set(world.clock.now() - each.back)
          else {
            // What a caller has been given is in its hands.
            await world.clock.advance(0)
            world.clock.set(world.clock.now() + each.suspend)
          }
        }
        await world.settle()
        expect(await unhealed(world)).toEqual([])
        expect(faultsOf(world)).toEqual([])
        await world.close()
      }),
      modelRuns(RUNS, 20_261_123),
    )
  },
  MODEL_LIMIT,
)

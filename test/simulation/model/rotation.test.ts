import fc from 'fast-check'
import { expect, test } from 'vitest'

import { emptyThreadPool } from '../../../packages/core/test/token/thread-pool.ts'
import { MODEL_LIMIT, modelRuns } from '../../model-runs.ts'
import { ROUND_TRIP } from './endpoint.ts'
import { type Event, flood, play, sequence } from './events.ts'
import { type KeyName, NAMES, provenBy, type Signer, signToken } from './keys.ts'
import { TIMEOUT } from './trust.ts'
import { createWorld, type Setting, type World } from './world.ts'

// Random sequences of events, starts of the process included, in virtual time, against what is promised whatever happens.
// A sequence that fails is printed in its shortest form, with the seed that repeats it.

const RUNS = 200
/** The first verifier of a process has a list, the second has none. */
const LISTED = 0

const setting: fc.Arbitrary<Setting> = fc.record({
  overlap: fc.constantFrom(0, 0, 30),
  maxAge: fc.constantFrom(undefined, undefined, 60),
  staleWhileRevalidate: fc.constantFrom(300, 300, 0, 600),
  staleIfError: fc.constantFrom(3600, 3600, 0, 600),
  seed: fc.nat(),
  endsWithRequest: fc.boolean(),
})

/** How the endpoint is well again in the end, and whether forged tokens go on coming. */
const ending = fc.record({
  key: fc.constantFrom(...NAMES),
  verifier: fc.nat(1),
  isFlooded: fc.boolean(),
})

/** A key that no longer states its `alg`: to a verifier without a list it is for something else now, and overlaps. */
const SILENCED: [Setting, Event[], Ending] = [
  {
    overlap: 30,
    maxAge: undefined,
    staleWhileRevalidate: 300,
    staleIfError: 3600,
    seed: 1,
    endsWithRequest: false,
  },
  [
    { publish: ['R-RS256'], replica: 'both' },
    { token: 'RS256', iat: 'now', verifier: 1 },
    { wait: 4 },
    { publish: ['R-none'], replica: 'both' },
    { refresh: true },
    { wait: 4 },
    { token: 'RS256', iat: 'now', verifier: 1 },
    { wait: 4 },
  ],
  { key: 'R-none', verifier: 1, isFlooded: false },
]

test(
  'whatever happens: only served keys are trusted, for what they are for and for all of their overlap, attempts keep their distance, what an idle connection lost is asked again, nobody waits for ever, and all heals',
  async () => {
    await fc.assert(
      fc.asyncProperty(setting, sequence, ending, async (options, events, end) => {
        const world = createWorld(options)
        try {
          await play(world, events)
          await heal(world, end)
          expect(world.faults).toEqual([])
          // What was replaced, a second after it began, may go on until its deadline.
          const most = options.endsWithRequest ? TIMEOUT + 1 : 1
          for (const { mostAtOnce, requests, unrepeated } of world.connections) {
            expect(mostAtOnce()).toBeLessThanOrEqual(most)
            expect(unrepeated()).toBe(0)
            expect(shortestDistance(requests)).toBeGreaterThanOrEqual(1 - 1e-6)
          }
        } finally {
          world.close()
        }
      }),
      {
        examples: [SILENCED],
        ...modelRuns(RUNS, 20_260_101),
      },
    )
  },
  MODEL_LIMIT,
)

interface Ending {
  readonly key: KeyName
  readonly verifier: number
  readonly isFlooded: boolean
}

/**
 * From any state: the endpoint serves one key, and is well. Once no failure pause runs, a token of that key that is refused at
 * first is accepted 15 s and a round trip later.
 */
async function heal(world: World, { key, verifier, isFlooded }: Ending): Promise<void> {
  const { clock, endpoint } = world
  endpoint.mode = 'up'
  endpoint.route = 'first'
  endpoint.published[0] = [key]
  endpoint.headers = {}
  // In a process without an answer yet it would be an outage.
  endpoint.hasEnded = false
  // What is under way ends, and everybody who waits gets an answer.
  await clock.advance(TIMEOUT + 1)
  await settle(world)
  expect(world.pending()).toBe(0)
  await clock.advance(world.keys.status().nextAttemptIn)
  // A token that says it was issued before its key left is held back for longer.
  world.step(world.latest() + 10 - clock.now())
  const [signer = 'stranger'] = provenBy(key, verifier === LISTED)
  const token = signToken(signer, { iat: clock.now() })
  const subject = { verifier, token, signer }
  const first = await verdictWithin(world, subject, 2)
  if (first === 'accepted') return
  const rest = 15 + ROUND_TRIP - 2
  if (isFlooded) await flood(world, Math.floor(rest))
  await clock.advance(isFlooded ? rest - Math.floor(rest) : rest)
  expect(await verdictWithin(world, subject, 2)).toBe('accepted')
}

/** The verdict, if it comes in so many seconds, which pass in any case. */
async function verdictWithin(
  world: World,
  { verifier, token, signer }: { verifier: number; token: string; signer: Signer },
  seconds: number,
): Promise<string> {
  let verdict = 'none'
  void world.present(verifier, token, signer).then((word) => {
    verdict = word
  })
  await world.clock.advance(seconds)
  await settle(world)
  return verdict
}

/** Lets everybody get an answer: signatures come back from the thread pool in real time, and may then wait for keys. */
async function settle({ clock, pending }: World): Promise<void> {
  for (let round = 0; pending() > 0 && round < 500; round++) {
    await emptyThreadPool()
    await clock.advance(0)
    if (pending() > 0) await clock.advance(1)
  }
}

function shortestDistance(times: readonly number[]): number {
  return Math.min(Infinity, ...times.slice(1).map((time, index) => time - (times[index] ?? 0)))
}

import fc from 'fast-check'
import { expect, test } from 'vitest'

import { emptyThreadPool } from '../../packages/core/test/thread-pool.ts'
import { ROUND_TRIP } from './endpoint.ts'
import { flood, play, sequence } from './events.ts'
import { type KeyName, NAMES, signToken } from './keys.ts'
import { TIMEOUT } from './trust.ts'
import { createWorld, type Setting, type World } from './world.ts'

// Random sequences of events, starts of the process included, in virtual time, against what is promised whatever happens. For more than CI plays:
//
//   MODEL_MINUTES=10 npx --yes pnpm@12 test test/model
//
// A sequence that fails is printed in its shortest form, with the seed that repeats it.

const minutes = Number(process.env['MODEL_MINUTES'] ?? 0)
const RUNS = 2000

const setting: fc.Arbitrary<Setting> = fc.record({
  overlap: fc.constantFrom(0, 0, 30),
  maxAge: fc.constantFrom(undefined, undefined, 60),
  staleWhileRevalidate: fc.constantFrom(300, 300, 0, 600),
  staleIfError: fc.constantFrom(3600, 3600, 0, 600),
  seed: fc.nat(),
})

/** How the endpoint is well again in the end, and whether forged tokens go on coming. */
const ending = fc.record({ key: fc.constantFrom(...NAMES), isFlooded: fc.boolean() })

test(
  'whatever happens: only served keys are trusted, attempts keep their distance, nobody waits for ever, and all heals',
  async () => {
    await fc.assert(
      fc.asyncProperty(setting, sequence, ending, async (options, events, { key, isFlooded }) => {
        const world = createWorld(options)
        try {
          await play(world, events)
          await heal(world, key, isFlooded)
          expect(world.faults).toEqual([])
          for (const { mostAtOnce, requests } of world.connections) {
            expect(mostAtOnce()).toBeLessThanOrEqual(1)
            expect(shortestDistance(requests)).toBeGreaterThanOrEqual(1 - 1e-6)
          }
        } finally {
          world.close()
        }
      }),
      minutes > 0
        ? { numRuns: 1e9, interruptAfterTimeLimit: minutes * 60_000, markInterruptAsFailure: false }
        : { numRuns: RUNS, seed: 20_260_101 },
    )
  },
  240_000 + minutes * 90_000,
)

/**
 * From any state: the endpoint serves one key, and is well. Once no failure pause runs, a token of that key that is refused at
 * first is accepted 15 s and a round trip later.
 */
async function heal(world: World, key: KeyName, isFlooded: boolean): Promise<void> {
  const { clock, endpoint } = world
  endpoint.mode = 'up'
  endpoint.route = 'first'
  endpoint.published[0] = [key]
  endpoint.headers = {}
  // What is under way ends, and everybody who waits gets an answer.
  await clock.advance(TIMEOUT + 1)
  await settle(world)
  expect(world.pending()).toBe(0)
  await clock.advance(world.keys.status().nextAttemptIn)
  // A token that says it was issued before its key left is held back for longer.
  clock.set(world.latest() + 10)
  const token = signToken(key, { iat: clock.now() })
  const first = await verdictWithin(world, token, key, 2)
  if (first === 'accepted') return
  const rest = 15 + ROUND_TRIP - 2
  if (isFlooded) await flood(world, Math.floor(rest))
  await clock.advance(isFlooded ? rest - Math.floor(rest) : rest)
  expect(await verdictWithin(world, token, key, 2)).toBe('accepted')
}

/** The verdict, if it comes in so many seconds, which pass in any case. */
async function verdictWithin(
  world: World,
  token: string,
  key: KeyName,
  seconds: number,
): Promise<string> {
  let verdict = 'none'
  void world.present(0, token, key).then((word) => {
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

import { setTimeout as pause } from 'node:timers/promises'

import fc from 'fast-check'
import { expect, test } from 'vitest'

import { MODEL_LIMIT, modelRuns } from '../../model-runs.ts'
import { describeWithRedis } from './describe-with-redis.ts'
import { createWorld, type World } from './world.ts'

// Random sequences of events with a real server, in real time, against what is promised whatever happens.
// A sequence that fails is printed in its shortest form, with the seed that repeats it.

const RUNS = 6
/** At once: most of the time they wait. */
const SEEDS = [20_260_101, 20_260_102]

/** One thing that happens. Seconds. */
type Event =
  | { readonly revoke: number }
  | { readonly revokeSubject: number }
  /** Of a token that has expired long ago: what compaction removes. */
  | { readonly revokeLapsed: number }
  | { readonly compact: true }
  | { readonly connection: 'cut' | 'refused' | 'half-open' | 'slow' | 'cut in a reply' | 'well' }
  | { readonly restart: true }
  | { readonly wait: number }

const index = fc.nat(11)
const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ revoke: index }) },
  { weight: 2, arbitrary: fc.record({ revokeSubject: index }) },
  { weight: 2, arbitrary: fc.record({ revokeLapsed: fc.integer({ min: 1, max: 20 }) }) },
  { weight: 2, arbitrary: fc.constant<Event>({ compact: true }) },
  {
    weight: 5,
    arbitrary: fc.record({
      connection: fc.constantFrom<Extract<Event, { connection: string }>['connection']>(
        'cut',
        'refused',
        'half-open',
        'slow',
        'cut in a reply',
        'well',
        'well',
      ),
    }),
  },
  { weight: 1, arbitrary: fc.constant<Event>({ restart: true }) },
  { weight: 4, arbitrary: fc.record({ wait: fc.constantFrom(0.01, 0.05, 0.3, 1.2) }) },
)
const sequence = fc.array(event, { minLength: 3, maxLength: 15, size: 'max' })

describeWithRedis('a replica', () => {
  test.concurrent.each(SEEDS)(
    'seed %i, whatever happens: nothing that is revoked is accepted for longer than promised, nothing else is revoked, and all heals',
    async (seed) => {
      await fc.assert(
        fc.asyncProperty(sequence, async (events) => {
          await using world = await createWorld()
          for (const each of events) await happen(world, each)
          await world.heal()
          expect(world.faults()).toEqual([])
        }),
        { ...modelRuns(RUNS, seed), endOnFailure: true },
      )
    },
    MODEL_LIMIT,
  )
})

async function happen(world: World, happening: Event): Promise<void> {
  const { proxy } = world
  if ('revoke' in happening) await world.revoke(happening.revoke)
  else if ('revokeSubject' in happening) await world.revokeSubject(happening.revokeSubject)
  else if ('revokeLapsed' in happening) await world.revokeLapsed(happening.revokeLapsed)
  else if ('compact' in happening) await world.compact()
  else if ('restart' in happening) await world.restart()
  else if ('wait' in happening) await pause(happening.wait * 1000)
  else if (happening.connection === 'cut') proxy.cut()
  else if (happening.connection === 'cut in a reply') void proxy.cutNextReply(20)
  else {
    proxy.delay = happening.connection === 'slow' ? 0.4 : 0
    proxy.mode = MODES[happening.connection]
    if (proxy.mode === 'refuse') proxy.cut()
  }
}

const MODES = { refused: 'refuse', 'half-open': 'swallow', slow: 'pass', well: 'pass' } as const

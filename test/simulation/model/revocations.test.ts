import fc from 'fast-check'
import { expect, test } from 'vitest'

import { play, sequence, setting } from './revocation-events.ts'
import { createWorld } from './revocation-world.ts'

// Random revocations, snapshots and steps of clocks, against a plain list of everything that was ever revoked. For more than
// CI plays:
//
//   MODEL_MINUTES=10 npx --yes pnpm@12 test test/simulation/model

const minutes = Number(process.env['MODEL_MINUTES'] ?? 0)
const RUNS = 1000

test(
  'whatever happens: no revoked token is accepted, and none is refused because of an entry of somebody else',
  async () => {
    await fc.assert(
      fc.asyncProperty(setting, sequence, async (options, events) => {
        const world = createWorld(options)
        await play(world, events)
        expect(world.faults).toEqual([])
      }),
      minutes > 0
        ? { numRuns: 1e9, interruptAfterTimeLimit: minutes * 60_000, markInterruptAsFailure: false }
        : { numRuns: RUNS, seed: 20_260_102 },
    )
  },
  120_000 + minutes * 90_000,
)

import fc from 'fast-check'
import { expect, test } from 'vitest'

import { MODEL_LIMIT, modelRuns } from '../../model-runs.ts'
import { play, sequence, setting } from './revocation-events.ts'
import { createWorld } from './revocation-world.ts'

// Random revocations, snapshots and steps of clocks, against a plain list of everything that was ever revoked.

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
      modelRuns(RUNS, 20_260_102),
    )
  },
  MODEL_LIMIT,
)

import { describe, expect, test } from 'vitest'

import { readSeeds } from './seeds.ts'
import { examine } from './target.ts'
import { targets } from './targets/index.ts'

describe.each(Object.entries(targets))('the seeds of %s', (name, target) => {
  test.each(readSeeds(name))('$name holds what the target promises', async ({ input }) => {
    await expect(examine(target, input, false)).resolves.toBeUndefined()
  })
})

import { expect, test } from 'vitest'

import { askers, startWorld } from './askers.ts'

test.each(askers)(
  'a request for %s is answered by no cache, follows no redirect, shows no cookie and lets the platform decompress',
  async (_what, start) => {
    await using world = await startWorld()
    const { first, next } = start(world)
    await first()
    expect(await next()).toBe('ok')
    expect(world.asked.length).toBeGreaterThanOrEqual(2)
    for (const init of world.asked) {
      expect(init).toMatchObject({ cache: 'no-store', redirect: 'manual', credentials: 'omit' })
      // Deno decompresses nothing where it is stated.
      expect(new Headers(init.headers).has('accept-encoding')).toBe(false)
    }
  },
)

import { expect, test } from 'vitest'

import { startCanary, watchNetwork } from './corpus/guards.ts'

test('the guards of the corpus hear a request that is made, and from where it is made', async () => {
  await using canary = await startCanary()
  using network = watchNetwork()
  await (await fetch(canary.url)).text()
  expect(canary.visits).toBe(1)
  expect(network.seen).toContain('undici:request:create')
  expect(network.seen).toContain('net.client.socket')
})

import { setImmediate as nextTurn } from 'node:timers/promises'

import { remoteKeys } from '@portcullis/core'
import { expect, test } from 'vitest'

import { askers, startWorld, verifying, type Asker, type World } from './askers.ts'
import type { Ending } from './ending-server.ts'

// A server may end a connection that is not in use. Until the client has heard of it, `fetch` takes that connection for the next
// request, which then fails. Nobody who waits for the answer hears of it.

const table = askers.flatMap(([what, start]) =>
  (['RST', 'FIN'] as const).map((ending): [string, Ending, (world: World) => Asker] => [
    what,
    ending,
    start,
  ]),
)

test.each(table)(
  'whoever asks for %s gets it at once where the idle connection has ended by %s',
  async (_what, ending, start) => {
    await using world = await startWorld()
    const { server } = world
    const { first, next } = start(world)
    await first()
    await untilIdle()
    const before = server.answered.length
    const connections = server.endConnections(ending)
    expect(await next()).toBe('ok')
    expect(server.lost.length).toBeGreaterThanOrEqual(1)
    expect(server.lost.length).toBeLessThanOrEqual(connections)
    expect(server.answered.length).toBeGreaterThan(before)
    expect(assertionIn(server.lost[0])).not.toBe(assertionIn(server.answered.at(-1)) ?? 'none')
  },
)

/** `fetch` takes a connection for another request when the event loop has turned. */
async function untilIdle(): Promise<void> {
  await nextTurn()
  await nextTurn()
}

function assertionIn(form = ''): string | null {
  return new URLSearchParams(form).get('client_assertion')
}

test.each<Ending>(['RST', 'FIN'])(
  'where each connection ends by %s, an attempt is two requests, and the token stays unproven',
  async (ending) => {
    await using world = await startWorld()
    const { server, clock } = world
    const keys = remoteKeys(`${server.url}/keys`, { clock })
    const { first, next } = verifying(world, keys, 30)
    await first()
    await untilIdle()
    server.endConnections(ending, true)
    expect(await next()).toBe('AuthError: Access tokens cannot be verified at the moment')
    expect(server.lost).toHaveLength(2)
    expect(keys.status().lastFailure?.reason).toBe('unreachable')
  },
)

test('before any exchange has succeeded, an attempt is one request', async () => {
  await using world = await startWorld()
  const { server, clock } = world
  server.endConnections('RST', true)
  const keys = remoteKeys(`${server.url}/keys`, { clock })
  await expect(keys.refresh()).rejects.toMatchObject({ reason: 'unreachable' })
  expect(server.lost).toHaveLength(1)
})

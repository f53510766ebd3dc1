import { expect, test } from 'vitest'

import { createPlacement, kindOfCheck } from '../../../packages/core/src/token/placement.ts'
import { createServer, type Machine, RULES } from './two-cores.ts'

// Whether the placement of signatures is right on machines of other shapes than ours: those of which measurements said the contrary.

/** The sender keeps the other core busy, and to wake a thread takes longer than the signature of an RSA key. */
const BUSY: Machine = { request: 50, check: 25, handOver: 36, back: 8, pool: 25, sender: 45 }
/** The other core has time. Between two requests a signature takes long: the memory is slow. */
const FREE: Machine = { request: 50, check: 60, handOver: 5, back: 5, pool: 30, sender: 15 }

const RSA = kindOfCheck('RS512', 256)
const REQUESTS = 5000

/** Requests a second by each rule, once it knows the machine. */
async function rates(machine: Machine): Promise<Record<string, number>> {
  const rated: Record<string, number> = {}
  for (const [name, create] of Object.entries(RULES)) {
    const server = createServer(create(), RSA)
    await server.answer(REQUESTS, machine)
    rated[name] = await server.answer(REQUESTS, machine)
  }
  return rated
}

// The first request of an iteration is answered on the main thread: what that may cost is a twentieth.
test.each([
  ['both cores are busy', BUSY, 'all on the main thread', 'all on the pool'],
  ['a core is free, and checks are slow', FREE, 'all on the pool', 'all on the main thread'],
])('%s: the rule answers about as many as the better of two', async (_, machine, better, worse) => {
  const rated = await rates(machine)
  const [rule = 0, good = 0, bad = 0] = [rated['the rule'], rated[better], rated[worse]]
  expect(good).toBeGreaterThan(1.1 * bad)
  expect(rule).toBeGreaterThan(0.95 * good)
})

test('a machine that becomes the other is known after some hundred requests', async () => {
  const server = createServer(createPlacement(), RSA)
  for (const [machine, better] of [
    [BUSY, 'all on the main thread'],
    [FREE, 'all on the pool'],
    [BUSY, 'all on the main thread'],
  ] as const) {
    await server.answer(1000, machine)
    const rate = await server.answer(REQUESTS, machine)
    expect(rate).toBeGreaterThan(0.95 * ((await rates(machine))[better] ?? 0))
  }
})

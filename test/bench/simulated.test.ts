import { expect, test } from 'vitest'

import type { RemoteKeys } from '../../packages/core/src/keys/key-cache.ts'
import { readKeyDocument } from '../../packages/core/src/keys/key-document.ts'
import { type KeyRing, methodsOf } from '../../packages/core/src/keys/key-source.ts'
import { publicJwk, type Signer } from '../simulation/model/keys.ts'
import { createWorld } from '../simulation/model/world.ts'
import { createEventQueue } from './event-queue.ts'
import { seededRandom } from './random.ts'
import { introspect, poll, runAsking } from './simulated-asking.ts'
import { createEndpoint } from './simulated-endpoint.ts'
import { createKey, createProcess } from './simulated-process.ts'

// What the figures of fleets come from does what processes do.

/** What happens when. Seconds; none of it while a request is under way. */
interface Moment {
  readonly at: number
  readonly token?: Signer
  readonly publish?: 'A' | 'B'
  readonly isDown?: boolean
}

const END = 2000

const thumbprints = new Map<Signer, string | undefined>(
  (['A', 'B'] as const).map((name) => [
    name,
    readKeyDocument(publicJwk(name))?.keys[0]?.thumbprint,
  ]),
)

const moments: readonly Moment[] = [
  // At odd times, so that no rounding decides.
  ...every(1.0137, 0.3, END, 'A'),
  ...every(0.9871, 0.8, END, 'B'),
  // A flood, a trickle, and both during an outage.
  ...every(0.2501, 100.1, 250, 'stranger'),
  ...every(15.0177, 300.1, 600, 'stranger'),
  ...every(2.0071, 900.15, 1000, 'stranger'),
  { at: 180.05, publish: 'B' },
  { at: 400.05, publish: 'A' },
  { at: 700.05, isDown: true },
  { at: 950.05, publish: 'B' },
  { at: 1500.05, isDown: false },
]
const script = moments.toSorted((one, other) => one.at - other.at)

test.each([1, 2, 3])(
  'a process does what the key cache does: the same requests and verdicts, with seed %i',
  async (seed) => {
    const real = await outcomeOfCache(seed)
    const simulated = outcomeOfSimulation(seed)
    expect(simulated.requests).toEqual(real.requests)
    expect(simulated.verdicts).toEqual(real.verdicts)
    expect(real.requests.length).toBeGreaterThan(40)
    expect(new Set(real.verdicts)).toEqual(new Set(['accepted', 'refused', 'unavailable']))
  },
)

function every(interval: number, from: number, until: number, token: Signer): Moment[] {
  const count = Math.floor((until - from) / interval)
  return Array.from({ length: count }, (_, index) => ({ at: from + index * interval, token }))
}

async function outcomeOfCache(seed: number) {
  const { clock, endpoint, keys, connections, close } = createWorld({
    overlap: 0,
    maxAge: undefined,
    staleWhileRevalidate: 300,
    staleIfError: 3600,
    seed,
    endsWithRequest: false,
  })
  const verdicts: string[] = []
  for (const { at, token, publish, isDown } of script) {
    await clock.advance(at - clock.monotonic())
    if (publish !== undefined) endpoint.published[0] = [publish]
    if (isDown !== undefined) endpoint.mode = isDown ? 'down' : 'up'
    if (token === undefined) continue
    const place = verdicts.push('none') - 1
    void judge(keys, token, String(place)).then((word) => {
      verdicts[place] = word
    })
    await clock.advance(0)
  }
  await clock.advance(60)
  close()
  return { requests: rounded(connections[0]?.requests ?? []), verdicts }
}

/** As a verifier asks, without any signature: those checked on the thread pool would come back at a time of their own. */
async function judge(source: RemoteKeys, signer: Signer, token: string): Promise<string> {
  const keys = methodsOf(source)
  const caller = { arrived: keys.now(), tokenSize: 100, signal: undefined }
  const keyIn = (ring: KeyRing) =>
    ring.keys.find(({ thumbprint }) => thumbprint === thumbprints.get(signer))
  try {
    const ring = keys.current(caller.arrived) ?? (await keys.wait(caller))
    if (keyIn(ring) !== undefined) return 'accepted'
    const suspicion = {
      token,
      ring,
      couldBeAccepted: () => true,
      findKey: async (other: KeyRing) => keyIn(other),
      wasIssuedAfter: () => false,
    }
    const { key } = await keys.suspect(suspicion, caller)
    return key === undefined ? 'refused' : 'accepted'
  } catch {
    return 'unavailable'
  }
}

function outcomeOfSimulation(seed: number) {
  const keys = { A: createKey('A'), B: createKey('B') }
  const queue = createEventQueue()
  const endpoint = createEndpoint(queue, keys.A)
  const process = createProcess(queue, endpoint, seededRandom(seed), () => {})
  const verdicts: string[] = []
  for (const { at, token, publish, isDown } of script) {
    queue.runUntil(at)
    if (publish !== undefined) endpoint.rotate(keys[publish])
    if (isDown !== undefined) endpoint.setDown(isDown)
    if (token === undefined) continue
    const place = verdicts.push('none') - 1
    process.verify(
      { signer: token === 'A' || token === 'B' ? keys[token] : undefined, arrived: () => at },
      (word) => {
        verdicts[place] = word
      },
    )
  }
  queue.runUntil(END + 60)
  return { requests: rounded(endpoint.requests), verdicts }
}

function rounded(times: readonly number[]): number[] {
  return times.map((time) => Math.round(time * 1000) / 1000)
}

test('each token is asked about once in 50 to 90 % of maxAge, whatever the number of processes', () => {
  const [one, ten] = [runAsking(1, 1, introspect), runAsking(10, 1, introspect)]
  // It comes once a second, so up to a second after its answer is due: after 21 s on average.
  for (const [size, { steady }] of [
    [1, one],
    [10, ten],
  ] as const) {
    expect(steady / (size * 10)).toBeGreaterThan(1 / 23)
    expect(steady / (size * 10)).toBeLessThanOrEqual(1 / 20)
  }
  expect(one.deployPeak).toBe(10)
})

test('in an outage a process asks far less than its tokens would', () => {
  const { steady, outage } = runAsking(10, 1, introspect)
  expect(outage).toBeGreaterThan(0)
  expect(outage).toBeLessThan(steady)
})

test('a poll that brings nothing is repeated after its interval, and failing ones later', () => {
  const { steady, outage } = runAsking(10, 1, poll)
  expect(steady).toBeCloseTo(10 / 5, 1)
  expect(outage).toBeLessThan(steady)
  expect(outage).toBeGreaterThan(10 / 40)
})

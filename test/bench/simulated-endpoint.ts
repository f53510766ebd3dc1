import type { VerificationKey } from '../../packages/core/src/keys/key-source.ts'
import type { EventQueue } from './event-queue.ts'

/** The key endpoint of a fleet, as the fleet sees it. */
export interface SimulatedEndpoint {
  /** One request: `settle` gets the keys, or nothing from an endpoint that is down. */
  get(settle: (keys: readonly VerificationKey[] | undefined) => void): void
  /** When its requests came, in order. */
  readonly requests: readonly number[]
  /** The key that it serves, and that the issuer signs with. */
  key(): VerificationKey
  rotate(key: VerificationKey): void
  setDown(isDown: boolean): void
}

/** Seconds. */
export const ROUND_TRIP = 0.02

/** Reads its key halfway through the round trip: a request may be overtaken by a rotation. */
export function createEndpoint(queue: EventQueue, first: VerificationKey): SimulatedEndpoint {
  const requests: number[] = []
  let keys: readonly [VerificationKey] = [first]
  let isDown = false

  return {
    requests,
    get(settle) {
      const sent = queue.now()
      requests.push(sent)
      queue.at(sent + ROUND_TRIP / 2, () => {
        const answer = isDown ? undefined : keys
        queue.at(sent + ROUND_TRIP, () => {
          settle(answer)
        })
      })
    },
    key: () => keys[0],
    rotate(key) {
      keys = [key]
    },
    setDown(down) {
      isDown = down
    },
  }
}

/** How many requests came from one moment to before another. */
export function countBetween(requests: readonly number[], from: number, until: number): number {
  return requests.filter((time) => time >= from && time < until).length
}

/** The most requests in any second, wherever it begins. */
export function peakBetween(requests: readonly number[], from: number, until: number): number {
  const times = requests.filter((time) => time >= from && time < until)
  let peak = 0
  let first = 0
  for (const [index, time] of times.entries()) {
    while ((times[first] ?? time) <= time - 1) first += 1
    peak = Math.max(peak, index - first + 1)
  }
  return peak
}

import { createEventQueue, type EventQueue } from './event-queue.ts'
import { type Random, seededRandom } from './random.ts'
import { countBetween, peakBetween, ROUND_TRIP } from './simulated-endpoint.ts'
import {
  createIntrospection,
  type SimulatedIntrospection,
  startIntrospecting,
} from './simulated-introspection.ts'
import { startPolling } from './simulated-polls.ts'
import { octetsOfOneRevocation } from './simulated-replicas.ts'
import { printTable } from './table.ts'

// What fleets ask of an introspection endpoint and of a transmitter of security events.

/** Different tokens that come to each process, each of them once a second. */
const TOKENS = 10
const DEPLOY = 10
const SETTLED = 120
const WATCHED = 300

type Start = (
  queue: EventQueue,
  endpoint: SimulatedIntrospection,
  random: Random,
  from: number,
) => void

interface Asked {
  readonly steady: number
  readonly deployPeak: number
  readonly outage: number
}

/** A fleet starts within some seconds, works, and then the endpoint is down. */
export function runAsking(size: number, seed: number, start: Start): Asked {
  const random = seededRandom(seed)
  const queue = createEventQueue()
  const endpoint = createIntrospection(queue, ROUND_TRIP)
  for (let index = 0; index < size; index += 1) start(queue, endpoint, random, random() * DEPLOY)
  const calm = SETTLED + WATCHED
  queue.runUntil(calm)
  const steady = countBetween(endpoint.requests, SETTLED, calm) / WATCHED
  const deployPeak = peakBetween(endpoint.requests, 0, 2 * DEPLOY)
  endpoint.setDown(true)
  // The first minute is that of answers that are still held.
  const from = calm + 60
  queue.runUntil(from + WATCHED)
  return {
    steady,
    deployPeak,
    outage: countBetween(endpoint.requests, from, from + WATCHED) / WATCHED,
  }
}

export const introspect: Start = (queue, endpoint, random, from) => {
  startIntrospecting(queue, endpoint, random, { tokens: TOKENS, from })
}

/** What fleets ask of an introspection endpoint, and of a transmitter. */
export function printOthers(sizes: readonly number[], seed: number): void {
  printTable(
    `${TOKENS} opaque tokens at each process, each once a second. Outages without their first minute.`,
    [
      ['Processes', ([size]) => size, 0],
      ['Introspection: steady, requests/s', ([, introspection]) => introspection.steady],
      ['Deploy, peak/s', ([, introspection]) => introspection.deployPeak, 0],
      ['Outage, requests/s', ([, introspection]) => introspection.outage],
      ['Polls: steady, requests/s', ([, , polls]) => polls.steady],
      ['Polls: outage, requests/s', ([, , polls]) => polls.outage],
      [
        'One pushed event: requests, KB from Redis',
        ([size]) => `1, ${(octetsOfOneRevocation(size) / 1e3).toFixed(1)}`,
      ],
    ],
    sizes.map(
      (size) =>
        [size, runAsking(size, seed, introspect), runAsking(size, seed, startPolling)] as const,
    ),
  )
}

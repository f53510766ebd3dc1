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
import { markdownTable } from './table.ts'

// What fleets ask of an introspection endpoint and of a transmitter of security events.

/** Different tokens that come to each process, each of them once a second. */
const TOKENS = 10
const DEPLOY = 10
const SETTLED = 120
const WATCHED = 300

const HEADER = [
  'Processes',
  'Introspection: steady, requests/s',
  'Deploy, peak/s',
  'Outage, requests/s',
  'Polls: steady, requests/s',
  'Polls: outage, requests/s',
  'One pushed event: requests, KB from Redis',
]

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
export function othersTable(sizes: readonly number[], seed: number): string {
  const assumed = `${TOKENS} opaque tokens at each process, each once a second. Outages without their first minute.`
  return `${assumed}\n\n${markdownTable(
    HEADER,
    sizes.map((size) => row(size, seed)),
  )}`
}

function row(size: number, seed: number): string[] {
  const introspection = runAsking(size, seed, introspect)
  const polls = runAsking(size, seed, startPolling)
  return [
    String(size),
    introspection.steady.toFixed(2),
    String(introspection.deployPeak),
    introspection.outage.toFixed(2),
    polls.steady.toFixed(2),
    polls.outage.toFixed(2),
    `1, ${(octetsOfOneRevocation(size) / 1e3).toFixed(1)}`,
  ]
}

import type { VerificationKey } from '../../packages/core/src/keys/key-source.ts'
import { createEventQueue, type EventQueue } from './event-queue.ts'
import { randomAt, seededRandom } from './random.ts'
import { flags } from './report.ts'
import { introspect, poll, runAsking, TOKENS } from './simulated-asking.ts'
import {
  countBetween,
  createEndpoint,
  peakBetween,
  ROUND_TRIP,
  type SimulatedEndpoint,
} from './simulated-endpoint.ts'
import { createKey, createProcess, type SimulatedProcess } from './simulated-process.ts'
import { printTable } from './table.ts'

// What a fleet of processes asks of one key endpoint, what its callers notice of it, and what it asks of an introspection endpoint and
// of a transmitter of events, in virtual time; and what it asks of the Redis that has its revocations: `pnpm bench fleet`.
//
// Every process gets one genuine token a second, at a moment drawn for each second: that is what 10,000 processes can be
// simulated with, and few requests make healing look slow rather than fast. A flood is 200 forged tokens a second and
// process, one every 5 ms. All processes start within 10 s.

const SEED = 20_260_101
/** `--quick`: only the first two. */
const FLEETS = [1, 10, 50, 100, 1000, 10_000].slice(0, flags.quick ? 2 : 6)
const HOUR = 3600
const DEPLOY = 10
const SETTLED = 1000
const FLOOD_INTERVAL = 0.005
const ENTRIES = 100_000

const OLD_KEY = createKey('old')
const NEW_KEY = createKey('new')

interface Fleet {
  readonly queue: EventQueue
  readonly endpoint: SimulatedEndpoint<VerificationKey>
  readonly processes: readonly SimulatedProcess[]
  /** Genuine tokens that were not accepted, by the key that signed them. */
  readonly lost: Map<VerificationKey, number>
  /** When the last process has learnt of the new key. */
  readonly healedAt: () => number
}

/** @param watchFrom From when on every genuine token is looked at, since the key may be rotated. */
function deploy(size: number, watchFrom: number): Fleet {
  const random = seededRandom(SEED)
  const queue = createEventQueue()
  const endpoint = createEndpoint(queue, OLD_KEY)
  let last = 0
  const processes = Array.from({ length: size }, () => {
    let isHealed = false
    return createProcess(queue, endpoint, random, (key) => {
      if (key === NEW_KEY && !isHealed) last = queue.now()
      isHealed = key === NEW_KEY
    })
  })
  const lost = new Map<VerificationKey, number>()
  const fleet = { queue, endpoint, processes, lost, healedAt: () => last }
  for (const [index, process] of processes.entries()) {
    const arrivals = (after: number) => nextArrival(index, after)
    queue.at(arrivals(random() * DEPLOY), () => sendGenuine(fleet, process, arrivals, watchFrom))
  }
  return fleet
}

/** Sends a token, and the next one that may make a difference: those in between are accepted without any effect. */
function sendGenuine(
  fleet: Fleet,
  process: SimulatedProcess,
  arrivals: (after: number) => number,
  watchFrom: number,
): void {
  const { queue, endpoint, lost } = fleet
  const now = queue.now()
  const signer = endpoint.answer()
  process.verify({ signer, arrived: () => now }, (verdict) => {
    if (verdict !== 'accepted') lost.set(signer, (lost.get(signer) ?? 0) + 1)
  })
  const isQuiet = process.trusts(signer) && (now < watchFrom || signer === NEW_KEY)
  const limit = now < watchFrom ? watchFrom : Infinity
  const next = isQuiet ? Math.max(now, Math.min(process.quietUntil(), limit)) : now
  queue.at(arrivals(next), () => sendGenuine(fleet, process, arrivals, watchFrom))
}

/** One arrival in each second. */
function nextArrival(index: number, after: number): number {
  let second = Math.floor(after)
  while (second + randomAt(SEED + index, second) <= after) second += 1
  return second + randomAt(SEED + index, second)
}

/**
 * Sends a forged token that stands for all that wait together. One of them came at most 5 ms ago at any time, so its
 * arrival is never older than that: only the youngest of a crowd decides what the crowd causes. Those that are refused
 * without an effect are left out: while no suspicion may ask, but for the last second, in which the next one would wait
 * and start the attempt to the millisecond. Under a flood no ring gets old, so forged tokens cause no attempt by age.
 */
function sendForged(queue: EventQueue, process: SimulatedProcess, phase: number): void {
  const ticks = (time: number) => Math.floor((time - phase) / FLOOD_INTERVAL + 1e-6)
  const arrived = () => phase + ticks(queue.now()) * FLOOD_INTERVAL
  process.verify({ signer: undefined, arrived }, () => {
    const after = Math.max(queue.now(), process.nextSuspicion() - 1)
    const next = phase + (ticks(after) + 1) * FLOOD_INTERVAL
    queue.at(next, () => sendForged(queue, process, phase))
  })
}

function runCalm(size: number) {
  const { queue, endpoint } = deploy(size, Infinity)
  queue.runUntil(SETTLED + HOUR)
  return {
    steady: countBetween(endpoint.requests, SETTLED, SETTLED + HOUR) / HOUR,
    peak: peakBetween(endpoint.requests, 0, 2 * DEPLOY),
  }
}

function runOutage(size: number) {
  const { queue, endpoint, lost } = deploy(size, Infinity)
  queue.runUntil(SETTLED)
  endpoint.setDown(true)
  queue.runUntil(SETTLED + HOUR)
  const requests = countBetween(endpoint.requests, SETTLED, SETTLED + HOUR)
  return { rate: requests / HOUR, lost: lost.get(OLD_KEY) ?? 0 }
}

/** Five minutes of a flood, and then the worst moment: the whole fleet, which it keeps in step, has just read the old key. */
function flood({ queue, endpoint, processes }: Fleet): void {
  for (const [index, process] of processes.entries()) {
    const phase = SETTLED - 300 + randomAt(SEED, index) * FLOOD_INTERVAL
    queue.at(phase, () => sendForged(queue, process, phase))
  }
  queue.runUntil(SETTLED)
  const awaited = endpoint.requests.length + processes.length
  while (endpoint.requests.length < awaited) queue.runUntil(queue.now() + 0.001)
  queue.runUntil(queue.now() + ROUND_TRIP / 2)
}

function runRotation(size: number, isFlooded: boolean) {
  const fleet = deploy(size, SETTLED)
  const { queue, endpoint, healedAt, lost } = fleet
  if (isFlooded) flood(fleet)
  else queue.runUntil(SETTLED)
  const rotatedAt = queue.now()
  endpoint.rotate(NEW_KEY)
  queue.runUntil(rotatedAt + 60)
  return {
    peak: peakBetween(endpoint.requests, rotatedAt, rotatedAt + 60),
    total: countBetween(endpoint.requests, rotatedAt, healedAt()),
    refused: lost.get(NEW_KEY) ?? 0,
  }
}

const PROCESSES = ['Processes', ({ size }: { readonly size: number }) => size, 0] as const

printTable(
  `Keys. Seed ${SEED}. Round trip ${ROUND_TRIP * 1000} ms.`,
  [
    PROCESSES,
    ['Steady, requests/s', ({ calm }) => calm.steady, 4],
    ['Deploy, peak/s', ({ calm }) => calm.peak, 0],
    [
      'Outage of 1 h, requests/s (each a minute)',
      ({ size, outage: { rate } }) => `${rate.toFixed(3)} (${((rate / size) * 60).toFixed(2)})`,
    ],
    ['Tokens lost in it', ({ outage }) => outage.lost, 0],
    ['Rotation, peak/s / total', ({ rotation }) => `${rotation.peak} / ${rotation.total}`],
    [
      'New-key tokens refused: calm / flood',
      ({ rotation, flooded }) => `${rotation.refused} / ${flooded.refused}`,
    ],
  ],
  FLEETS.map((size) => ({
    size,
    calm: runCalm(size),
    outage: runOutage(size),
    rotation: runRotation(size, false),
    flooded: runRotation(size, true),
  })),
)

// Redis serves one process after the other. What a command costs and how long an entry is are assumptions. Seconds and octets.
const COMMAND = 0.000_005
const BANDWIDTH = 1_000_000_000
const ENTRY = 184
/** Between two comparisons, and the longest that a read waits: a quarter of `maxStaleness`, which is 10 by default. */
const HEARTBEAT = 2.5
/** At each heartbeat: the stream, what comes next, the entry that was read last, the role, in one transaction; then a read. */
const ASKED = { commands: 7, octets: 1005 }
/** Entries that one command of the first reading asks for. */
const PAGE = 5000

/** What Redis sends for one revocation: an answer with the entry, to each process. */
const toldKilobytes = (size: number) => (size * (5 + ENTRY)) / 1e3

/** Until the last process has read the stream: they start within some seconds, and Redis is busy with them for so long. */
function secondsOfDeploy(size: number): number {
  const each = (ENTRIES / PAGE) * COMMAND + (ENTRIES * ENTRY) / BANDWIDTH
  return Math.max(DEPLOY + each, size * each)
}

printTable(
  `Redis: ${COMMAND * 1e6} µs a command, ${BANDWIDTH / 1e6} MB/s. Heartbeat ${HEARTBEAT} s.`,
  [
    PROCESSES,
    ['Quiet: commands/s', ({ size }) => (size * ASKED.commands) / HEARTBEAT, 1],
    ['Quiet: sent, KB/s', ({ size }) => (size * ASKED.octets) / HEARTBEAT / 1e3, 1],
    // Who was told reads again.
    ['1 revocation/s: commands/s', ({ size }) => (size * ASKED.commands) / HEARTBEAT + size, 0],
    ['One revocation: sent to the fleet, KB', ({ size }) => toldKilobytes(size), 1],
    [
      `Deploy, ${ENTRIES} entries: MB, last ready after s`,
      ({ size }) =>
        `${((size * ENTRIES * ENTRY) / 1e6).toFixed(1)}, ${secondsOfDeploy(size).toFixed(1)}`,
    ],
  ],
  FLEETS.map((size) => ({ size })),
)
printTable(
  `${TOKENS} opaque tokens at each process, each once a second. Outages without their first minute.`,
  [
    PROCESSES,
    ['Introspection: steady, requests/s', ({ introspection }) => introspection.steady],
    ['Deploy, peak/s', ({ introspection }) => introspection.deployPeak, 0],
    ['Outage, requests/s', ({ introspection }) => introspection.outage],
    ['Polls: steady, requests/s', ({ polls }) => polls.steady],
    ['Polls: outage, requests/s', ({ polls }) => polls.outage],
    [
      'One pushed event: requests, KB from Redis',
      ({ size }) => `1, ${toldKilobytes(size).toFixed(1)}`,
    ],
  ],
  FLEETS.map((size) => ({
    size,
    introspection: runAsking(size, SEED, introspect),
    polls: runAsking(size, SEED, poll),
  })),
)

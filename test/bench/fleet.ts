import type { VerificationKey } from '../../packages/core/src/keys/key-source.ts'
import { createEventQueue, type EventQueue } from './event-queue.ts'
import { printOthers } from './others-table.ts'
import { randomAt, seededRandom } from './random.ts'
import { printRevocations } from './replica-table.ts'
import { flags } from './report.ts'
import {
  countBetween,
  createEndpoint,
  peakBetween,
  ROUND_TRIP,
  type SimulatedEndpoint,
} from './simulated-endpoint.ts'
import { createKey } from './simulated-key.ts'
import { createProcess, type SimulatedProcess, type Verdict } from './simulated-process.ts'
import { printTable } from './table.ts'

// What a fleet of processes asks of one key endpoint, what its callers notice of it, and what it asks of the Redis that has its
// revocations, of an introspection endpoint and of a transmitter of events, in virtual time:
//
//   node --conditions=@portcullis/source test/bench/fleet.ts
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

const OLD_KEY = createKey('old')
const NEW_KEY = createKey('new')

interface Fleet {
  readonly queue: EventQueue
  readonly endpoint: SimulatedEndpoint
  readonly processes: readonly SimulatedProcess[]
  /** Genuine tokens that were not accepted, by the key that signed them. */
  readonly lost: Map<VerificationKey, number>
  /** When the last process that learnt of the new key did so, and how many have. */
  readonly healing: { last: number; count: number }
}

/** @param watchFrom From when on every genuine token is looked at, since the key may be rotated. */
function deploy(size: number, watchFrom: number): Fleet {
  const random = seededRandom(SEED)
  const queue = createEventQueue()
  const endpoint = createEndpoint(queue, OLD_KEY)
  const healing = { last: 0, count: 0 }
  const lost = new Map([OLD_KEY, NEW_KEY].map((key) => [key, 0]))
  const processes = Array.from({ length: size }, () => {
    let isHealed = false
    return createProcess(queue, endpoint, random, (keys) => {
      if (!keys.includes(NEW_KEY) || isHealed) return
      isHealed = true
      healing.last = queue.now()
      healing.count += 1
    })
  })
  const fleet = { queue, endpoint, processes, lost, healing }
  for (const [index, process] of processes.entries()) {
    const arrivals = (after: number) => nextArrival(index, after)
    const startedAt = random() * DEPLOY
    queue.at(arrivals(startedAt), () => {
      sendGenuine(fleet, process, arrivals, watchFrom)
    })
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
  const signer = endpoint.key()
  const count = (verdict: Verdict) => {
    if (verdict !== 'accepted') lost.set(signer, (lost.get(signer) ?? 0) + 1)
  }
  process.verify({ signer, arrived: () => now }, count)
  const isQuiet = process.trusts(signer) && (now < watchFrom || signer === NEW_KEY)
  const limit = now < watchFrom ? watchFrom : Infinity
  const next = isQuiet ? Math.max(now, Math.min(process.quietUntil(), limit)) : now
  queue.at(arrivals(next), () => {
    sendGenuine(fleet, process, arrivals, watchFrom)
  })
}

/** One arrival in each second. */
function nextArrival(index: number, after: number): number {
  let second = Math.floor(after)
  while (second + randomAt(SEED + index, second) <= after) second += 1
  return second + randomAt(SEED + index, second)
}

/** Sends forged tokens to every process, from one moment on: the worst case, since it brings the fleet into step. */
function flood({ queue, processes }: Fleet, from: number): void {
  for (const [index, process] of processes.entries()) {
    const phase = from + randomAt(SEED, index) * FLOOD_INTERVAL
    queue.at(phase, () => {
      sendForged(queue, process, phase)
    })
  }
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
    queue.at(phase + (ticks(after) + 1) * FLOOD_INTERVAL, () => {
      sendForged(queue, process, phase)
    })
  })
}

function runUndisturbed(size: number): { steady: number; deployPeak: number } {
  const { queue, endpoint } = deploy(size, Infinity)
  queue.runUntil(SETTLED + HOUR)
  return {
    steady: countBetween(endpoint.requests, SETTLED, SETTLED + HOUR) / HOUR,
    deployPeak: peakBetween(endpoint.requests, 0, 2 * DEPLOY),
  }
}

function runOutage(size: number): { rate: number; lost: number } {
  const { queue, endpoint, lost } = deploy(size, Infinity)
  queue.runUntil(SETTLED)
  endpoint.setDown(true)
  queue.runUntil(SETTLED + HOUR)
  const requests = countBetween(endpoint.requests, SETTLED, SETTLED + HOUR)
  return { rate: requests / HOUR, lost: lost.get(OLD_KEY) ?? 0 }
}

interface RotationResult {
  readonly peak: number
  readonly total: number
  readonly healed: string
  readonly lostNew: number
  readonly lostOld: number
}

function runRotation(size: number): RotationResult {
  const fleet = deploy(size, SETTLED)
  fleet.queue.runUntil(SETTLED)
  return rotate(fleet)
}

interface FloodResult {
  /** Requests of one process: in the first second, in the first minute, and in each minute after that. */
  readonly perProcess: readonly [number, number, number]
  readonly peak: number
  readonly rotation: RotationResult
}

function runFlood(size: number): FloodResult {
  const minutes = 5
  const from = SETTLED - minutes * 60
  const fleet = deploy(size, SETTLED)
  const { queue, endpoint } = fleet
  const requestsBetween = (start: number, end: number) =>
    countBetween(endpoint.requests, start, end) / size
  flood(fleet, from)
  queue.runUntil(SETTLED)
  const perProcess = [
    requestsBetween(from, from + 1),
    requestsBetween(from, from + 60),
    requestsBetween(from + 60, SETTLED) / (minutes - 1),
  ] as const
  const peak = peakBetween(endpoint.requests, from, SETTLED)
  awaitWorstMoment(fleet)
  return { perProcess, peak, rotation: rotate(fleet) }
}

/** Runs until the whole fleet, which the flood keeps in step, has just read the old key. */
function awaitWorstMoment({ queue, endpoint, processes }: Fleet): void {
  const awaited = endpoint.requests.length + processes.length
  while (endpoint.requests.length < awaited) queue.runUntil(queue.now() + 0.001)
  queue.runUntil(queue.now() + ROUND_TRIP / 2)
}

function rotate({ queue, endpoint, processes, lost, healing }: Fleet): RotationResult {
  const rotatedAt = queue.now()
  const until = rotatedAt + 60
  endpoint.rotate(NEW_KEY)
  queue.runUntil(until)
  const isHealed = healing.count === processes.length
  return {
    peak: peakBetween(endpoint.requests, rotatedAt, until),
    total: countBetween(endpoint.requests, rotatedAt, healing.last),
    healed: isHealed ? (healing.last - rotatedAt).toFixed(2) : 'never',
    lostNew: lost.get(NEW_KEY) ?? 0,
    lostOld: lost.get(OLD_KEY) ?? 0,
  }
}

console.log(`Seed ${SEED}. Round trip ${ROUND_TRIP * 1000} ms.\n`)
printTable(
  '',
  [
    ['Processes', ({ size }) => size, 0],
    ['Steady, requests/s', ({ calm }) => calm.steady, 4],
    ['Deploy, peak/s', ({ calm }) => calm.deployPeak, 0],
    [
      'Outage of 1 h, requests/s (each a minute)',
      ({ size, outage: { rate } }) => `${rate.toFixed(3)} (${((rate / size) * 60).toFixed(2)})`,
    ],
    ['Tokens lost in it', ({ outage }) => outage.lost, 0],
    ['Rotation, peak/s / total', ({ rotation }) => `${rotation.peak} / ${rotation.total}`],
    [
      'In a flood, peak/s / total',
      ({ flooded: { rotation } }) => `${rotation.peak} / ${rotation.total}`,
    ],
    [
      'Last healed after, s: calm / flood',
      ({ rotation, flooded }) => `${rotation.healed} / ${flooded.rotation.healed}`,
    ],
    [
      'Flood, requests of each: 1st second / 1st minute / a minute then',
      ({ flooded }) => flooded.perProcess.map((count) => count.toFixed(2)).join(' / '),
    ],
    ['Flood, peak/s', ({ flooded }) => flooded.peak, 0],
    [
      'New-key tokens refused: calm / flood',
      ({ rotation, flooded }) => `${rotation.lostNew} / ${flooded.rotation.lostNew}`,
    ],
    [
      'Old-key tokens refused before: calm / flood',
      ({ rotation, flooded }) => `${rotation.lostOld} / ${flooded.rotation.lostOld}`,
    ],
  ],
  FLEETS.map((size) => ({
    size,
    calm: runUndisturbed(size),
    outage: runOutage(size),
    rotation: runRotation(size),
    flooded: runFlood(size),
  })),
)
printRevocations(FLEETS, SEED)
printOthers(FLEETS, SEED)

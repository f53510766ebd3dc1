import { createEventQueue, type EventQueue } from './event-queue.ts'
import { seededRandom } from './random.ts'

// The readers of one stream of revocations, and the Redis that serves them one after the other, in virtual time. Seconds and
// octets. What a command costs is an assumption that the table states; sizes are those of RESP2 for an entry with values of
// usual length.

/** Between two comparisons, and the longest that a read waits: a quarter of `maxStaleness`, which is 10 by default. */
export const HEARTBEAT = 2.5
/** Entries that one command of the first reading asks for. */
const PAGE = 5000
/** One way. */
const NETWORK = 0.0005
/** Of the one thread of Redis, for a command. */
export const SERVICE = 0.000_005
/** Octets that it sends in a second. */
export const BANDWIDTH = 1_000_000_000
const DEPLOY = 10
const WATCHED = 30

/** An answer without news. */
const NOTHING = 5

/** What Redis has to do, or has had to do. */
interface Work {
  readonly commands: number
  /** That it sends. */
  readonly octets: number
}

/** What is compared at each heartbeat, in one transaction: the stream, what comes next, the entry that was read last. And the role. */
const COMPARISON: Work = { commands: 6, octets: 1000 }

/** An entry as a read brings it, with its identifier. */
const ENTRY_OCTETS =
  sizeOf(
    'v 1 type token iss https://auth.example.com jti b5a5b5f0-6d0f-4b5e-9d5c-7a2f1d1c1b1a exp 1732266000',
  ) + sizeOf('1732262400000-0')

/** As RESP2 writes a list of words. */
function sizeOf(words: string): number {
  const lengths = words.split(' ').map((word) => `$${word.length}\r\n${word}\r\n`.length)
  return `*${lengths.length}\r\n`.length + lengths.reduce((sum, each) => sum + each, 0)
}

export interface SimulatedRedis {
  readonly done: () => Work
  /** Runs a command, then the answer arrives. */
  run(work: Work, arrived: () => void): void
  /** Reads what came after a place in the stream: at once, or when it comes, or nothing after so many seconds. */
  read(place: number, block: number, arrived: (last: number) => void): void
  append(): void
}

export function createRedis(queue: EventQueue): SimulatedRedis {
  /** The last entry, and when its one thread is free. */
  let [commands, octets, last, freeAt] = [0, 0, 0, 0]
  const waiting = new Set<() => void>()

  function answer(work: Work, arrived: () => void): void {
    commands += work.commands
    octets += work.octets
    freeAt = Math.max(queue.now(), freeAt) + work.commands * SERVICE + work.octets / BANDWIDTH
    queue.at(freeAt + NETWORK, arrived)
  }

  return {
    done: () => ({ commands, octets }),
    run: (work, arrived) => queue.after(NETWORK, () => answer(work, arrived)),
    read(place, block, arrived) {
      const tell = () => {
        waiting.delete(tell)
        const found = last
        const size = NOTHING + (last - place) * ENTRY_OCTETS
        answer({ commands: 1, octets: size }, () => arrived(found))
      }
      queue.after(NETWORK, () => {
        if (last > place) {
          tell()
          return
        }
        waiting.add(tell)
        queue.after(block, () => {
          if (waiting.has(tell)) tell()
        })
      })
    },
    append() {
      last += 1
      for (const tell of waiting) tell()
    },
  }
}

/** One process that has read the stream: it follows it for ever. */
export function startReplica(
  queue: EventQueue,
  redis: SimulatedRedis,
  onEntry: (last: number) => void,
): void {
  let place = 0
  const readUntil = (end: number) => {
    redis.read(place, Math.max(0, end - queue.now()), (last) => {
      if (last > place) onEntry(last)
      place = last
      if (queue.now() < end) readUntil(end)
      else compare()
    })
  }
  function compare(): void {
    const end = queue.now() + HEARTBEAT
    redis.run(COMPARISON, () => readUntil(end))
  }
  compare()
}

/** A fleet that runs, first with nothing revoked, then with one revocation each second: what Redis does in a second. */
export function runReplicas(
  size: number,
  seed: number,
): { readonly quiet: Work; readonly busy: Work } {
  const [queue, random] = [createEventQueue(), seededRandom(seed)]
  const redis = createRedis(queue)
  for (let index = 0; index < size; index += 1)
    queue.at(random() * HEARTBEAT, () => startReplica(queue, redis, () => {}))
  const during = (): Work => {
    const before = redis.done()
    queue.runUntil(queue.now() + WATCHED)
    const { commands, octets } = redis.done()
    return {
      commands: (commands - before.commands) / WATCHED,
      octets: (octets - before.octets) / WATCHED,
    }
  }
  queue.runUntil(5)
  const quiet = during()
  for (let second = 0; second < WATCHED; second += 1)
    queue.after(second + random(), () => redis.append())
  return { quiet, busy: during() }
}

/** A fleet that starts within some seconds and reads the stream, a page at a time: what it reads, and when the last is ready. */
export function runDeploy(
  size: number,
  seed: number,
  entries: number,
): { readonly octets: number; readonly lastReady: number } {
  const [queue, random] = [createEventQueue(), seededRandom(seed)]
  const redis = createRedis(queue)
  let lastReady = 0
  const readAll = (left: number) => {
    redis.run({ commands: 1, octets: Math.min(left, PAGE) * ENTRY_OCTETS }, () => {
      if (left > PAGE) readAll(left - PAGE)
      else lastReady = queue.now()
    })
  }
  for (let index = 0; index < size; index += 1) queue.at(random() * DEPLOY, () => readAll(entries))
  queue.runUntil(Infinity)
  return { octets: redis.done().octets, lastReady }
}

/** What Redis sends to a fleet for one revocation: the entry, to each process. */
export function octetsOfOneRevocation(size: number): number {
  return size * (NOTHING + ENTRY_OCTETS)
}

import type { EventQueue } from './event-queue.ts'
import type { Random } from './random.ts'

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

/** An answer without news. */
const NOTHING = 5
/** What is compared at each heartbeat, in one transaction: the stream, what comes next, the entry that was read last. And the role. */
const COMPARISON = { commands: 6, octets: 1000 }

const ENTRY = [
  ['v', '1'],
  ['type', 'token'],
  ['iss', 'https://auth.example.com'],
  ['jti', 'b5a5b5f0-6d0f-4b5e-9d5c-7a2f1d1c1b1a'],
  ['exp', '1732266000'],
].flat()
/** An entry as a read brings it, with its identifier. */
const ENTRY_OCTETS = sizeOf(ENTRY) + sizeOf(['1732262400000-0'])

/** What Redis has had to do until now. */
interface RedisLoad {
  readonly commands: number
  /** That it has sent. */
  readonly octets: number
}

export interface SimulatedRedis {
  readonly load: () => RedisLoad
  /** Runs a command, then the answer arrives. */
  run(command: { commands: number; octets: number }, arrived: () => void): void
  /** Reads what came after a place in the stream: at once, or when it comes, or nothing after so many seconds. */
  read(place: number, block: number, arrived: (last: number) => void): void
  append(): void
}

export function createRedis(queue: EventQueue): SimulatedRedis {
  let commands = 0
  let octets = 0
  let last = 0
  /** When its one thread is free. */
  let freeAt = 0
  let waiting = new Set<() => void>()

  function answer(work: { commands: number; octets: number }, arrived: () => void): void {
    commands += work.commands
    octets += work.octets
    const begins = Math.max(queue.now(), freeAt)
    freeAt = begins + work.commands * SERVICE + work.octets / BANDWIDTH
    queue.at(freeAt + NETWORK, arrived)
  }

  return {
    load: () => ({ commands, octets }),
    run(work, arrived) {
      queue.at(queue.now() + NETWORK, () => {
        answer(work, arrived)
      })
    },
    read(place, block, arrived) {
      queue.at(queue.now() + NETWORK, () => {
        const tell = () => {
          waiting.delete(tell)
          const count = last - place
          const found = last
          answer({ commands: 1, octets: NOTHING + count * ENTRY_OCTETS }, () => {
            arrived(found)
          })
        }
        if (last > place) {
          tell()
          return
        }
        waiting.add(tell)
        queue.at(queue.now() + block, () => {
          if (waiting.has(tell)) tell()
        })
      })
    },
    append() {
      last += 1
      const woken = waiting
      waiting = new Set()
      for (const tell of woken) tell()
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
  const compare = () => {
    const end = queue.now() + HEARTBEAT
    redis.run(COMPARISON, () => {
      readUntil(end)
    })
  }
  const readUntil = (end: number) => {
    redis.read(place, Math.max(0, end - queue.now()), (last) => {
      if (last > place) onEntry(last)
      place = last
      if (queue.now() < end) readUntil(end)
      else compare()
    })
  }
  compare()
}

/** One process that starts: it reads the whole stream, a page at a time. */
function readAll(redis: SimulatedRedis, entries: number, ready: () => void): void {
  const count = Math.min(entries, PAGE)
  redis.run({ commands: 1, octets: count * ENTRY_OCTETS }, () => {
    if (entries > PAGE) readAll(redis, entries - PAGE, ready)
    else ready()
  })
}

export interface ReplicaFigures {
  /** In a second, with nothing revoked. */
  readonly quiet: RedisLoad
  /** In a second, with one revocation a second. */
  readonly busy: RedisLoad
  /** From a revocation to the last process that knows it, the longest of all. */
  readonly lastKnows: number
}

const WATCHED = 30

/** A fleet that runs, first with nothing revoked, then with one revocation each second. */
export function runReplicas(queue: EventQueue, random: Random, size: number): ReplicaFigures {
  const redis = createRedis(queue)
  const appendedAt: number[] = []
  let lastKnows = 0
  for (let index = 0; index < size; index++) {
    queue.at(random() * HEARTBEAT, () => {
      startReplica(queue, redis, (last) => {
        lastKnows = Math.max(lastKnows, queue.now() - (appendedAt[last - 1] ?? 0))
      })
    })
  }
  const during = (): RedisLoad => {
    const before = redis.load()
    queue.runUntil(queue.now() + WATCHED)
    const after = redis.load()
    return {
      commands: (after.commands - before.commands) / WATCHED,
      octets: (after.octets - before.octets) / WATCHED,
    }
  }
  queue.runUntil(5)
  const quiet = during()
  for (let second = 0; second < WATCHED; second++) {
    queue.at(queue.now() + second + random(), () => {
      appendedAt.push(queue.now())
      redis.append()
    })
  }
  return { quiet, busy: during(), lastKnows }
}

/** A fleet that starts within some seconds: what it reads, and when the last process has read it. */
export function runDeploy(
  queue: EventQueue,
  random: Random,
  { size, entries, within }: { size: number; entries: number; within: number },
): { readonly octets: number; readonly lastReady: number } {
  const redis = createRedis(queue)
  let lastReady = 0
  for (let index = 0; index < size; index++) {
    queue.at(random() * within, () => {
      readAll(redis, entries, () => {
        lastReady = queue.now()
      })
    })
  }
  queue.runUntil(Infinity)
  return { octets: redis.load().octets, lastReady }
}

/** What Redis sends to a fleet for one revocation: the entry, to each process. */
export function octetsOfOneRevocation(size: number): number {
  return size * (NOTHING + ENTRY_OCTETS)
}

/** As RESP2 writes a list of texts. */
function sizeOf(texts: readonly string[]): number {
  const lengths = texts.map((text) => `$${text.length}\r\n${text}\r\n`.length)
  return `*${texts.length}\r\n`.length + lengths.reduce((sum, each) => sum + each, 0)
}

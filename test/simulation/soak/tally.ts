import type { Measured } from './child.ts'
import type { Call, Judgement } from './oracle.ts'

// Counts what was judged, and says whether anything grew.

interface Counts {
  right: number
  outage: number
  wrong: number
  /** Of all of them: with nothing that could have excused a refusal. */
  strict: number
}

interface Sample extends Measured {
  /** Seconds since the start. */
  readonly at: number
}

export interface Tally {
  /** @param isStrict Whether nothing could have excused a refusal. */
  judged(worker: string, call: Call, judgement: Judgement, isStrict: boolean): void
  /** Something that is wrong and no answer of a worker. */
  fault(why: string, evidence?: unknown): void
  /** What is known of the fault before. */
  explained(what: string, evidence: unknown): void
  /** How much was wrong, however much of it is kept. */
  readonly wrong: number
  sampled(process: string, sample: Sample): void
  /** Other figures, for the report. */
  noted(title: string, figures: Readonly<Record<string, number>>): void
  readonly figures: Readonly<Record<string, Readonly<Record<string, number>>>>
  readonly counts: Readonly<Record<string, Counts>>
  readonly faults: readonly { readonly why: string; readonly evidence: unknown }[]
  /** By process, in the order of time. */
  readonly samples: ReadonlyMap<string, readonly Sample[]>
  /** How long accepted requests took. Milliseconds, of the newest million. */
  percentile(share: number): number
  /** For each process, by how much what it holds grew between the beginning and the end of the time in which it must not. */
  growth(from: number): readonly Growth[]
}

export interface Growth {
  readonly process: string
  /** Octets. */
  readonly heap: readonly [first: number, last: number]
  readonly resident: readonly [first: number, last: number]
  readonly handles: readonly [first: number, last: number]
  readonly listeners: readonly [first: number, last: number]
  readonly isFlat: boolean
}

const MAX_DURATIONS = 1_000_000
const MAX_FAULTS = 50
/** Heaps differ by what was just compiled, handles by the connections of that moment. */
const MORE_HEAP = 0.1
const MORE_OCTETS = 2 ** 20
const MORE_HANDLES = 10

export function createTally(): Tally {
  const counts: Record<string, Counts> = {}
  const faults: { why: string; evidence: unknown }[] = []
  const durations: number[] = []
  const samples = new Map<string, Sample[]>()
  const figures: Record<string, Readonly<Record<string, number>>> = {}

  let wrong = 0

  function explained(why: string, evidence: unknown): void {
    if (faults.length < MAX_FAULTS) faults.push({ why, evidence })
  }

  function fault(why: string, evidence?: unknown): void {
    wrong += 1
    explained(why, evidence)
  }

  return {
    get wrong() {
      return wrong
    },
    explained,
    counts,
    faults,
    figures,
    samples,
    fault,
    noted(title, some) {
      figures[title] = some
    },
    judged(worker, call, judgement, isStrict) {
      const count = (counts[call.kind] ??= { right: 0, outage: 0, wrong: 0, strict: 0 })
      if (isStrict) count.strict += 1
      count[judgement.verdict] += 1
      if (judgement.verdict === 'wrong') fault(`${worker}: ${judgement.why}`, call)
      if (call.status !== 200) return
      if (durations.length === MAX_DURATIONS) durations.shift()
      durations.push((call.answered - call.sent) * 1000)
    },
    sampled(process, sample) {
      samples.set(process, [...(samples.get(process) ?? []), sample])
    },
    percentile(share) {
      const sorted = durations.toSorted((one, other) => one - other)
      return sorted[Math.floor(sorted.length * share)] ?? 0
    },
    growth: (from) => [...samples].map(([process, all]) => growthOf(process, all, from)),
  }
}

function growthOf(process: string, all: readonly Sample[], from: number): Growth {
  const counted = all.filter(({ at }) => at >= from)
  const part = Math.max(1, Math.floor(counted.length / 5))
  const ends = (read: (sample: Sample) => number) =>
    [median(counted.slice(0, part).map(read)), median(counted.slice(-part).map(read))] as const
  const heap = ends((sample) => sample.heap)
  const handles = ends((sample) => sample.handles)
  const listeners = ends((sample) => sample.listeners)
  return {
    process,
    heap,
    resident: ends((sample) => sample.resident),
    handles,
    listeners,
    isFlat:
      heap[1] <= heap[0] * (1 + MORE_HEAP) + MORE_OCTETS &&
      handles[1] <= handles[0] + MORE_HANDLES &&
      listeners[1] <= listeners[0],
  }
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? 0
}

import { performance } from 'node:perf_hooks'

import { do_not_optimize as keep } from 'mitata'

// Rounds in turn, each in an order of its own, and medians over the rounds: so whatever else the machine does hits all
// alike, and so does what a task leaves behind (whoever runs next after the thread pool was busy takes up to a tenth
// longer). From mitata comes what keeps results from being optimised away; its own loops run one benchmark to its end
// before the next and know no CPU time, so they are not used.

/** What one verification takes, in microseconds. */
export interface Cost {
  readonly wall: number
  /** CPU time of all threads: the thread pool, the compiler and the garbage collector too. */
  readonly cpu: number
  readonly main: number
}

export interface Task {
  readonly name: string
  /** Prepares that many verifications, unmeasured, and answers what runs them all. */
  prepare(count: number): () => void | Promise<void>
}

export interface Plan {
  readonly rounds: number
  /** How long one task runs in one round, about. */
  readonly milliseconds: number
  /** How long it runs before the first. Milliseconds. */
  readonly warmUp: number
  /** Which is collected before each round, all of it unless told otherwise: that takes more than half of the time of a check. */
  readonly garbage?: 'minor'
}

/** The longest list of verifications that is prepared at once, and what every such list is a multiple of. */
const MAX_COUNT = 32_768
const BATCH = 64

/** The costs of each task, round by round. */
export async function measure(
  tasks: readonly Task[],
  plan: Plan,
): Promise<ReadonlyMap<Task, readonly Cost[]>> {
  const counts = new Map<Task, number>()
  for (const task of tasks) counts.set(task, await warmUp(task, plan))
  const costs = new Map(tasks.map((task): [Task, Cost[]] => [task, []]))
  for (let round = 0; round < plan.rounds; round += 1) {
    for (const task of shuffled(tasks)) {
      const cost = await runOnce(task, counts.get(task) ?? BATCH, plan)
      costs.get(task)?.push(cost)
    }
  }
  return costs
}

function shuffled(tasks: readonly Task[]): readonly Task[] {
  return tasks
    .map((task) => ({ task, at: Math.random() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ task }) => task)
}

/**
 * Runs a task until it is compiled, and answers how many verifications fill a round. By CPU time: a verification that
 * waits for a key endpoint says nothing about the others.
 */
async function warmUp(task: Task, plan: Plan): Promise<number> {
  const { milliseconds, warmUp: enough } = plan
  let count = BATCH
  for (let spent = 0; spent < enough * 1000;) {
    const { cpu } = await runOnce(task, count, plan)
    spent += cpu * count
    const fitting = Math.ceil((milliseconds * 1000) / cpu / BATCH) * BATCH
    // No more than twice the last one: the first verifications are no measure for the later ones.
    count = Math.min(MAX_COUNT, 2 * count, Math.max(BATCH, fitting))
  }
  return count
}

async function runOnce(task: Task, count: number, plan: Plan): Promise<Cost> {
  const run = task.prepare(count)
  globalThis.gc?.({ type: plan.garbage ?? 'major' })
  const mainBefore = mainThread.read()
  const cpuBefore = process.cpuUsage()
  const before = performance.now()
  const running = run()
  if (running !== undefined) await running
  const wall = (performance.now() - before) * 1000
  const { user, system } = process.cpuUsage(cpuBefore)
  const main = mainThread.read() - mainBefore
  return { wall: wall / count, cpu: (user + system) / count, main: main / count }
}

interface MainThreadClock {
  readonly name: string
  /** Otherwise it also runs while another process has the core. */
  readonly isCpuTime: boolean
  /** Microseconds. */
  read(): number
}

/** Node's own clock of the thread where there is one, else the time in which its event loop was not waiting. */
export const mainThread: MainThreadClock =
  typeof process.threadCpuUsage === 'function'
    ? {
        name: '`process.threadCpuUsage()`',
        isCpuTime: true,
        read() {
          const { user, system } = process.threadCpuUsage()
          return user + system
        },
      }
    : {
        name: '`performance.eventLoopUtilization()`, active time: this Node has no `process.threadCpuUsage()`',
        isCpuTime: false,
        read: () => performance.eventLoopUtilization().active * 1000,
      }

/** Checks one token. */
export type Verification = () => unknown

/** Checks them all, and that the verdicts are right. */
export type Run = (verifications: readonly Verification[]) => void | Promise<void>

export async function acceptEach(verifications: readonly Verification[]): Promise<void> {
  for (const verification of verifications) expectAccepted(await verification())
}

export function acceptEachSync(verifications: readonly Verification[]): void {
  for (const verification of verifications) expectAccepted(verification())
}

/** 64 at a time, each batch awaited before the next. */
export async function acceptAtOnce(verifications: readonly Verification[]): Promise<void> {
  for (let start = 0; start < verifications.length; start += BATCH) {
    const batch = verifications.slice(start, start + BATCH).map((verification) => verification())
    for (const result of await Promise.all(batch)) expectAccepted(result)
  }
}

export async function refuseEach(verifications: readonly Verification[]): Promise<void> {
  for (const verification of verifications) {
    try {
      expectRefused(await verification())
    } catch (error) {
      expectRefusal(error)
    }
  }
}

export function refuseEachSync(verifications: readonly Verification[]): void {
  for (const verification of verifications) {
    try {
      expectRefused(verification())
    } catch (error) {
      expectRefusal(error)
    }
  }
}

/** A wrong verdict makes every figure worthless. */
class WrongVerdict extends Error {}

function expectAccepted(result: unknown): void {
  keep(result)
  if (result === false) throw new WrongVerdict('a genuine token was refused')
}

function expectRefused(result: unknown): void {
  if (result !== false) throw new WrongVerdict('a bad token was accepted')
}

function expectRefusal(error: unknown): void {
  keep(error)
  if (error instanceof WrongVerdict) throw error
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = sorted.length / 2
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]]
  return low === undefined || high === undefined ? Number.NaN : (low + high) / 2
}

/** Of one part, the median of what the rounds say, each beside the same round of another subject. */
export function medianRatio<Round>(
  own: readonly Round[] | undefined,
  others: readonly Round[] | undefined,
  part: (round: Round) => number,
  basis: (round: Round) => number = part,
): number {
  return beside(own, others, (one, other) => part(one) / basis(other))
}

/** The median of what comes of each round and the same round of another subject. */
export function beside<Round>(
  own: readonly Round[] | undefined,
  others: readonly Round[] | undefined,
  compare: (one: Round, other: Round) => number,
): number {
  return median(
    (own ?? []).map((one, round) => {
      const other = others?.[round]
      return other === undefined ? Number.NaN : compare(one, other)
    }),
  )
}

/** What each says in each round, after one round that does not count: rounds of different subjects alternate. */
export async function inTurn<Subject, Round>(
  subjects: Iterable<Subject>,
  rounds: number,
  run: (subject: Subject) => Promise<Round> | Round,
  warmUps = 1,
): Promise<Map<Subject, Round[]>> {
  const seen = new Map([...subjects].map((subject): [Subject, Round[]] => [subject, []]))
  for (let round = -warmUps; round < rounds; round += 1) {
    for (const [subject, results] of seen) {
      const result = await run(subject)
      if (round >= 0) results.push(result)
    }
  }
  return seen
}

/** The value below which that share of all values is. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

import { performance } from 'node:perf_hooks'

import { do_not_optimize as keep } from 'mitata'

// Rounds in turn, each in an order of its own, so that whatever a task leaves behind hits all alike (whoever runs next after the
// thread pool was busy takes up to a tenth longer). The least of the rounds counts: whatever else the machine does only adds to
// them, and by medians two runs of the same code differed by a tenth and more. From mitata comes what keeps results from being
// optimised away; its own loops run one benchmark to its end before the next and know one clock, so they are not used.

/** What one verification takes, in microseconds. */
export interface Cost {
  readonly wall: number
  /** CPU time of all threads: the thread pool, the compiler and the garbage collector too. */
  readonly cpu: number
  readonly main: number
}

/** A way to verify a token. */
export interface Subject {
  readonly name: string
  /** Whether it answers at once: awaiting would then be a price of the bench. */
  readonly isSync: boolean
  /**
   * What checks this token: it throws or rejects, or answers `false`, if the token is refused. What is prepared before
   * is not measured; only the bare call prepares anything.
   */
  verification(token: string): () => unknown
}

/** Prepares that many verifications, unmeasured, and answers what runs them all. */
export type Task = (count: number) => () => void | Promise<void>

/** Of each subject, round by round. */
export type Costs<Key = Subject> = ReadonlyMap<Key, readonly Cost[]>

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

export async function measure<Key>(
  keys: readonly Key[],
  taskOf: (key: Key) => Task,
  plan: Plan,
): Promise<Costs<Key>> {
  const rounds = new Map<Key, Run>()
  for (const key of keys) rounds.set(key, await prepare(taskOf(key), plan))
  return await takeTurns(rounds, plan.rounds)
}

/** Measures a task once. */
export type Run = () => Promise<Cost>

/** Runs a task until it is compiled. */
export async function prepare(task: Task, plan: Plan): Promise<Run> {
  const count = await warmUp(task, plan)
  return () => runOnce(task, count, plan)
}

/** So many rounds of each, in an order of its own each time. */
export async function takeTurns<Key>(
  measured: ReadonlyMap<Key, Run>,
  rounds: number,
): Promise<Costs<Key>> {
  const costs = new Map([...measured.keys()].map((key): [Key, Cost[]] => [key, []]))
  for (let round = 0; round < rounds; round += 1) {
    const order = new Map([...measured.keys()].map((key) => [key, Math.random()]))
    for (const [key, run] of [...measured].toSorted(
      ([one], [other]) => (order.get(one) ?? 0) - (order.get(other) ?? 0),
    ))
      costs.get(key)?.push(await run())
  }
  return costs
}

/**
 * Runs a task until it is compiled, and answers how many verifications fill a round. By CPU time: a verification that
 * waits for a key endpoint says nothing about the others.
 */
async function warmUp(task: Task, plan: Plan): Promise<number> {
  let count = BATCH
  for (let spent = 0; spent < plan.warmUp * 1000;) {
    const { cpu } = await runOnce(task, count, plan)
    spent += cpu * count
    const fitting = Math.ceil((plan.milliseconds * 1000) / cpu / BATCH) * BATCH
    // No more than twice the last one: the first verifications are no measure for the later ones.
    count = Math.min(MAX_COUNT, 2 * count, Math.max(BATCH, fitting))
  }
  return count
}

async function runOnce(task: Task, count: number, plan: Plan): Promise<Cost> {
  const run = task(count)
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

/** Node's own clock of the thread where there is one, else the time in which its event loop was not waiting. Microseconds. */
export const mainThread: { readonly name: string; readonly isCpuTime: boolean; read(): number } =
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

/** The next so many tokens. */
export type Take = (count: number) => string[]

export const accepting = (take: Take) => (subject: Subject) => verifying(subject, take, true)
export const refusing = (take: Take) => (subject: Subject) => verifying(subject, take, false)

/** 64 at a time, each batch awaited before the next, where the subject can wait. */
export const acceptingAtOnce =
  (take: Take) =>
  (subject: Subject): Task =>
    subject.isSync
      ? verifying(subject, take, true)
      : (count) => {
          const verifications = take(count).map((token) => subject.verification(token))
          return async () => {
            for (let start = 0; start < count; start += BATCH) {
              const batch = verifications.slice(start, start + BATCH).map((verify) => verify())
              for (const result of await Promise.all(batch)) expectVerdict(result, true)
            }
          }
        }

function verifying(subject: Subject, take: Take, isGood: boolean): Task {
  return (count) => {
    const verifications = take(count).map((token) => subject.verification(token))
    if (subject.isSync)
      return () => {
        for (const verify of verifications) {
          let result: unknown = false
          try {
            result = verify()
          } catch (error) {
            keep(error)
          }
          expectVerdict(result, isGood)
        }
      }
    return async () => {
      for (const verify of verifications) {
        let result: unknown = false
        try {
          result = await verify()
        } catch (error) {
          keep(error)
        }
        expectVerdict(result, isGood)
      }
    }
  }
}

/** @throws Error for a wrong verdict, which makes every figure worthless. */
function expectVerdict(result: unknown, isGood: boolean): void {
  keep(result)
  if ((result !== false) !== isGood)
    throw new Error(isGood ? 'a genuine token was refused' : 'a bad token was accepted')
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = sorted.length / 2
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]]
  return low === undefined || high === undefined ? Number.NaN : (low + high) / 2
}

/** The value below which that share of all values is. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** The median of what comes of each round and the same round of another subject. */
export function beside<Round>(
  own: readonly Round[] | undefined,
  others: readonly Round[] | undefined,
  compare: (one: Round, other: Round) => number,
): number {
  const compared = (own ?? []).map((one, round) => {
    const other = others?.[round]
    return other === undefined ? Number.NaN : compare(one, other)
  })
  return median(compared)
}

/** Of a subject beside another, by time of one kind. */
export function ratioOf<Key>(
  costs: Costs<Key>,
  subject: Key,
  other: Key,
  part: keyof Cost = 'wall',
): number {
  return costOf(costs, subject, part) / costOf(costs, other, part)
}

/** Microseconds of one verification, in the round that others disturbed least; NaN of what was not measured. */
export function costOf<Key>(costs: Costs<Key>, subject: Key, part: keyof Cost = 'wall'): number {
  const rounds = costs.get(subject) ?? []
  return rounds.length === 0 ? Number.NaN : Math.min(...rounds.map((cost) => cost[part]))
}

/** What each says in each round: rounds of different subjects alternate. */
export async function inTurn<Key, Round>(
  keys: Iterable<Key>,
  rounds: number,
  run: (key: Key) => Promise<Round> | Round,
): Promise<Map<Key, Round[]>> {
  const seen = new Map([...keys].map((key): [Key, Round[]] => [key, []]))
  // One round more, which does not count.
  for (let round = 0; round <= rounds; round += 1)
    for (const [key, results] of seen) results[Math.max(0, round - 1)] = await run(key)
  return seen
}

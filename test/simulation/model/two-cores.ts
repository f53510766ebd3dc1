import { type CheckKind, createPlacement } from '../../../packages/core/src/token/placement.ts'

// A server on two cores, in virtual time: one has its main thread, the other its thread pool and whoever sends the requests. Each
// connection sends the next request when it has an answer, and all tokens are new. Only the placement is the one of core.

/** What things cost, in microseconds. */
export interface Machine {
  /** The request without its signature. */
  readonly request: number
  /** The signature, between two requests on the main thread. */
  readonly check: number
  /** To hand it over: what the main thread is busy with. */
  readonly handOver: number
  /** And when it comes back. */
  readonly back: number
  /** The signature on the thread pool. */
  readonly pool: number
  /** Of the other core, for whoever sends a request. */
  readonly sender: number
}

/** Where a signature is checked; what {@link Machine} says is told to whoever decides. */
export interface Rule {
  isForPool(kind: CheckKind): boolean
  hasChecked(kind: CheckKind, time: number, isProven: boolean): void
  hasHandedOver(kind: CheckKind, time: number): void
}

const learnNothing = { hasChecked: () => {}, hasHandedOver: () => {} }

export const RULES: Readonly<Record<string, () => Rule>> = {
  'the rule': createPlacement,
  'all on the main thread': () => ({ isForPool: () => false, ...learnNothing }),
  'all on the pool': () => ({ isForPool: () => true, ...learnNothing }),
}

const CONNECTIONS = 50

interface Arrival {
  readonly at: number
  readonly what: 'request' | 'checked'
}

export interface Server {
  /** Answers so many requests, and says how many that were in a virtual second. */
  answer(requests: number, machine: Machine): Promise<number>
}

/** @param kind By the table of algorithms: what a rule thinks of the signatures before it has seen any. */
export function createServer(rule: Rule, kind: CheckKind): Server {
  let time = 0
  let otherCore = 0
  /** How many are still to be answered. */
  let left = 0
  let arrivals: Arrival[] = Array.from({ length: CONNECTIONS }, () => ({ at: 0, what: 'request' }))

  /** The other core does one thing after the other. */
  function onOtherCore(duration: number, what: Arrival['what']): void {
    otherCore = Math.max(time, otherCore) + duration
    arrivals.push({ at: otherCore, what })
  }

  function answerOne({ sender }: Machine): void {
    left -= 1
    onOtherCore(sender, 'request')
  }

  function receive(what: Arrival['what'], machine: Machine): void {
    if (what === 'checked') {
      time += machine.back
      answerOne(machine)
      return
    }
    time += machine.request
    if (rule.isForPool(kind)) {
      time += machine.handOver
      rule.hasHandedOver(kind, machine.handOver)
      onOtherCore(machine.pool, 'checked')
    } else {
      time += machine.check
      rule.hasChecked(kind, machine.check, true)
      answerOne(machine)
    }
  }

  /** Whether more is to be answered. Each arrival is a callback of its own: the rule tells the first from the others. */
  async function iterate(machine: Machine): Promise<boolean> {
    time = Math.max(time, Math.min(...arrivals.map(({ at }) => at)))
    const due = arrivals.filter(({ at }) => at <= time)
    arrivals = arrivals.filter(({ at }) => at > time)
    for (const { what } of due) setImmediate(receive, what, machine)
    // Behind them, and behind the end of the iteration that the rule counts.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    return left > 0
  }

  return {
    async answer(requests, machine) {
      const start = time
      left = requests
      while (await iterate(machine));
      return (requests - left) / ((time - start) / 1e6)
    },
  }
}

import { ownMembers } from '../options.ts'
import { type Clock, type Instant, instant } from '../time.ts'
import type { Place } from '../waiting.ts'
import {
  beginFlight,
  ENDS_WITH_REQUEST,
  type Flight,
  flightOrPause,
  outcomeOf,
  TURN_PAUSE,
  type WaitUntil,
} from './flight.ts'
import { createQueue } from './queue.ts'
import { createRunning } from './running.ts'

// Calls that many share: one at a time for a name, as many at once as whoever is called can bear, and a queue for the others.

export type CallStep<Outcome> =
  | { readonly word: 'begin' }
  /** Every place is taken. `seconds`: until one is free without the end of a call, `Infinity` if none will be. */
  | { readonly word: 'full'; readonly seconds: number }
  | { readonly word: 'pause'; readonly seconds: number }
  /** It is not made: its outcome is known. */
  | { readonly word: 'end'; readonly outcome: Outcome }

export interface BegunCall {
  readonly startedAt: Instant
  /** Whether nobody has asked for it: it is made because others have failed. */
  readonly isProbe: boolean
  /** Of the request that has begun it. */
  readonly waitUntil: WaitUntil | undefined
}

export interface CallsOptions<Item, Result, Outcome> {
  readonly clock: Clock
  /** The longest that a call takes. Seconds. */
  readonly timeout: number
  /** Makes a call, which ends by itself. Never rejects. */
  readonly call: (item: Item, begun: BegunCall) => Promise<Result>
  /** What those get who wait for it. Is called once for each call, before any of them goes on, and not for one that was given up. */
  readonly settled: (item: Item, result: Result, begun: BegunCall, isProbing: boolean) => Outcome
  /** What whoever still waits gets of a call that was given up: another may have taken its place. */
  readonly givenUp: () => Outcome
  /** Whether one more begins now, beside those that run. */
  readonly step: (running: RunningCalls) => CallStep<Outcome>
  /** What to ask about beside the others before the next call begins, and while no such call runs: see `running.ts`. */
  readonly probe?: () => Item | undefined
  readonly endsWithRequest?: boolean | undefined
}

export interface RunningCalls {
  /** When each has begun, the oldest first, without the probe. Seconds of the monotonic clock. */
  readonly since: readonly number[]
  readonly isProbing: boolean
}

export interface Calls<Item, Outcome> {
  has(name: string): boolean
  /** The outcome of the one call for this name, for all who ask. Never rejects. If all have left before it began, it is not made. */
  ask(item: Item, place: Place, waitUntil?: WaitUntil): Promise<Outcome>
  /** Calls although nobody waits for the outcome, if a call may begin now. */
  renew(item: Item, waitUntil?: WaitUntil): void
}

interface Call<Item, Outcome> {
  readonly item: Item
  readonly isProbe: boolean
  readonly outcome: Promise<Outcome>
  readonly settle: (outcome: Outcome) => void
  waiting: number
  /** When it began. Seconds of the monotonic clock. */
  since: number
  flight: Flight<Outcome> | undefined
}

export function createCalls<Item extends { readonly name: string }, Result, Outcome>(
  options: CallsOptions<Item, Result, Outcome>,
): Calls<Item, Outcome> {
  // Some of them need not be there: none may come from a polluted prototype.
  const own = ownMembers(options)
  const { clock, timeout, endsWithRequest = ENDS_WITH_REQUEST } = own
  const running = createRunning<Call<Item, Outcome>>()
  /** There are no more of them than there are callers that wait. */
  const queue = createQueue<Call<Item, Outcome>>()
  let cancelTimer: (() => void) | undefined

  function find(name: string): Call<Item, Outcome> | undefined {
    return running.find(name) ?? queue.get(name)
  }

  function stepNow(): CallStep<Outcome> {
    const since = [...running.calls()].map(({ since: began }) => began)
    return own.step({ since, isProbing: running.isProbing() })
  }

  /** One that has ended with its request takes a place until somebody needs it. */
  function nextStep(): CallStep<Outcome> {
    const step = stepNow()
    return step.word === 'full' && running.dropOrphan() ? stepNow() : step
  }

  function stopTimer(): void {
    cancelTimer?.()
    cancelTimer = undefined
  }

  /** Begins as many calls as may begin now, and waits if time alone is what keeps the others. */
  function beginNext(): void {
    stopTimer()
    running.dropOverdue()
    beginProbe()
    for (let next = queue.next(); next !== undefined; next = queue.next()) {
      const step = nextStep()
      if (step.word === 'full' || step.word === 'pause') {
        if (step.seconds < Infinity) cancelTimer = clock.after(step.seconds, beginNext)
        return
      }
      queue.delete(next.item.name)
      if (step.word === 'end') next.settle(step.outcome)
      else begin(next)
    }
  }

  function begin(next: Call<Item, Outcome>, waitUntil?: WaitUntil): Flight<Outcome> {
    running.add(next)
    const work = async () => {
      void run(next, waitUntil)
      return await next.outcome
    }
    next.flight = beginFlight(work, { clock, timeout, waitUntil, endsWithRequest })
    return next.flight
  }

  function beginProbe(waitUntil?: WaitUntil): void {
    running.dropOrphanedProbe()
    const item = running.isProbing() ? undefined : own.probe?.()
    if (item !== undefined && find(item.name) === undefined)
      begin(createCall(item, true), waitUntil)
  }

  async function run(call: Call<Item, Outcome>, waitUntil: WaitUntil | undefined): Promise<void> {
    const { item, isProbe } = call
    const begun: BegunCall = { startedAt: instant(clock), isProbe, waitUntil }
    call.since = begun.startedAt.monotonic
    const result = await own.call(item, begun)
    const isCurrent = running.end(call)
    call.settle(isCurrent ? own.settled(item, result, begun, running.isProbing()) : own.givenUp())
    // Nobody waits in the queue there: see `outcomeOf`.
    if (!endsWithRequest) beginNext()
  }

  function ownFlightOrPause(item: Item, waitUntil: WaitUntil | undefined) {
    running.dropOverdue()
    const found = running.find(item.name)
    return flightOrPause(found?.flight, clock, () => {
      if (found !== undefined) running.end(found)
      beginProbe(waitUntil)
      // The probe may be for this very name.
      const probe = running.find(item.name)?.flight
      if (probe !== undefined) return probe
      const step = nextStep()
      if (step.word === 'begin') return begin(createCall(item), waitUntil)
      if (step.word !== 'end') return TURN_PAUSE
      return beginFlight(async () => step.outcome, { clock, timeout, waitUntil: undefined })
    })
  }

  return {
    has: (name) => find(name) !== undefined,
    renew(item, waitUntil) {
      running.dropOverdue()
      if (find(item.name) !== undefined) return
      beginProbe(waitUntil)
      // Those who wait come first.
      if (!endsWithRequest) beginNext()
      if (find(item.name) !== undefined || nextStep().word !== 'begin') return
      begin(createCall(item), waitUntil)
    },
    async ask(item, place, waitUntil) {
      if (endsWithRequest) {
        const next = () => ownFlightOrPause(item, waitUntil)
        return (await outcomeOf(next, clock, place)) ?? own.givenUp()
      }
      running.dropOverdue()
      let found = find(item.name)
      if (found === undefined) {
        found = createCall(item)
        queue.add(item.name, found)
      } else queue.repeat(item.name)
      const call = found
      call.waiting++
      place.whenLeft(() => {
        call.waiting--
        if (call.waiting > 0 || queue.get(item.name) !== call) return
        queue.delete(item.name)
        if (queue.next() === undefined) stopTimer()
      })
      beginNext()
      return await call.outcome
    },
  }
}

function createCall<Item, Outcome>(item: Item, isProbe = false): Call<Item, Outcome> {
  let resolve: ((outcome: Outcome) => void) | undefined
  const outcome = new Promise<Outcome>((each) => {
    resolve = each
  })
  const settle = (each: Outcome) => resolve?.(each)
  return { item, isProbe, outcome, settle, waiting: 0, since: Infinity, flight: undefined }
}

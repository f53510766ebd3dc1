import { nextPoll } from '../../packages/events/src/polling.ts'
import {
  answerState,
  type Failure,
  renewalAge,
} from '../../packages/introspection/src/decisions.ts'
import * as pace from '../../packages/introspection/src/pace.ts'
import { createEventQueue, type EventQueue } from './event-queue.ts'
import { type Random, seededRandom } from './random.ts'
import {
  countBetween,
  createEndpoint,
  peakBetween,
  type SimulatedEndpoint,
} from './simulated-endpoint.ts'

// Fleets that ask an introspection endpoint, or poll a transmitter: the words of `decisions.ts` and `pace.ts` of introspection, carried
// out with events as `calls.ts` carries them out with promises, and of `polling.ts` of events. Not simulated: deadlines (no answer
// takes longer than a round trip), and bounds of memory and of who waits.

/** The defaults of `introspected`, and of `pollEvents`. Seconds. */
const AGE = { maxAge: 30, staleIfError: 0 }
const KNOWN: pace.CallLimits = { maxCalls: 128, maxRate: Infinity }
const UNKNOWN: pace.CallLimits = { maxCalls: 16, maxRate: 100 }
const INTERVAL = 5

/** Different tokens that come to each process, each of them once a second. */
export const TOKENS = 10
const DEPLOY = 10
const SETTLED = 120
const WATCHED = 300

const REFUSED: Failure = {
  reason: 'unreachable',
  detail: 'refused',
  concerns: 'endpoint',
  retryAfter: undefined,
}

/** What one process does from a moment on. */
type Start = (queue: EventQueue, endpoint: SimulatedEndpoint, random: Random, from: number) => void

/** Settles with when the answered call was begun. */
type Settle = (askedAt: number | undefined) => void

function createCalls(
  queue: EventQueue,
  endpoint: SimulatedEndpoint,
  random: Random,
  limits: pace.CallLimits,
): { ask(settle: Settle): void; pauseEnd(): number } {
  let state = pace.initialCalls(limits, queue.now())
  let underWay = 0
  const waiting: Settle[] = []

  function beginNext(): void {
    for (let [next] = waiting; next !== undefined; [next] = waiting) {
      const step = pace.callStep(state, { taken: underWay, isProbing: false }, queue.now(), limits)
      if (step === 'pause') queue.after(pace.untilRate(state, queue.now(), limits), beginNext)
      if (step === 'join' || step === 'pause') return
      waiting.shift()
      if (step === 'fail') next(undefined)
      else run(next)
    }
  }

  function run(settle: Settle): void {
    const startedAt = queue.now()
    const { answers } = state
    state = pace.afterBegin(state, startedAt, limits)
    underWay += 1
    endpoint.get((answer) => {
      underWay -= 1
      const settledAt = queue.now()
      const failed = { name: '', startedAt, settledAt, isProbe: false, answers }
      state =
        answer === undefined
          ? pace.afterFailure(state, failed, REFUSED, true, random())
          : pace.afterAnswer(state, settledAt)
      settle(answer === undefined ? undefined : startedAt)
      beginNext()
    })
  }

  return {
    ask(settle) {
      waiting.push(settle)
      beginNext()
    },
    pauseEnd: () => state.pauseEnd,
  }
}

export const introspect: Start = (queue, endpoint, random, from) => {
  queue.at(from, () => {
    const known = createCalls(queue, endpoint, random, KNOWN)
    const unknown = createCalls(queue, endpoint, random, UNKNOWN)
    for (let token = 0; token < TOKENS; token += 1) {
      const phase = from + random()
      let hasAnswer = false
      const present = () => {
        const calls = hasAnswer ? known : unknown
        calls.ask((asked) => {
          hasAnswer ||= asked !== undefined
          // What comes before then is answered without a call: it is held, or refused in a pause.
          const quiet = asked === undefined ? calls.pauseEnd() : dueAt(asked, random())
          // When it comes for the first time after that.
          const next = Math.max(quiet, queue.now() + 1e-9)
          queue.at(phase + Math.max(0, Math.ceil(next - phase)), present)
        })
      }
      queue.at(phase, present)
    }
  })
}

function dueAt(asked: number, random: number): number {
  const renewAt = renewalAge(AGE, random)
  const due = asked + renewAt + 1e-9
  const askedAt = { wall: asked, monotonic: asked }
  const then = { wall: due, monotonic: due }
  // The policy decides; this holds the simulation to it.
  if (answerState({ askedAt, exp: undefined, renewAt }, then, AGE) !== 'due')
    throw new Error('an answer is renewed at another moment than the simulation assumes')
  return due
}

/** Of a transmitter that has no event and answers at once: the most requests that there can be. */
export const poll: Start = (queue, transmitter, random, from) => {
  let failures = 0
  const ask = () => {
    const startedAt = queue.now()
    transmitter.get((answer) => {
      failures = answer === undefined ? failures + 1 : 0
      const times = { startedAt, settledAt: queue.now(), failures, retryAfter: 0 }
      const outcome = answer === undefined ? 'failure' : 'nothing'
      queue.at(nextPoll(outcome, times, INTERVAL, random()), ask)
    })
  }
  queue.at(from, ask)
}

/** A fleet starts within some seconds, works, and then the endpoint is down. In a second, and the most in one. */
export function runAsking(size: number, seed: number, start: Start) {
  const random = seededRandom(seed)
  const queue = createEventQueue()
  const endpoint = createEndpoint(queue, true as const)
  for (let index = 0; index < size; index += 1) start(queue, endpoint, random, random() * DEPLOY)
  const calm = SETTLED + WATCHED
  queue.runUntil(calm)
  endpoint.setDown(true)
  // The first minute is that of answers that are still held.
  const from = calm + 60
  queue.runUntil(from + WATCHED)
  return {
    steady: countBetween(endpoint.requests, SETTLED, calm) / WATCHED,
    deployPeak: peakBetween(endpoint.requests, 0, 2 * DEPLOY),
    outage: countBetween(endpoint.requests, from, from + WATCHED) / WATCHED,
  }
}

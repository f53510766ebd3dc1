import {
  answerState,
  type Failure,
  renewalAge,
} from '../../packages/introspection/src/decisions.ts'
import {
  afterAnswer,
  afterBegin,
  afterFailure,
  callStep,
  initialCalls,
  type CallLimits,
  type CallsState,
  untilRate,
} from '../../packages/introspection/src/pace.ts'
import type { EventQueue } from './event-queue.ts'
import type { Random } from './random.ts'

// One process that takes opaque tokens: the words of `decisions.ts` of introspection, carried out with events as `calls.ts` carries them
// out with promises. Not simulated: deadlines (no answer takes longer than a round trip), and bounds of memory and of who waits.

/** The defaults of `introspected`. */
const AGE = { maxAge: 30, staleIfError: 0 }
const KNOWN: CallLimits = { maxCalls: 128, maxRate: Infinity }
const UNKNOWN: CallLimits = { maxCalls: 16, maxRate: 100 }

const REFUSED: Failure = {
  reason: 'unreachable',
  detail: 'refused',
  concerns: 'endpoint',
  retryAfter: undefined,
}

/** An introspection endpoint, as a fleet sees it: it answers after a round trip, that each token is active, or with a failure. */
export interface SimulatedIntrospection {
  call(settle: (isAnswered: boolean) => void): void
  /** When its requests came, in order. */
  readonly requests: readonly number[]
  setDown(isDown: boolean): void
}

export function createIntrospection(queue: EventQueue, roundTrip: number): SimulatedIntrospection {
  const requests: number[] = []
  let isDown = false
  return {
    requests,
    call(settle) {
      requests.push(queue.now())
      const isAnswered = !isDown
      queue.at(queue.now() + roundTrip, () => {
        settle(isAnswered)
      })
    },
    setDown(down) {
      isDown = down
    },
  }
}

/** @returns A function that asks about a token: `settle` is told whether there was an answer. */
function createCalls(
  queue: EventQueue,
  endpoint: SimulatedIntrospection,
  random: Random,
  limits: CallLimits,
): { ask(settle: (askedAt: number | undefined) => void): void; pauseEnd(): number } {
  let state: CallsState = initialCalls(limits, queue.now())
  let underWay = 0
  let waiting: ((askedAt: number | undefined) => void)[] = []

  function beginNext(): void {
    for (let [next] = waiting; next !== undefined; [next] = waiting) {
      const step = callStep(state, { taken: underWay, isProbing: false }, queue.now(), limits)
      if (step === 'join') return
      if (step === 'pause') {
        queue.at(queue.now() + untilRate(state, queue.now(), limits), beginNext)
        return
      }
      waiting = waiting.slice(1)
      if (step === 'fail') next(undefined)
      else run(next)
    }
  }

  function run(settle: (askedAt: number | undefined) => void): void {
    const startedAt = queue.now()
    const { answers } = state
    state = afterBegin(state, startedAt, limits)
    underWay += 1
    endpoint.call((isAnswered) => {
      underWay -= 1
      const settledAt = queue.now()
      const failed = { name: '', startedAt, settledAt, isProbe: false, answers }
      state = isAnswered
        ? afterAnswer(state, settledAt)
        : afterFailure(state, failed, REFUSED, true, random())
      settle(isAnswered ? startedAt : undefined)
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

/**
 * Starts a process to which each of its tokens comes once a second.
 *
 * @param from When the first requests come.
 */
export function startIntrospecting(
  queue: EventQueue,
  endpoint: SimulatedIntrospection,
  random: Random,
  { tokens, from }: { readonly tokens: number; readonly from: number },
): void {
  queue.at(from, () => {
    const known = createCalls(queue, endpoint, random, KNOWN)
    const unknown = createCalls(queue, endpoint, random, UNKNOWN)
    for (let token = 0; token < tokens; token += 1) {
      const phase = from + random()
      /** When it comes for the first time at or after a moment. */
      const arrival = (time: number) => phase + Math.max(0, Math.ceil(time - phase))
      let askedAt: number | undefined
      const present = () => {
        const calls = askedAt === undefined ? unknown : known
        calls.ask((asked) => {
          askedAt = asked ?? askedAt
          // What comes before then is answered without a call: it is held, or refused in a pause.
          const quiet = asked === undefined ? calls.pauseEnd() : dueAt(asked, random())
          queue.at(arrival(Math.max(quiet, queue.now() + 1e-9)), present)
        })
      }
      queue.at(phase, present)
    }
  })
}

function dueAt(asked: number, random: number): number {
  const renewAt = renewalAge(AGE, random)
  const askedAt = { wall: asked, monotonic: asked }
  const due = asked + renewAt + 1e-9
  const state = answerState(
    { askedAt, exp: undefined, renewAt },
    { wall: due, monotonic: due },
    AGE,
  )
  // The policy decides; this holds the simulation to it.
  if (state !== 'due')
    throw new Error('an answer is renewed at another moment than the simulation assumes')
  return due
}

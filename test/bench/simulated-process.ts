import type { Instant } from '@portcullis/kit/time'

import {
  afterFailure,
  afterHelp,
  afterQuestion,
  afterSuccess,
  type CacheState,
  INITIAL_STATE,
} from '../../packages/core/src/keys/cache-state.ts'
import type { KeyRing, VerificationKey } from '../../packages/core/src/keys/key-source.ts'
import { lifetime } from '../../packages/core/src/keys/lifetime.ts'
import type { Trigger } from '../../packages/core/src/keys/pace.ts'
import { retiredKeys } from '../../packages/core/src/keys/ring.ts'
import {
  type AttemptStep,
  callerStep,
  questionStep,
  retiredKeyStep,
  ringEnd,
  type RotationPolicy,
  suspicionStep,
  unprovenTokenStep,
  untilNextAttempt,
  usableRing,
  waitingCallerStep,
} from '../../packages/core/src/keys/rotation.ts'
import type { EventQueue } from './event-queue.ts'
import type { Random } from './random.ts'
import type { SimulatedEndpoint } from './simulated-endpoint.ts'

// One process: the words of `rotation.ts`, carried out with events as `key-cache.ts` carries them out with promises. Not
// simulated, because nothing here reaches them: the deadline of an attempt and of a wait (5 s; no answer takes longer than
// a round trip, no wait longer than a pause and two round trips), the limit of the waiting room, and tokens that ask again
// (every token here is a new one that could be accepted).

/** The defaults of `remoteKeys`. */
const OPTIONS = {
  maxAge: undefined,
  staleWhileRevalidate: 300,
  staleIfError: 3600,
  overlap: 0,
  timeout: 5,
}

interface SimulatedToken {
  /** The key that made the signature; none of ours made a forged one. */
  readonly signer: VerificationKey | undefined
  /** When it came. */
  arrived(): number
}

export type Verdict = 'accepted' | 'refused' | 'unavailable'

export interface SimulatedProcess {
  verify(token: SimulatedToken, settle: (verdict: Verdict) => void): void
  trusts(key: VerificationKey): boolean
  /** Until when a token of a trusted key is accepted without any effect. Now, if there is no saying. */
  quietUntil(): number
  /** Until when a forged token is refused without any effect, but for the last second before that. */
  nextSuspicion(): number
}

/** @param onRing Called when an attempt brought keys. */
export function createProcess(
  queue: EventQueue,
  endpoint: SimulatedEndpoint,
  random: Random,
  onRing: (keys: readonly VerificationKey[]) => void,
): SimulatedProcess {
  const policy: RotationPolicy = { ...OPTIONS, spread: random() }
  let state: CacheState = INITIAL_STATE
  /** Who goes on when the attempt under way has settled. */
  let flight: (() => void)[] | undefined

  function now(): Instant {
    return { wall: queue.now(), monotonic: queue.now() }
  }

  function start(trigger: Trigger): (() => void)[] {
    const startedAt = now()
    const waiting: (() => void)[] = []
    flight = waiting
    endpoint.get((keys) => {
      flight = undefined
      const attempt = { trigger, startedAt, settledAt: now() }
      const jitter = random()
      state =
        keys === undefined
          ? afterFailure(state, attempt, UNREACHABLE, { spread: policy.spread, random: jitter })
          : afterSuccess(state, attempt, documentOf(keys, policy), {
              ringEnd: ringEnd(state, startedAt, policy),
              overlap: policy.overlap,
              spread: policy.spread,
            })
      if (keys !== undefined) onRing(keys)
      for (const goOn of waiting) goOn()
    })
    return waiting
  }

  function carryOut(step: AttemptStep, trigger: Trigger, goOn: () => void): void {
    if (step === 'pause') {
      queue.at(queue.now() + untilNextAttempt(state, trigger, now(), policy), goOn)
    } else {
      const waiting = step === 'join' ? flight : start(trigger)
      waiting?.push(goOn)
    }
  }

  /** As `current` and `wait` of the cache. */
  function withRing(use: (ring: KeyRing | undefined) => void): void {
    const step = callerStep(state, now(), policy, flight !== undefined)
    if (step === 'use and refresh') start('age')
    if (step === 'wait') waitForRing(state, use)
    else use(usableRing(state, now(), policy, now()))
  }

  function waitForRing(before: CacheState, use: (ring: KeyRing | undefined) => void): void {
    const hasSettled = state.last !== before.last
    const step = waitingCallerStep(state, now(), policy, flight !== undefined, hasSettled)
    if (step === 'unavailable') use(undefined)
    else if (step === 'use') use(usableRing(state, now(), policy, now()))
    else {
      carryOut(step, 'age', () => {
        waitForRing(before, use)
      })
    }
  }

  function verify(token: SimulatedToken, settle: (verdict: Verdict) => void): void {
    withRing((ring) => {
      if (ring === undefined) settle('unavailable')
      else if (proves(ring.keys, token)) settle('accepted')
      else suspect(token, ring, settle)
    })
  }

  /** As `suspect` of the cache. */
  function suspect(token: SimulatedToken, ring: KeyRing, settle: (verdict: Verdict) => void): void {
    const step = suspicionStep(state, now(), policy, flight !== undefined)
    const { signer } = token
    const retired = retiredKeys(state.ring, state.retired, now(), policy).find(
      ({ key }) => key === signer,
    )
    // Tokens of a key that left are old here: they were issued before.
    const mayAsk =
      retired === undefined || retiredKeyStep(retired, state, now(), () => false) !== 'refuse'
    if (step === 'refuse' || !mayAsk) settle('refused')
    else ask({ token, retired: retired?.key }, ring.keys, settle)
  }

  function ask(
    question: { readonly token: SimulatedToken; readonly retired: VerificationKey | undefined },
    tried: readonly VerificationKey[],
    settle: (verdict: Verdict) => void,
  ): void {
    const { token, retired } = question
    const since = { wall: token.arrived(), monotonic: token.arrived() }
    const newer = usableRing(state, now(), policy, since)?.keys ?? tried
    if (newer !== tried && proves(newer, token)) {
      state = afterHelp(state)
      settle('accepted')
      return
    }
    const step = questionStep(state, 'suspicion', now(), policy, flight !== undefined, since)
    if (step === 'answered' || step === 'refrain') {
      const word = unprovenTokenStep(state)
      const isAnswer = step === 'answered' && word === 'refuse'
      if (isAnswer && retired !== undefined) state = afterQuestion(state, retired)
      settle(word === 'refuse' ? 'refused' : 'unavailable')
    } else {
      carryOut(step, 'suspicion', () => {
        ask(question, newer, settle)
      })
    }
  }

  function quietUntil(): number {
    const { ring } = state
    if (ring === undefined) return queue.now()
    const dueAt = ring.fetchedAt.monotonic + ring.maxAge
    const emptyAt = dueAt + policy.staleIfError
    return Math.min(emptyAt, Math.max(dueAt, nextAttempt('age')))
  }

  function nextAttempt(trigger: Trigger): number {
    return queue.now() + untilNextAttempt(state, trigger, now(), policy)
  }

  return {
    verify,
    trusts: (key) => usableRing(state, now(), policy, now())?.keys.includes(key) ?? false,
    quietUntil,
    nextSuspicion: () => nextAttempt('suspicion'),
  }
}

const UNREACHABLE = { failure: 'unreachable', detail: 'refused', retryAfter: undefined } as const

function documentOf(keys: readonly VerificationKey[], policy: RotationPolicy) {
  return {
    keys,
    bare: true,
    skipped: { count: 0, entries: [] },
    maxAge: lifetime(undefined, policy),
    freshnessLifetime: undefined,
  }
}

function proves(keys: readonly VerificationKey[], { signer }: SimulatedToken): boolean {
  return signer !== undefined && keys.includes(signer)
}

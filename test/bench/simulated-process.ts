import { createSecretKey } from 'node:crypto'

import type { Instant } from '@portcullis/kit/time'

import * as states from '../../packages/core/src/keys/cache-state.ts'
import type { KeyRing, VerificationKey } from '../../packages/core/src/keys/key-source.ts'
import { lifetime } from '../../packages/core/src/keys/lifetime.ts'
import type { Trigger } from '../../packages/core/src/keys/pace.ts'
import { retiredKeys } from '../../packages/core/src/keys/ring.ts'
import * as rotation from '../../packages/core/src/keys/rotation.ts'
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
const UNREACHABLE = { failure: 'unreachable', detail: 'refused', retryAfter: undefined } as const

interface SimulatedToken {
  /** The key that made the signature; none of ours made a forged one. */
  readonly signer: VerificationKey | undefined
  /** When it came. */
  arrived(): number
}

export type Verdict = 'accepted' | 'refused' | 'unavailable'
type Settle = (verdict: Verdict) => void

export interface SimulatedProcess {
  verify(token: SimulatedToken, settle: Settle): void
  trusts(key: VerificationKey): boolean
  /** Until when a token of a trusted key is accepted without any effect. Now, if there is no saying. */
  quietUntil(): number
  /** Until when a forged token is refused without any effect, but for the last second before that. */
  nextSuspicion(): number
}

/** A key that is compared, and never used. */
export function createKey(thumbprint: string): VerificationKey {
  const input = { key: createSecretKey(Buffer.from(thumbprint)) }
  const prepared = { hash: null, input, jwkInput: undefined, signatureLength: 256 }
  return {
    thumbprint,
    kid: undefined,
    issuer: undefined,
    use: 'sig',
    publicJwk: { e: 'AQAB', kty: 'RSA', n: thumbprint },
    stated: undefined,
    prepared: new Map([['RS512', prepared]]),
  }
}

/** @param onRing Called when an attempt brought keys. */
export function createProcess(
  queue: EventQueue,
  endpoint: SimulatedEndpoint<VerificationKey>,
  random: Random,
  onRing: (key: VerificationKey) => void,
): SimulatedProcess {
  const policy: rotation.RotationPolicy = { ...OPTIONS, spread: random() }
  let state: states.CacheState = states.INITIAL_STATE
  /** Who goes on when the attempt under way has settled. */
  let flight: (() => void)[] | undefined

  const now = () => instantOf(queue.now())
  const ringSince = (since = now()) => rotation.usableRing(state, now(), policy, since)
  const isFlying = () => flight !== undefined
  const nextAttempt = (trigger: Trigger) =>
    queue.now() + rotation.untilNextAttempt(state, trigger, now(), policy)

  function start(trigger: Trigger): (() => void)[] {
    const startedAt = now()
    const waiting: (() => void)[] = []
    flight = waiting
    endpoint.get((key) => {
      flight = undefined
      const attempt = { trigger, startedAt, settledAt: now() }
      const { overlap, spread } = policy
      const jitter = random()
      state =
        key === undefined
          ? states.afterFailure(state, attempt, UNREACHABLE, { spread, random: jitter })
          : states.afterSuccess(state, attempt, documentOf(key, policy), {
              ringEnd: rotation.ringEnd(state, startedAt, policy),
              overlap,
              spread,
            })
      if (key !== undefined) onRing(key)
      for (const goOn of waiting) goOn()
    })
    return waiting
  }

  function carryOut(step: rotation.AttemptStep, trigger: Trigger, goOn: () => void): void {
    if (step === 'pause') queue.at(nextAttempt(trigger), goOn)
    else (step === 'join' ? flight : start(trigger))?.push(goOn)
  }

  /** As `wait` of the cache. */
  function waitForRing(before: states.CacheState, use: (ring: KeyRing | undefined) => void): void {
    const hasSettled = state.last !== before.last
    const step = rotation.waitingCallerStep(state, now(), policy, isFlying(), hasSettled)
    if (step === 'unavailable') use(undefined)
    else if (step === 'use') use(ringSince())
    else carryOut(step, 'age', () => waitForRing(before, use))
  }

  /** As `suspect` of the cache. */
  function suspect(token: SimulatedToken, ring: KeyRing, settle: Settle): void {
    const step = rotation.suspicionStep(state, now(), policy, isFlying())
    const { signer } = token
    const retired = retiredKeys(state.ring, state.retired, now(), policy).find(
      ({ key }) => key === signer,
    )
    // Tokens of a key that left are old here: they were issued before.
    const mayAsk =
      retired === undefined ||
      rotation.retiredKeyStep(retired, state, now(), () => false) !== 'refuse'
    if (step === 'refuse' || !mayAsk) settle('refused')
    else ask(token, retired?.key, ring.keys, settle)
  }

  function ask(
    token: SimulatedToken,
    retired: VerificationKey | undefined,
    tried: readonly VerificationKey[],
    settle: Settle,
  ): void {
    const since = instantOf(token.arrived())
    const newer = ringSince(since)?.keys ?? tried
    if (newer !== tried && proves(newer, token)) {
      state = states.afterHelp(state)
      settle('accepted')
      return
    }
    const step = rotation.questionStep(state, 'suspicion', now(), policy, isFlying(), since)
    if (step === 'answered' || step === 'refrain') {
      const word = rotation.unprovenTokenStep(state)
      const isAnswer = step === 'answered' && word === 'refuse'
      if (isAnswer && retired !== undefined) state = states.afterQuestion(state, retired)
      settle(word === 'refuse' ? 'refused' : 'unavailable')
    } else carryOut(step, 'suspicion', () => ask(token, retired, newer, settle))
  }

  return {
    verify(token, settle) {
      const use = (ring: KeyRing | undefined) => {
        if (ring === undefined) settle('unavailable')
        else if (proves(ring.keys, token)) settle('accepted')
        else suspect(token, ring, settle)
      }
      // As `current` of the cache.
      const step = rotation.callerStep(state, now(), policy, isFlying())
      if (step === 'use and refresh') start('age')
      if (step === 'wait') waitForRing(state, use)
      else use(ringSince())
    },
    trusts: (key) => ringSince()?.keys.includes(key) ?? false,
    quietUntil() {
      const { ring } = state
      if (ring === undefined) return queue.now()
      const dueAt = ring.fetchedAt.monotonic + ring.maxAge
      return Math.min(dueAt + policy.staleIfError, Math.max(dueAt, nextAttempt('age')))
    },
    nextSuspicion: () => nextAttempt('suspicion'),
  }
}

function instantOf(time: number): Instant {
  return { wall: time, monotonic: time }
}

function documentOf(key: VerificationKey, policy: rotation.RotationPolicy) {
  return {
    keys: [key],
    bare: true,
    skipped: { count: 0, entries: [] },
    maxAge: lifetime(undefined, policy),
    freshnessLifetime: undefined,
  }
}

function proves(keys: readonly VerificationKey[], { signer }: SimulatedToken): boolean {
  return signer !== undefined && keys.includes(signer)
}

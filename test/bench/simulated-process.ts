import type { VerificationKey } from '../../packages/core/src/keys/key-source.ts'
import {
  afterFailure,
  afterHelp,
  afterSuccess,
  type CacheState,
  expiredRing,
  type FetchedRing,
  freshness,
  INITIAL_STATE,
  lifetime,
  nextAttempt,
  type RotationPolicy,
  type Trigger,
  turn,
  unprovenToken,
} from '../../packages/core/src/keys/rotation.ts'
import type { Instant } from '../../packages/core/src/time.ts'
import type { EventQueue } from './event-queue.ts'
import type { Random } from './random.ts'
import type { SimulatedEndpoint } from './simulated-endpoint.ts'

// One process: the policy of `rotation.ts`, driven by events as `key-cache.ts` drives it by promises. Not modelled,
// because nothing here reaches them: the deadline of an attempt and of a wait (5 s; no answer takes longer than a round
// trip, no wait longer than a slot and two round trips), the limit of the waiting room, a ring that a jump of the clock
// has emptied, and the list of tokens that have asked (every token here is a new one that could be accepted).

/** The defaults of `remoteKeys`. */
const POLICY: RotationPolicy = {
  maxAge: undefined,
  staleWhileRevalidate: 300,
  staleIfError: 3600,
  overlap: 0,
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
  /** Until when a forged token is refused without any effect, but for the last second before that: see `nextSlot`. */
  nextSlot(): number
}

/** @param onRing Called when an attempt brought keys. */
export function createProcess(
  queue: EventQueue,
  endpoint: SimulatedEndpoint,
  random: Random,
  onRing: (keys: readonly VerificationKey[]) => void,
): SimulatedProcess {
  const spread = random()
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
      const attempt = { trigger, startedAt, settledAt: now() }
      if (keys === undefined) {
        state = afterFailure(state, attempt, UNREACHABLE, random())
      } else {
        const maxAge = lifetime(POLICY.maxAge, undefined, spread)
        state = afterSuccess(
          state,
          attempt,
          { keys, bare: true, maxAge, skipped: { count: 0, entries: [] } },
          POLICY,
          random(),
        )
        onRing(keys)
      }
      flight = undefined
      for (const goOn of waiting) goOn()
    })
    return waiting
  }

  function usableRing(): FetchedRing | undefined {
    return freshness(state.ring, now(), POLICY) === 'empty' ? undefined : state.ring
  }

  function maySend(trigger: Trigger): boolean {
    return flight === undefined && turn(state.pace, trigger, now()) === 'start'
  }

  /** As `current` of the cache. */
  function withRing(use: (ring: FetchedRing | undefined) => void): void {
    const word = freshness(state.ring, now(), POLICY)
    const ring = usableRing()
    const mustWait =
      word === 'empty' || (word === 'expired' && expiredRing(state, now(), POLICY) === 'wait')
    if (word === 'fresh') {
      use(ring)
    } else if (mustWait) {
      withFirstRing(use)
    } else {
      if (maySend('age')) start('age')
      use(ring)
    }
  }

  function withFirstRing(use: (ring: FetchedRing | undefined) => void): void {
    const attempt = flight ?? (maySend('age') ? start('age') : undefined)
    const goOn = () => {
      use(usableRing())
    }
    if (attempt === undefined) goOn()
    else attempt.push(goOn)
  }

  function verify(token: SimulatedToken, settle: (verdict: Verdict) => void): void {
    withRing((ring) => {
      if (ring === undefined) settle('unavailable')
      else if (proves(ring.keys, token)) settle('accepted')
      else suspect(token, ring, settle)
    })
  }

  /** As `suspect` of the cache. */
  function suspect(
    token: SimulatedToken,
    ring: FetchedRing,
    settle: (verdict: Verdict) => void,
  ): void {
    const mayAsk = flight !== undefined || turn(state.pace, 'suspicion', now()) !== 'refrain'
    const endsHere = !mayAsk && unprovenToken(state) === 'refused'
    if (endsHere || proves(state.retired, token)) settle('refused')
    else ask(token, ring.keys, settle)
  }

  function ask(
    token: SimulatedToken,
    tried: readonly VerificationKey[],
    settle: (verdict: Verdict) => void,
  ): void {
    const newer = usableRing()?.keys ?? tried
    if (newer !== tried && proves(newer, token)) {
      state = afterHelp(state)
      settle('accepted')
      return
    }
    const isAnswered = state.last !== undefined && state.last.startedAt.monotonic >= token.arrived()
    const next = turn(state.pace, 'suspicion', now())
    if (isAnswered || (flight === undefined && next === 'refrain')) {
      settle(unprovenToken(state))
      return
    }
    const goOn = () => {
      ask(token, newer, settle)
    }
    if (flight === undefined && next === 'wait') queue.at(nextSlot(), goOn)
    else (flight ?? start('suspicion')).push(goOn)
  }

  function nextSlot(): number {
    return nextAttempt(state.pace, 'suspicion')
  }

  function quietUntil(): number {
    const { ring } = state
    if (ring === undefined) return queue.now()
    const dueAt = ring.fetchedAt.monotonic + ring.maxAge
    const emptyAt = dueAt + POLICY.staleIfError
    return Math.min(emptyAt, Math.max(dueAt, nextAttempt(state.pace, 'age')))
  }

  return {
    verify,
    trusts: (key) => usableRing()?.keys.includes(key) ?? false,
    quietUntil,
    nextSlot,
  }
}

const UNREACHABLE = { failure: 'unreachable', detail: 'refused', retryAfter: undefined } as const

function proves(keys: readonly VerificationKey[], { signer }: SimulatedToken): boolean {
  return signer !== undefined && keys.includes(signer)
}

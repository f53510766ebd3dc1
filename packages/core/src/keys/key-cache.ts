import type { WaitUntil } from '@portcullis/kit/calls'
import type { FetchFailure } from '@portcullis/kit/http'
import { debug } from '@portcullis/kit/report'
import { type Clock, type Instant, instant } from '@portcullis/kit/time'
import { createWaitingRoom, pause, type WaitingRefusals } from '@portcullis/kit/waiting'

import { AuthError } from '../refusal/errors.ts'
import { attemptLine } from '../report/debug-log.ts'
import { keyAttempts, type KeysMessage } from '../report/diagnostics.ts'
import { createAttempts, type FetchedDocument, type Load } from './attempts.ts'
import {
  afterFailure,
  afterLoss,
  afterSuccess,
  type Attempt,
  type CacheState,
  type SettledState,
} from './cache-state.ts'
import { noKeys, roomIsFull, waitedTooLong } from './details.ts'
import type { KeyUse } from './entry-rules.ts'
import { type Caller, type KeyRing, type KeySource, keySource } from './key-source.ts'
import { keysMessage, type RemoteKeysStatus, snapshotMessage, statusOf } from './key-status.ts'
import type { Trigger } from './pace.ts'
import { withoutEndedOverlaps } from './ring.ts'
import {
  type AttemptStep,
  callerStep,
  questionStep,
  ringEnd,
  type RotationPolicy,
  unprovenTokenStep,
  untilNextAttempt,
  waitingCallerStep,
} from './rotation.ts'
import {
  beginWith,
  type KeysSnapshot,
  type SavedKeys,
  snapshotOf,
  type SnapshotOrigin,
} from './snapshot.ts'
import { type Asking, createSuspect } from './suspect.ts'

// The cache behind `remoteKeys` and `discoverKeys`: one state, and one attempt to fetch at a time. `rotation.ts` decides, this file acts.

/** Public keys behind a URL. */
export interface RemoteKeys extends KeySource {
  /** What its entries must state as `use`. */
  readonly use: 'sig' | 'jwt-svid'
  /**
   * Fetches the keys now, for a webhook that announces a rotation. If an attempt is under way, another one follows it.
   *
   * @throws AuthError `keys_unavailable` if that attempt fails, or may not start within a second.
   */
  refresh(): Promise<void>
  /** The state of the cache, for logs and alarms. */
  status(): RemoteKeysStatus
  /**
   * The keys in use, for the option `snapshot` of a process that starts later. If they came from a snapshot, the time of the
   * original fetch is kept.
   *
   * @returns `undefined` while there are no keys that may be used.
   */
  toSnapshot(): KeysSnapshot | undefined
}

/** How a cache treats its document. Times are seconds. */
export interface CacheOptions extends Omit<RotationPolicy, 'spread'>, SnapshotOrigin {
  readonly clock: Clock
  /** @default 'sig' */
  readonly use?: KeyUse | undefined
  /** What a snapshot has, or why it is not used. */
  readonly saved?: SavedKeys | string | undefined
  /** Of the runtime; by default it is asked. */
  readonly endsWithRequest?: boolean | undefined
}

/** What callers are refused with whom no keys reach in time. */
export const WITHOUT_KEYS: WaitingRefusals = {
  whenFull: () => new AuthError('keys_unavailable', 'timeout', roomIsFull),
  whenLate: (patience) => new AuthError('keys_unavailable', 'timeout', waitedTooLong(patience)),
}

/** The cache over any way to load a key document. @param random From 0 to 1: what spreads a fleet, and what a simulation repeats. */
export function followKeys(
  load: Load,
  { clock, url, use = 'sig', ifStated, saved, endsWithRequest, ...options }: CacheOptions,
  random: () => number = Math.random,
): RemoteKeys {
  const policy: RotationPolicy = { ...options, spread: random() }
  const { origin: ofUrl, protocol } = new URL(url)
  const origin = protocol === 'file:' ? 'a file' : ofUrl
  const room = createWaitingRoom(clock, policy.timeout, WITHOUT_KEYS)
  const beginning = beginWith(saved, instant(clock), policy)
  let { state } = beginning
  const attempts = createAttempts(load, policy, clock, { settle, lose }, endsWithRequest)
  const { isFetching, giveUpOrphan } = attempts

  const now = (): Instant => instant(clock)

  function replace(next: CacheState): void {
    state = next
  }

  function settle(
    attempt: Omit<Attempt, 'failure'>,
    outcome: FetchedDocument | FetchFailure,
  ): void {
    const before = state
    const settled = afterAttempt(before, attempt, outcome, policy, random())
    replace(settled)
    tell(() => keysMessage(source, before, settled, status()), origin)
  }

  function lose(attempt: Pick<Attempt, 'trigger' | 'startedAt'>): void {
    replace(afterLoss(state, attempt, policy.spread))
  }

  function current(moment: Instant, waitUntil?: WaitUntil): KeyRing | undefined {
    const step = callerStep(state, moment, policy, isFetching())
    if (step === 'wait' || state.ring === undefined) return undefined
    if (step === 'use and refresh') attempts.start('age', waitUntil)
    return withoutEndedOverlaps(state.ring, moment, policy)
  }

  async function wait(caller: Caller): Promise<KeyRing> {
    const before = state.last
    // `undefined`: the caller's deadline counts from now, and so comes after that of an attempt which it starts. If that
    // attempt fails, an expired ring can be used.
    return await room.wait({ ...caller, arrived: undefined }, async (place) => {
      const asking: Asking = { trigger: 'age', place, waitUntil: caller.waitUntil }
      for (;;) {
        giveUpOrphan()
        const moment = now()
        const hasSettled = state.last !== before
        const step = waitingCallerStep(state, moment, policy, isFetching(), hasSettled)
        if (step === 'join' || step === 'start' || step === 'pause') {
          await carryOut(step, asking)
        } else if (step === 'unavailable' || state.ring === undefined) {
          throw unavailable('age')
        } else {
          return withoutEndedOverlaps(state.ring, moment, policy)
        }
      }
    })
  }

  async function carryOut(step: AttemptStep, asking: Asking): Promise<void> {
    const { trigger, place, waitUntil } = asking
    if (step === 'pause') {
      await pause(untilNextAttempt(state, trigger, now(), policy), clock, place)
      return
    }
    if (step === 'start') attempts.start(trigger, waitUntil)
    await attempts.join(place)
  }

  async function refresh(): Promise<void> {
    const called = now()
    for (;;) {
      giveUpOrphan()
      const step = questionStep(state, 'refresh', now(), policy, isFetching(), called)
      if (step === 'refrain') throw unavailable('refresh')
      if (step === 'answered') break
      await carryOut(step, { trigger: 'refresh' })
    }
    if (unprovenTokenStep(state) === 'unavailable') throw unavailable('refresh')
  }

  function unavailable(trigger: Trigger): AuthError {
    const failure = state.last?.failure
    const retryAfter = untilNextAttempt(state, trigger, now(), policy)
    return new AuthError('keys_unavailable', failure?.failure ?? 'timeout', {
      retryAfter,
      cause: failure && new Error(failure.detail),
      detail: noKeys(failure?.detail, origin, retryAfter),
    })
  }

  function status(): RemoteKeysStatus {
    return { ...statusOf(state, now(), policy, beginning), isFetching: isFetching() }
  }

  const cache = {
    policy,
    now,
    state: () => state,
    replace,
    isFetching,
    giveUpOrphan,
    carryOut,
    unavailable,
  }
  const source: RemoteKeys = keySource({
    now,
    current,
    wait,
    suspect: createSuspect(cache, room),
    use,
    refresh,
    status,
    toSnapshot: () => snapshotOf(state.ring, { url, ifStated }, now(), policy),
  })
  if (beginning.snapshot !== undefined) {
    // A little later: who subscribes once there is a source hears of it, too.
    queueMicrotask(() => {
      tell(() => snapshotMessage(source, status()), origin)
    })
  }
  return source
}

function tell(message: () => KeysMessage, origin: string): void {
  keyAttempts.publish(message)
  debug(() => attemptLine(message(), origin))
}

function afterAttempt(
  state: CacheState,
  attempt: Omit<Attempt, 'failure'>,
  outcome: FetchedDocument | FetchFailure,
  policy: RotationPolicy,
  random: number,
): SettledState {
  const { overlap, spread } = policy
  if (outcome.failure !== undefined) {
    return afterFailure(state, attempt, outcome, { spread, random })
  }
  const end = ringEnd(state, attempt.startedAt, policy)
  return afterSuccess(state, attempt, outcome, { ringEnd: end, overlap, spread })
}

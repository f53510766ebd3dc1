import { createHash } from 'node:crypto'

import { LRUCache } from 'lru-cache'

import { keyAttempts } from '../diagnostics.ts'
import { AuthError } from '../errors.ts'
import { type Clock, elapsed, type Instant, instant } from '../time.ts'
import { type FetchFailure, withDeadline } from './fetch-json.ts'
import type { FetchedKeys } from './fetch-keys.ts'
import {
  type Caller,
  type KeyRing,
  type KeySource,
  type Suspicion,
  type VerificationKey,
} from './key-source.ts'
import { keysMessage, type RemoteKeysStatus, statusOf } from './key-status.ts'
import {
  afterFailure,
  afterHelp,
  afterOverlap,
  afterSuccess,
  type CacheState,
  expiredRing,
  type FetchedRing,
  freshness,
  INITIAL_STATE,
  lifetime,
  nextAttempt,
  type RingDocument,
  type RotationPolicy,
  type Trigger,
  turn,
  unprovenToken,
} from './rotation.ts'
import { createWaitingRoom, type Place } from './waiting-room.ts'

/** Public keys behind a URL. */
export interface RemoteKeys extends KeySource {
  /**
   * Fetches now, for a webhook that announces a rotation. An attempt under way is followed by one more.
   *
   * @throws AuthError `keys_unavailable` if that attempt fails, or may not start within a second.
   */
  refresh(): Promise<void>
  /** The state of the cache, for readiness probes and logs. */
  status(): RemoteKeysStatus
}

/** How a cache treats its document. Times are seconds. */
export interface CacheOptions extends RotationPolicy {
  readonly timeout: number
  readonly clock: Clock
}

const MAX_REMEMBERED_QUESTIONS = 5000

/** The cache itself, over any way to load a key document. */
export function followKeys(
  load: (signal: AbortSignal) => Promise<FetchedKeys | FetchFailure>,
  { timeout, clock, ...policy }: CacheOptions,
): RemoteKeys {
  const room = createWaitingRoom(clock, timeout)
  const spread = Math.random()
  /** Which tokens have asked, and when they were answered: questions, not verdicts. */
  const asked = new LRUCache<string, Instant>({ max: MAX_REMEMBERED_QUESTIONS })
  let state: CacheState = INITIAL_STATE
  /** Resolves when the attempt under way has settled, which is when the state changes. */
  let flight: Promise<void> | undefined

  function now(): Instant {
    return instant(clock)
  }

  function start(trigger: Trigger): Promise<void> {
    const startedAt = now()
    // Never rejects, as `fetchKeys` does not: an attempt has to settle, whatever an injected `fetch` answers with.
    flight = withDeadline(clock, timeout, fetchDocument).then((outcome) => {
      flight = undefined
      const attempt = { trigger, startedAt, settledAt: now() }
      const before = state
      const draw = Math.random()
      const settled =
        outcome.failure === undefined
          ? afterSuccess(state, attempt, outcome, policy, draw)
          : afterFailure(state, attempt, outcome, draw)
      state = settled
      keyAttempts.publish(() => keysMessage(source, before, settled, status()))
    })
    return flight
  }

  async function fetchDocument(signal: AbortSignal): Promise<FetchedDocument | FetchFailure> {
    const answer = await load(signal)
    if (answer.failure !== undefined) return answer
    return { ...answer, maxAge: lifetime(policy.maxAge, answer.freshnessLifetime, spread) }
  }

  function ringAt(moment: Instant): FetchedRing | undefined {
    state = afterOverlap(state, moment, policy)
    return freshness(state.ring, moment, policy) === 'empty' ? undefined : state.ring
  }

  function current(caller: Caller): KeyRing | Promise<KeyRing> {
    const ring = ringAt(caller.arrived)
    if (ring === undefined) return firstRing(caller)
    const word = freshness(ring, caller.arrived, policy)
    if (word === 'fresh') return ring
    const mayWait = word === 'expired' && !room.isFull(caller)
    if (mayWait && expiredRing(state, caller.arrived, policy) === 'wait') return firstRing(caller)
    if (maySend('age', caller.arrived)) void start('age')
    return ring
  }

  /** What there is after one attempt, be it this caller's or one under way. */
  async function firstRing(caller: Caller): Promise<KeyRing> {
    // Before the wait begins, so that the attempt's deadline comes before the caller's.
    const attempt = flight ?? (maySend('age', caller.arrived) ? start('age') : undefined)
    if (attempt !== undefined || isPaced(caller.arrived)) {
      await room
        .wait(caller, async (place) => await (attempt ?? pacedAttempt(caller, place)))
        .catch((error: unknown) => {
          // A ring that may still be used is better than none.
          if (!(error instanceof AuthError) || ringAt(now()) === undefined) throw error
        })
    }
    // What a success has just brought is used once, however old a clock that jumped makes it.
    const brought = unprovenToken(state) === 'refused' ? state.ring : undefined
    const ring = ringAt(now()) ?? brought
    if (ring === undefined) throw unavailable('age')
    return ring
  }

  /** Whether only the pace keeps an attempt from starting: a clock that jumped can leave no ring right after a success. */
  function isPaced(moment: Instant): boolean {
    return turn(state.pace, 'age', moment) === 'wait' && unprovenToken(state) === 'refused'
  }

  async function pacedAttempt(caller: Caller, place: Place): Promise<void> {
    await slot('age', caller.arrived, place)
    await (flight ?? (maySend('age', now()) ? start('age') : undefined))
  }

  function maySend(trigger: Trigger, moment: Instant): boolean {
    return flight === undefined && turn(state.pace, trigger, moment) === 'start'
  }

  async function suspect(
    suspicion: Suspicion,
    caller: Caller,
  ): Promise<VerificationKey | undefined> {
    const moment = now()
    const ring = ringAt(moment) ?? suspicion.ring
    // A refresh may have landed since the token was tried.
    const proof = ring.keys === suspicion.ring.keys ? undefined : await suspicion.findProof(ring)
    if (proof !== undefined && isTrusted(proof)) return proof
    const mayAsk = flight !== undefined || turn(state.pace, 'suspicion', moment) !== 'refrain'
    // First, because a flood of forged tokens ends here.
    if (!mayAsk && unprovenToken(state) === 'refused') return undefined
    const question = createHash('sha256').update(suspicion.token).digest('base64url')
    if (await isExplained(suspicion, question, moment)) return undefined
    const { findProof } = suspicion
    return await room.wait(
      caller,
      async (place) => await ask({ findProof, tried: ring.keys, question }, caller, place),
    )
  }

  /** Whether something other than an unseen rotation accounts for a token that no key proves. */
  async function isExplained(
    { couldBeAccepted, findProof, ring }: Suspicion,
    question: string,
    moment: Instant,
  ): Promise<boolean> {
    const askedAt = asked.get(question)
    return (
      !couldBeAccepted() ||
      (askedAt !== undefined && isWithinLifetime(askedAt, moment)) ||
      (await findProof({ keys: state.retired, bare: ring.bare })) !== undefined
    )
  }

  /** Waits for news, and checks the same token again. */
  async function ask(
    { findProof, tried: first, question }: Question,
    caller: Caller,
    place: Place,
  ): Promise<VerificationKey | undefined> {
    let tried = first
    while (!place.hasLeft) {
      const moment = now()
      const newer = ringAt(moment)
      if (newer !== undefined && newer.keys !== tried) {
        tried = newer.keys
        const proof = await findProof(newer)
        if (proof !== undefined && isTrusted(proof)) {
          state = afterHelp(state)
          return proof
        }
        // What time it is, and which keys there are, may have changed meanwhile.
        continue
      }
      // Only an attempt that started after the token came is an answer: an older one may have missed the rotation.
      const isAnswered = startedSince(caller.arrived)
      const next = turn(state.pace, 'suspicion', moment)
      if (isAnswered || (flight === undefined && next === 'refrain')) {
        if (unprovenToken(state) === 'unavailable') throw unavailable('suspicion')
        if (isAnswered) asked.set(question, moment)
        return undefined
      }
      await (flight ?? (next === 'start' ? start('suspicion') : slot('suspicion', moment, place)))
    }
    return undefined
  }

  /** A token that was answered may ask again once the keys have been fetched anew. */
  function isWithinLifetime(askedAt: Instant, moment: Instant): boolean {
    return state.ring !== undefined && elapsed(askedAt, moment) < state.ring.maxAge
  }

  /** A proof may take its time. What it found may have left since. */
  function isTrusted(key: VerificationKey): boolean {
    return ringAt(now())?.keys.includes(key) === true
  }

  function startedSince(moment: Instant): boolean {
    return state.last !== undefined && state.last.startedAt.monotonic >= moment.monotonic
  }

  async function slot(trigger: Trigger, moment: Instant, place?: Place): Promise<void> {
    const wait = nextAttempt(state.pace, trigger) - moment.monotonic
    await new Promise<void>((resolve) => {
      const cancel = clock.after(wait, resolve)
      place?.whenLeft(cancel)
    })
  }

  async function refresh(): Promise<void> {
    const called = now()
    while (!startedSince(called)) {
      const moment = now()
      const next = turn(state.pace, 'refresh', moment)
      if (flight === undefined && next === 'refrain') throw unavailable('refresh')
      await (flight ?? (next === 'start' ? start('refresh') : slot('refresh', moment)))
    }
    if (unprovenToken(state) === 'unavailable') throw unavailable('refresh')
  }

  function unavailable(trigger: Trigger): AuthError {
    const failure = state.last?.failure
    return new AuthError('keys_unavailable', failure?.failure ?? 'timeout', {
      retryAfter: nextAttempt(state.pace, trigger) - clock.monotonic(),
      cause: failure && new Error(failure.detail),
    })
  }

  function status(): RemoteKeysStatus {
    return { ...statusOf(state, now(), policy), fetching: flight !== undefined }
  }

  const source: RemoteKeys = { clock, now, current, suspect, refresh, status }
  return source
}

/** What a waiting token asks, and which keys it has been tried with. */
interface Question {
  readonly findProof: Suspicion['findProof']
  readonly tried: readonly VerificationKey[]
  /** A digest of the token. */
  readonly question: string
}

interface FetchedDocument extends RingDocument {
  readonly failure?: undefined
}

import type { WaitUntil } from '@portcullis/kit/calls'
import { sha256 } from '@portcullis/kit/digest'
import { noOptions } from '@portcullis/kit/options'
import type { Instant } from '@portcullis/kit/time'
import type { Place, WaitingRoom } from '@portcullis/kit/waiting'
import { LRUCache } from 'lru-cache'

import type { AuthError } from '../refusal/errors.ts'
import { afterHelp, afterQuestion, type CacheState } from './cache-state.ts'
import type {
  Caller,
  KeyRing,
  KeySourceMethods,
  Suspicion,
  SuspicionAnswer,
  VerificationKey,
} from './key-source.ts'
import type { Trigger } from './pace.ts'
import { retiredKeys } from './ring.ts'
import {
  type AttemptStep,
  mayRepeat,
  type Question,
  questionStep,
  retiredKeyStep,
  type RotationPolicy,
  suspicionStep,
  unprovenTokenStep,
  usableRing,
} from './rotation.ts'

// What happens to a token that no trusted key proves: it may ask for newer keys, waits for them, and is tried again.

/** The state of a cache and its attempts, for those who wait. */
export interface Cache {
  readonly policy: RotationPolicy
  readonly now: () => Instant
  readonly state: () => CacheState
  readonly replace: (next: CacheState) => void
  readonly isFetching: () => boolean
  /** Gives up an attempt that whoever must wait does not join. */
  readonly giveUpOrphan: () => void
  /** Resolves when the attempt has settled, or the pause is over. */
  readonly carryOut: (step: AttemptStep, asking: Asking) => Promise<void>
  readonly unavailable: (trigger: Trigger) => AuthError
}

/** Who needs an attempt, and why. */
export interface Asking {
  readonly trigger: Trigger
  readonly place?: Place | undefined
  /** Of the request. */
  readonly waitUntil?: WaitUntil | undefined
}

/** What a waiting token asks; `ring` is what it has been tried with. */
interface Doubt extends Pick<Suspicion, 'findKey' | 'ring'> {
  /** A digest of the token. */
  readonly digest: string
  /** The retired key that its question counts for. */
  readonly counted: VerificationKey | undefined
}

const MAX_REMEMBERED_QUESTIONS = 5000

/** What {@link KeySourceMethods.suspect} does, for one cache. */
export function createSuspect(cache: Cache, room: WaitingRoom): KeySourceMethods['suspect'] {
  const { policy, now, state } = cache
  /**
   * Which tokens have asked, by their digests: questions, not verdicts. Made when there is one: its lists are as long as they
   * may get from the beginning, and an API of many tenants has a cache for each.
   */
  let questions: LRUCache<string, Question> | undefined

  async function suspect(suspicion: Suspicion, caller: Caller): Promise<SuspicionAnswer> {
    const { token, findKey } = suspicion
    const { arrived } = caller
    const ring = usableRing(state(), now(), policy, arrived) ?? suspicion.ring
    // A refresh may have landed since the token was tried.
    const isNews = ring.keys !== suspicion.ring.keys
    const key = isNews ? await trustedKey(findKey, ring, arrived) : undefined
    if (key !== undefined) return { key }
    // Before anything that costs time: in a flood most forged tokens are refused here.
    if (suspicionStep(state(), now(), policy, cache.isFetching()) === 'refuse') {
      return { key: undefined, why: 'paced', ring }
    }
    if (!suspicion.couldBeAccepted()) return { key: undefined, why: 'pointless', ring }
    const digest = sha256(token)
    if (!mayRepeat(questions?.get(digest, noOptions()), state(), now())) {
      return { key: undefined, why: 'repeated', ring }
    }
    const { bare } = suspicion.ring
    const retired = await findKey({ keys: retiredNow().map((each) => each.key), bare })
    const step = retired === undefined ? 'ask' : stepFor(retired, suspicion)
    if (step === 'refuse') return { key: undefined, why: 'retired', ring }
    const counted = step === 'ask and count' ? retired : undefined
    const doubt = { findKey, ring, digest, counted }
    const { waitUntil } = caller
    return await room.wait(caller, async (place) => {
      return await ask(doubt, arrived, { trigger: 'suspicion', place, waitUntil })
    })
  }

  function retiredNow() {
    const { ring, retired } = state()
    return retiredKeys(ring, retired, now(), policy)
  }

  function stepFor(key: VerificationKey, { wasIssuedAfter }: Suspicion) {
    const retired = retiredNow().find((each) => each.key === key)
    // It may have come back while the token was tried with it.
    return retired === undefined ? 'ask' : retiredKeyStep(retired, state(), now(), wasIssuedAfter)
  }

  /** A key of this ring that proves the token, if it is still trusted when that is known. */
  async function trustedKey(
    findKey: Suspicion['findKey'],
    ring: KeyRing,
    arrived: Instant,
  ): Promise<VerificationKey | undefined> {
    const key = await findKey(ring)
    const latest = usableRing(state(), now(), policy, arrived)
    return key !== undefined && latest?.keys.includes(key) === true ? key : undefined
  }

  /** Waits for news, and checks the same token again. */
  async function ask(
    doubt: Doubt,
    arrived: Instant,
    asking: Asking & { readonly place: Place },
  ): Promise<SuspicionAnswer> {
    let tried = doubt.ring.keys
    while (!asking.place.hasLeft) {
      const newer = usableRing(state(), now(), policy, arrived)
      if (newer !== undefined && newer.keys !== tried) {
        tried = newer.keys
        const key = await trustedKey(doubt.findKey, newer, arrived)
        if (key !== undefined) {
          cache.replace(afterHelp(state()))
          return { key }
        }
        // What time it is, and which keys there are, may have changed meanwhile.
        continue
      }
      cache.giveUpOrphan()
      const step = questionStep(state(), 'suspicion', now(), policy, cache.isFetching(), arrived)
      if (step === 'answered' || step === 'refrain') {
        if (unprovenTokenStep(state()) === 'unavailable') throw cache.unavailable('suspicion')
        if (step === 'answered') remember(doubt)
        return {
          key: undefined,
          why: step === 'answered' ? 'answered' : 'paced',
          ring: newer ?? doubt.ring,
        }
      }
      await cache.carryOut(step, asking)
    }
    // Whoever has asked has left, and hears nothing.
    return { key: undefined, why: undefined, ring: doubt.ring }
  }

  /** The token was answered: for now it asks no more. */
  function remember({ digest, counted }: Doubt): void {
    const { last } = state()
    const before = questions?.get(digest, noOptions())
    // Several who present one token at the same time ask one question.
    if (last === undefined || before?.answeredAt === last.startedAt) return
    const times = (before?.times ?? 0) + 1
    questions ??= new LRUCache({ max: MAX_REMEMBERED_QUESTIONS })
    questions.set(digest, { answeredAt: last.startedAt, times }, noOptions())
    if (counted !== undefined) cache.replace(afterQuestion(state(), counted))
  }

  return suspect
}

import { LRUCache } from 'lru-cache'

import { noOptions } from '../ground/options.ts'
import { elapsed, type Instant, instant } from '../ground/time.ts'
import {
  createWaitingRoom,
  type Place,
  type WaitingRefusals,
  type WaitingRoom,
} from '../ground/waiting-room.ts'
import { AuthError } from '../refusal/errors.ts'
import type { Verifier } from '../verifier/verifier.ts'
import { noAnswer, tooManyTokens } from './details.ts'
import {
  type Answer,
  type CallLimits,
  type Calls,
  createCalls,
  type FindVerifier,
  type Found,
} from './function-calls.ts'

/** Who judges the tokens of which issuer. */
export interface IssuerDirectory {
  /** The verifier of an issuer at this moment, or `undefined` if the caller has to {@link wait}. May start a call. */
  find(issuer: string): Found | undefined
  /**
   * Waits for the verifier of an issuer; `undefined` if there is none.
   *
   * @throws AuthError `keys_unavailable`; the signal's reason when the caller gives up.
   */
  wait(issuer: string, caller: Waiting): Promise<Found | undefined>
  /**
   * Is told that a verifier would accept a token of the issuer.
   *
   * @returns Whether it is still the issuer's: neither has another answer come, nor has its time ended.
   */
  confirm(issuer: string, found: Found): boolean
}

interface Waiting {
  readonly tokenSize: number
  readonly signal: AbortSignal | undefined
}

/** Times are seconds. */
export interface DirectoryLimits extends CallLimits {
  readonly max: number
  readonly maxAge: number
  readonly maxMisses: number
  readonly missAge: number
}

/** How long the function is left alone after a failure. Seconds. */
const PAUSE = 1

/** What tokens are refused with that no answer of the function reaches in time. */
const WITHOUT_ANSWER: WaitingRefusals = {
  whenFull: () => new AuthError('keys_unavailable', 'timeout', tooManyTokens),
  whenLate: (patience) => new AuthError('keys_unavailable', 'timeout', noAnswer(patience)),
}

/** Calls of the function, and where tokens wait for them. */
interface Access {
  readonly calls: Calls
  readonly room: WaitingRoom
}

/** Why an issuer has no verifier now: the function has none for it, or has failed. */
interface Absence {
  readonly since: Instant
  readonly answer: Answer
  /** The function has said that there is none, and has only failed since. This stays true when the answer is over. */
  readonly isGone: boolean
}

/** The verifiers of an object: they are there from the start, and stay. */
export function listedVerifiers(
  verifiers: ReadonlyMap<string, Verifier<unknown>>,
): IssuerDirectory {
  const since = { wall: 0, monotonic: 0 }
  const found = new Map([...verifiers].map(([issuer, verifier]) => [issuer, { verifier, since }]))
  return {
    find: (issuer) => found.get(issuer),
    wait: async () => undefined,
    confirm: () => true,
  }
}

/**
 * Whether a verifier that the function has answered is used: at once, with another call behind it, or no longer. In the
 * second half of its time it is asked for again, so that nobody waits and a short outage of the function is not noticed.
 */
export function standingOf(
  { since }: { readonly since: Instant },
  now: Instant,
  maxAge: number,
): 'current' | 'due' | 'over' {
  const age = elapsed(since, now)
  if (age < maxAge / 2) return 'current'
  return age < maxAge ? 'due' : 'over'
}

/** The verifiers that a function finds: bounded in number and in age. */
export function foundVerifiers(find: FindVerifier, limits: DirectoryLimits): IssuerDirectory {
  const { max, maxAge, maxMisses, missAge, timeout, clock } = limits
  /** Those that have accepted a token. */
  const proven = new LRUCache<string, Found>({ max })
  /** Those that have not: forged tokens that name many issuers in turn push out no other. */
  const newcomers = new LRUCache<string, Found>({ max })
  const absences = new LRUCache<string, Absence>({ max: maxMisses })
  // Two limits and two rooms, so that issuers which nobody knows never stand in the way of those that are known.
  const [firstCalls, laterCalls] = [createAccess(), createAccess()]

  function createAccess(): Access {
    const calls = createCalls(find, limits, settled)
    const room = createWaitingRoom(clock, timeout, WITHOUT_ANSWER)
    return { calls, room }
  }

  function held(issuer: string): Found | undefined {
    return proven.get(issuer, noOptions()) ?? newcomers.get(issuer, noOptions())
  }

  /** The absence that still counts. */
  function absenceOf(issuer: string): Absence | undefined {
    const absence = absences.get(issuer, noOptions())
    if (absence === undefined) return undefined
    const lifetime = absence.answer.word === 'none' ? missAge : PAUSE
    return elapsed(absence.since, instant(clock)) < lifetime ? absence : undefined
  }

  function hasGone(issuer: string): boolean {
    return absences.get(issuer, noOptions())?.isGone ?? false
  }

  function settled(issuer: string, answer: Answer, since: Instant): void {
    if (answer.word === 'verifier') {
      const kept = proven.has(issuer, noOptions()) ? proven : newcomers
      kept.set(issuer, answer, noOptions())
      absences.delete(issuer)
    } else if (answer.word === 'none') {
      proven.delete(issuer)
      newcomers.delete(issuer)
      absences.set(issuer, { since, answer, isGone: true }, noOptions())
    } else {
      // The pause begins with the end of the call, which may have taken longer than it.
      const isGone = hasGone(issuer)
      absences.set(issuer, { since: instant(clock), answer, isGone }, noOptions())
    }
  }

  /** An issuer may have been pushed out while it was called for: that call is the one. */
  function accessFor(issuer: string): Access {
    if (laterCalls.calls.has(issuer)) return laterCalls
    return firstCalls.calls.has(issuer) || held(issuer) === undefined ? firstCalls : laterCalls
  }

  return {
    find(issuer) {
      const found = held(issuer)
      if (found === undefined) return undefined
      const standing = standingOf(found, instant(clock), maxAge)
      if (standing === 'over') return undefined
      if (standing === 'due' && absenceOf(issuer) === undefined)
        accessFor(issuer).calls.renew(issuer)
      return found
    },
    async wait(issuer, caller) {
      const absence = absenceOf(issuer)
      if (absence !== undefined) return foundIn(absence.answer)
      const { calls, room } = accessFor(issuer)
      const ask = async (place: Place) => await calls.ask(issuer, place)
      return foundIn(await room.wait({ arrived: undefined, ...caller }, ask))
    },
    confirm(issuer, found) {
      const known = held(issuer)
      // Others may have pushed it out while the token was judged: then it counts until it is over, or the tenant is gone.
      const isOther = known === undefined ? hasGone(issuer) : known.verifier !== found.verifier
      const current = known ?? found
      if (isOther || standingOf(current, instant(clock), maxAge) === 'over') return false
      if (proven.has(issuer, noOptions())) return true
      newcomers.delete(issuer)
      proven.set(issuer, current, noOptions())
      return true
    },
  }
}

/** @throws AuthError `keys_unavailable`: a new one for each caller, since its headers can be changed. */
function foundIn(answer: Answer): Found | undefined {
  if (answer.word !== 'failed') return answer.word === 'none' ? undefined : answer
  const { reason, ...options } = answer.failure
  throw new AuthError('keys_unavailable', reason, options)
}

import { noOptions } from '@portcullis/kit/options'
import { type Clock, elapsed, type Instant, instant } from '@portcullis/kit/time'
import { LRUCache } from 'lru-cache'

import type { Answer, Found } from './function-calls.ts'

// What the function of `byIssuer` has answered, remembered for a bounded number of issuers and for a bounded time.

export type Standing =
  /** It has a verifier. `due`: the function should be called again, and nobody has to wait for that. */
  | { readonly word: 'current' | 'due'; readonly found: Found }
  /** It had one, whose time is over. */
  | { readonly word: 'over' }
  /** It has none now: the function has said so, or has failed. */
  | { readonly word: 'absent'; readonly answer: Answer }
  | { readonly word: 'unknown' }

export interface IssuerMemory {
  standing(issuer: string): Standing
  /** Keeps an answer of the function. `since`: when it was called. */
  keep(issuer: string, answer: Answer, since: Instant): void
  /** Is told that a verifier would accept a token. @returns Whether it is still the issuer's: no other came, and its time is not over. */
  confirm(issuer: string, found: Found): boolean
}

/** Times are seconds. */
export interface MemoryLimits {
  readonly max: number
  readonly maxAge: number
  readonly maxMisses: number
  readonly missAge: number
  readonly clock: Clock
}

/** How long the function is left alone after a failure. Seconds. */
const PAUSE = 1

/** Why an issuer has no verifier now, or why its verifier is not asked for again. */
interface Absence {
  readonly since: Instant
  readonly answer: Answer
  /** The function has said that there is none, and has only failed since. This stays true when the answer is over. */
  readonly isGone: boolean
}

/** In the second half of its time a verifier is asked for again, so that nobody waits and a short outage of the function is not noticed. */
export function freshnessOf(
  { since }: { readonly since: Instant },
  now: Instant,
  maxAge: number,
): 'current' | 'due' | 'over' {
  const age = elapsed(since, now)
  if (age < maxAge / 2) return 'current'
  return age < maxAge ? 'due' : 'over'
}

export function createIssuerMemory(limits: MemoryLimits): IssuerMemory {
  const { max, maxAge, maxMisses, missAge, clock } = limits
  /** When the newest answer was asked for that others have pushed out. Seconds of the monotonic clock. */
  let newestLost = -Infinity
  function dispose({ since }: Found, _issuer: string, why: LRUCache.DisposeReason): void {
    if (why === 'evict') newestLost = Math.max(newestLost, since.monotonic)
  }
  /** The verifiers that have accepted a token. */
  const proven = new LRUCache<string, Found>({ max, dispose })
  /** Those that have not: forged tokens that name many issuers in turn push out no other. */
  const newcomers = new LRUCache<string, Found>({ max, dispose })
  const absences = new LRUCache<string, Absence>({ max: maxMisses })

  function held(issuer: string): Found | undefined {
    return proven.get(issuer, noOptions()) ?? newcomers.get(issuer, noOptions())
  }

  /** The answer that still counts. */
  function absentAnswer(issuer: string): Answer | undefined {
    const absence = absences.get(issuer, noOptions())
    if (absence === undefined) return undefined
    const lifetime = absence.answer.word === 'none' ? missAge : PAUSE
    return elapsed(absence.since, instant(clock)) < lifetime ? absence.answer : undefined
  }

  function hasGone(issuer: string): boolean {
    return absences.get(issuer, noOptions())?.isGone ?? false
  }

  return {
    standing(issuer) {
      const found = held(issuer)
      const freshness = found && freshnessOf(found, instant(clock), maxAge)
      if (found !== undefined && freshness === 'current') return { word: 'current', found }
      const answer = absentAnswer(issuer)
      // After a failure the function is left alone, and the verifier goes on.
      if (found !== undefined && freshness === 'due') {
        return { word: answer === undefined ? 'due' : 'current', found }
      }
      if (answer !== undefined) return { word: 'absent', answer }
      return { word: found === undefined ? 'unknown' : 'over' }
    },
    keep(issuer, answer, since) {
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
    },
    confirm(issuer, found) {
      const known = held(issuer)
      // Others may have pushed it out while the token was judged: then it counts until it is over, or the tenant is gone.
      const isOther = known === undefined ? hasGone(issuer) : known.verifier !== found.verifier
      const current = known ?? found
      if (isOther || freshnessOf(current, instant(clock), maxAge) === 'over') return false
      if (proven.has(issuer, noOptions())) return true
      newcomers.delete(issuer)
      // A newer answer for it may have been pushed out as well. Then the older verifier does not come back for others.
      const isNewest = known !== undefined || newestLost <= found.since.monotonic
      if (isNewest) proven.set(issuer, current, noOptions())
      return true
    },
  }
}

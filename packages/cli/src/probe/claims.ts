import { memberOf, partOf } from '../input/unread-json.ts'
import type { Said } from './complaints.ts'
import type { Check } from './kinds.ts'

// Tokens of the issuer that are wrong in one thing, and when one is a fair test of it.

/** A token that an API has to refuse for one thing, though the issuer has signed it. */
export interface WrongToken {
  readonly name: string
  readonly token: string
  readonly check: Check
  /** What is said of an API that lets it through. */
  readonly accepted: Said
  /** Whether it was made for this probe of one that is right, so that nothing else can be wrong with it. */
  readonly isMade: boolean
  /** A token that is right, and otherwise like it: without one that is let through, a refusal says nothing. */
  readonly right: string | undefined
}

/** Seconds. No API should tolerate clocks that differ by more. */
export const TOLERATED = 600

/** The claims of a token, which nothing has proven; none of what is no token. */
export function claimsIn(token: string): Readonly<Record<string, unknown>> {
  const claims = partOf(token, 'payload')
  return typeof claims === 'object' && claims !== null ? { ...claims } : {}
}

const OF_ONE_TOKEN: ReadonlySet<string> = new Set(['exp', 'nbf', 'iat', 'jti'])

export function lastingClaims(token: string): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(claimsIn(token)).filter(([name]) => !OF_ONE_TOKEN.has(name)),
  )
}

/** The time for which every API has to refuse a token. */
export function wrongTime(token: string, now: number): 'exp' | 'nbf' | undefined {
  const { exp, nbf } = claimsIn(token)
  if (typeof exp === 'number' && exp < now - TOLERATED) return 'exp'
  if (typeof nbf === 'number' && nbf > now + TOLERATED) return 'nbf'
  return undefined
}

/** Whether nothing but its expiry can be why an API refuses one of two tokens that the same issuer has signed. */
export function differInExpiryAlone(one: string, other: string): boolean {
  const [claims, others] = [claimsIn(one), claimsIn(other)]
  const headers = [partOf(one, 'header'), partOf(other, 'header')]
  return (
    ['iss', 'aud', 'cnf'].every((name) => isSame(claims[name], others[name])) &&
    ['alg', 'typ'].every((name) => isSame(memberOf(headers[0], name), memberOf(headers[1], name)))
  )
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

import { memberOf, partOf } from '../input/unread-json.ts'

// Tokens with one wrong claim: which claims a probe tests, and when a token is a fair test of one.

/** What an API has to check beside the signature. Nobody but the issuer can sign a token in which one of them is wrong. */
export const CLAIMS = ['exp', 'nbf', 'iss', 'aud'] as const

export type Claim = (typeof CLAIMS)[number]

export interface WrongToken {
  readonly name: string
  readonly token: string
  readonly claim: Claim
  /** Whether the issuer has minted it for this probe, so that nothing else can be wrong with it. */
  readonly isMinted: boolean
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

import { member } from '@portcullis/kit/json'

import type { Auth } from '../claims/auth.ts'
import { checkAuth, signedClaims } from '../claims/signed-claims.ts'
import { isOneScope } from '../ground/scopes.ts'

// Reads the scopes of a token, for requirements and for handlers alike.

/**
 * The scopes that the claims `scope` and `scp` grant, as a text or as a list. The claims are read as they were signed,
 * whatever a schema made of them.
 *
 * To require some, use `scope` or `anyScope`.
 *
 * @see RFC 8693 section 4.2
 */
export function grantedScopes(auth: Auth<unknown>): ReadonlySet<string> {
  checkAuth('grantedScopes', auth)
  return scopesOf(auth)
}

/** The same of whatever a requirement is asked about: one of another copy may be, and says what it wants by itself. */
export function scopesOf(auth: Auth<unknown>): ReadonlySet<string> {
  const claims = signedClaims(auth)
  return new Set(
    [member(claims, 'scope'), member(claims, 'scp')].flatMap(scopeList).filter(isOneScope),
  )
}

export function hasScopes(auth: Auth<unknown>): boolean {
  const claims = signedClaims(auth)
  return Object.hasOwn(claims, 'scope') || Object.hasOwn(claims, 'scp')
}

function scopeList(claimed: unknown): readonly unknown[] {
  if (typeof claimed === 'string') return claimed.split(' ')
  return Array.isArray(claimed) ? claimed : []
}

import type { Auth } from '../claims/auth.ts'
import { signedClaims } from '../claims/signed-claims.ts'
import { member } from './json.ts'

/** RFC 6749 section 3.3. */
const SCOPE = /^[\u0021\u0023-\u005B\u005D-\u007E]+(?: [\u0021\u0023-\u005B\u005D-\u007E]+)*$/

/**
 * The scopes of a space-separated list.
 *
 * @throws TypeError if the list is not one of scope tokens with single spaces between them.
 */
export function checkScopes(factory: string, scopes: string): readonly string[] {
  if (!isScope(scopes)) {
    throw new TypeError(
      `${factory}: ${JSON.stringify(scopes)} is not a space-separated list of scopes`,
    )
  }
  return scopes.split(' ')
}

/**
 * The scopes that the claims `scope` and `scp` grant, as a text or as a list. The claims are read as they were signed,
 * whatever a schema made of them.
 *
 * To require some, use `scope` or `anyScope`.
 *
 * @see RFC 8693 section 4.2
 */
export function grantedScopes(auth: Auth<unknown>): ReadonlySet<string> {
  const claims = signedClaims(auth)
  return new Set(
    [member(claims, 'scope'), member(claims, 'scp')].flatMap(scopeList).filter(isToken),
  )
}

/** Whether there is a claim that could grant scopes. */
export function hasScopes(auth: Auth<unknown>): boolean {
  const claims = signedClaims(auth)
  return Object.hasOwn(claims, 'scope') || Object.hasOwn(claims, 'scp')
}

function scopeList(claimed: unknown): readonly unknown[] {
  if (typeof claimed === 'string') return claimed.split(' ')
  return Array.isArray(claimed) ? claimed : []
}

export function isScope(value: unknown): value is string {
  return typeof value === 'string' && SCOPE.test(value)
}

/** One scope, not a list of them. */
function isToken(value: unknown): value is string {
  return isScope(value) && !value.includes(' ')
}

import { isJsonObject, type JsonObject, member } from '@portcullis/kit/json'
import { isTextList, type OptionCheck } from '@portcullis/kit/options'

import { AuthError } from '../refusal/errors.ts'
import { noAffirmation, noPath, otherValue } from './details.ts'

// The option `requiredClaims`: what it may be, and what it makes of the claims of a token.

export interface RequiredClaim {
  readonly name: string
  /** The accepted values; `any` for every value, `true` for those that {@link affirms} accepts. */
  readonly values: Extract<RequiredValue, readonly unknown[]> | PathUnder | 'any' | true
}

/** What a claim must be: one value, or any of a list. In `requiredClaims`, write `[true]` to require the boolean `true` alone. */
export type RequiredValue = string | number | boolean | readonly (string | number | boolean)[]

/**
 * A text that begins with this one, which ends in `/`, and has a path behind it: names of letters of ASCII, digits, `.`, `-` and `_`,
 * with one `/` between two of them, and none of them `.` or `..`.
 */
export interface PathUnder {
  readonly pathUnder: string
}

/** What `requiredClaims` may want of a claim. */
export type RequiredClaimValue = RequiredValue | PathUnder

type RequiredClaims = readonly string[] | Readonly<Record<string, RequiredClaimValue>>

export function requiredClaimsOf(stated: RequiredClaims): readonly RequiredClaim[] {
  if (isNameList(stated)) return stated.map((name) => ({ name, values: 'any' }))
  return Object.entries(stated).map(([name, value]) => ({ name, values: valuesOf(value) }))
}

/** A copy: what the caller changes later has no effect. */
function valuesOf(value: RequiredClaimValue): RequiredClaim['values'] {
  if (isPathUnder(value)) return { pathUnder: value.pathUnder }
  return value === true ? true : [value].flat()
}

/** A path within `spiffe://example.org/`, such as `/orders`: no other text that begins alike, and none that is read as another path. */
function isPath(value: unknown, { pathUnder }: PathUnder): boolean {
  return (
    typeof value === 'string' &&
    value.startsWith(pathUnder) &&
    value
      .slice(pathUnder.length)
      .split('/')
      .every((name) => /^[\w.-]+$/.test(name) && name !== '.' && name !== '..')
  )
}

function isPathUnder(value: unknown): value is PathUnder {
  if (!isJsonObject(value) || Reflect.ownKeys(value).join(' ') !== 'pathUnder') return false
  const { pathUnder } = value
  return typeof pathUnder === 'string' && /[^/]\/$/.test(pathUnder)
}

export function namesOf(stated: RequiredClaims): readonly string[] {
  return isNameList(stated) ? stated : Object.keys(stated)
}

function isNameList(stated: RequiredClaims): stated is readonly string[] {
  return Array.isArray(stated)
}

export const isRequiredClaims: OptionCheck = (value) => {
  const names = isJsonObject(value) ? Reflect.ownKeys(value) : value
  const lists = isJsonObject(value)
    ? Object.values(value)
        .filter((each) => !isPathUnder(each))
        .map(everyValue)
    : []
  const isStated =
    isTextList(names) === undefined &&
    lists.every((values) => values.length > 0 && values.every(isClaimValue))
  if (!isStated) {
    return 'must be a list of names, or an object with a string, a number, a boolean, a list of these or { pathUnder } for each'
  }
  return lists.flat().every(isExact)
    ? undefined
    : 'must have numbers from -9007199254740991 to 9007199254740991: others cannot be compared exactly'
}

/** Also what is missing in a list. */
function everyValue(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? [...(value as readonly unknown[])] : [value]
}

function isClaimValue(value: unknown): boolean {
  return ['boolean', 'string', 'number'].includes(typeof value)
}

/** Beyond 2^53 - 1 several integers of a token's JSON become the same number. `NaN` equals none. */
function isExact(value: unknown): boolean {
  return typeof value !== 'number' || Math.abs(value) <= Number.MAX_SAFE_INTEGER
}

/** Compared exactly: a list that contains an accepted value is no such value. For `true` it is no value either. */
export function checkValues(
  claims: JsonObject,
  { requiredClaims }: { readonly requiredClaims: readonly RequiredClaim[] },
): void {
  for (const { name, values } of requiredClaims) {
    if (values === 'any') continue
    const value = member(claims, name)
    if (values === true) {
      if (!affirms(value)) throw new AuthError('invalid_token', 'claim', noAffirmation(name, value))
    } else if (isPathUnder(values)) {
      if (!isPath(value, values))
        throw new AuthError('invalid_token', 'claim', noPath(name, value, values))
    } else if (!values.some((each) => each === value)) {
      throw new AuthError('invalid_token', 'claim', otherValue(name, value, values))
    }
  }
}

/** True in the sense of `sub: true` and of `email_verified: true`: issuers write flags as booleans, numbers and texts (Python: `False`). */
function affirms(value: unknown): boolean {
  if (typeof value === 'string') return !['', 'false'].includes(value.trim().toLowerCase())
  return value === true || (typeof value === 'number' && value !== 0)
}

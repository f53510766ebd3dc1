import { acceptedText, foundText } from '../claims/details.ts'
import type { AuthErrorOptions } from '../refusal/errors.ts'
import {
  type Detail,
  duration,
  kindOf,
  listed,
  type NumberedDetail,
  printable,
} from '../refusal/text.ts'

// What refusals of a route's requirements tell developers: what the route asks for, and of what the token has no more than of
// other refused claims.

const LONGEST_DESCRIPTION = 200

/** @param hasScopes Whether the token has a claim that grants scopes at all. @param hint Why it may have none. */
export function lacksScopes(
  missing: readonly string[],
  wanted: string,
  hasScopes: boolean,
  hint: string,
): Detail {
  return () => {
    const why = hasScopes ? '' : `; it has neither scope nor scp${hint}`
    return `the token lacks ${listed(missing)}; the route requires ${describe(wanted)}${why}`
  }
}

/** @param accepted `undefined` where a function of the user's decides. */
export function lacksValue(
  description: string,
  path: readonly string[],
  value: unknown,
  accepted: readonly unknown[] | undefined,
): Detail {
  // A claim inside of another one has nothing but its name in common with that of the standard.
  const name = path.length === 1 ? (path[0] ?? '') : ''
  const found = value === undefined ? 'is missing' : `is ${foundText(name, value)}`
  return () =>
    accepted === undefined
      ? `${describe(description)} ${found}; expected what the function of the route accepts`
      : `${describe(description)} ${found}; expected ${acceptedText(accepted)}`
}

/** Of a claim that is never met where tokens of any tenant are accepted. */
export function decidedByTenant(description: string): Detail {
  return () =>
    `${describe(description)} is never met: the administrator of the token's tenant decides what it says, and tokens of any tenant are accepted`
}

/** @param actors How many act, or acted, for the subject. The first of them is another one than those that are wanted. */
export function lacksActor(description: string, actors: number): Detail {
  const found =
    actors === 0 ? 'nobody acts for the subject (act)' : 'another party acts for the subject'
  const before = actors > 1 ? `, through ${actors - 1} more` : ''
  return () => `${found}${before}; the route requires ${describe(description)}`
}

/** @param parts What the token lacks of each part that says so. */
export function lacksAll(
  description: string,
  parts: readonly NonNullable<AuthErrorOptions['detail']>[],
): Detail {
  return () => {
    const told = parts.map((part) => part())
    const why = told.map((each) => (typeof each === 'string' ? each : each.text))
    const start = `the route requires ${describe(description)}, and none is met`
    return why.length === 0 ? start : `${start}: ${why.join('; ')}`
  }
}

/** @param answer What the requirement answered instead of `true`. */
export function notMet(description: string, answer: unknown): Detail {
  const kind = answer === false ? 'false' : `${kindOf(answer)}, and only true meets it`
  return () => `the route requires ${describe(description)}, which answered ${kind}`
}

export function lacksAge(time: unknown, age: number, now: number): Detail | NumberedDetail {
  const wanted = `the route wants ${duration(age)} at most`
  if (typeof time !== 'number') {
    const found = time === undefined ? 'is missing' : `is ${kindOf(time)}`
    return () => `auth_time ${found}; ${wanted}: does the issuer put it into access tokens?`
  }
  const text =
    now < time
      ? 'auth_time is after now: is it in milliseconds, or a clock wrong?'
      : `the user authenticated longer ago (auth_time); ${wanted}`
  return () => ({ text, numbers: { auth_time: time, now } })
}

export function lacksAcr(value: unknown, wanted: readonly string[]): Detail {
  const expected = `the route wants ${wanted.length > 1 ? 'one of ' : ''}${listed(wanted)}`
  if (typeof value === 'string') {
    const text = foundText('acr', value)
    return () => `acr is ${text}; ${expected}`
  }
  const found = value === undefined ? 'is missing' : `is ${kindOf(value)}`
  return () => `acr ${found}; ${expected}: does the issuer put it into access tokens?`
}

export const anonymous: Detail = () =>
  'the guard let the request through without a token, as `optional` says; this route requires one'

function describe(description: string): string {
  return printable(description, LONGEST_DESCRIPTION)
}

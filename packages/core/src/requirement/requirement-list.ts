import { checkArgument, hasMethods, type OptionCheck, own, seconds } from '@portcullis/kit/options'

import type { Auth } from '../claims/auth.ts'
import { asSigned } from '../claims/signed-claims.ts'
import { isScope } from '../ground/scopes.ts'
import { AuthError, type AuthErrorOptions } from '../refusal/errors.ts'
import type { Verifier } from '../verifier/verifier.ts'
import { notMet } from './details.ts'

// What a requirement is, how all those of a route are checked, at start-up and for each request, and what they ask of another log-in.

/** How a token was accepted. */
export interface Acceptance {
  /** What the schema of the verifier has made of the claims. Without a schema, the claims. */
  readonly output: unknown
  /** The verifier of the guard that has let the request through. */
  readonly verifier?: Verifier<unknown> | undefined
}

/** What a route requires of a verified token. It is a plain value: several routes can share it, and a test needs no server. */
export interface Requirement {
  /** The reason of the refusal when it is not met. */
  readonly reason: 'scope' | 'claim' | 'check' | 'acr' | 'age'
  /** What it asks for, in words for developers. The client never sees them. */
  readonly description: string
  /** The scopes that the challenge names: a space-separated list (RFC 6750 section 3). Read as an own member. */
  readonly scope?: string | undefined
  /** The classes of authentication of which one will do; `undefined` for any. RFC 9470 */
  readonly acr?: readonly string[] | undefined
  /** How long ago the user may have logged in, in seconds; `undefined` for any time. RFC 9470 */
  readonly maxAge?: number | undefined
  /** The claim that `claim()` looks at. Read as an own member. */
  readonly claim?: string | undefined
  /** Other requirements that must all be met instead of this one. The refusal is that of the first one that is not met. */
  readonly parts?: readonly Requirement[] | undefined
  /** Other requirements of which one is enough, for whoever describes routes. It decides nothing. */
  readonly alternatives?: readonly Requirement[] | undefined
  /** Says what a token lacks, in a sentence for developers without values of claims: `detail` of the refusal. Read as an own member. */
  readonly explain?: ((auth: Auth) => NonNullable<AuthErrorOptions['detail']>) | undefined
  /**
   * @param auth With the claims as they were signed, whatever a schema made of them.
   * @param acceptance Missing where there is no request, as in a test of the requirement.
   */
  isMetBy(auth: Auth, acceptance?: Acceptance): boolean | Promise<boolean>
}

/** Whether each of a list can be asked; there may be none. Adapters have checked the rest at start-up. */
export function isRequirementList(value: unknown): value is readonly Requirement[] {
  return Array.isArray(value) && value.every((each) => hasMethods(each, 'isMetBy'))
}

const REASONS = ['scope', 'claim', 'check', 'acr', 'age'] as const

/**
 * Checks what a route requires, at start-up.
 *
 * @param decided Claims that tenants of the verifier decide, where that is known: see `decidedByTenantsOf`.
 * @throws TypeError without any requirement, which would let everybody with a token in, and for anything else than
 *   requirements, or for one of a claim that tenants decide.
 */
export function checkRequirementList(
  factory: string,
  requirements: readonly Requirement[],
  decided: readonly string[] = [],
): void {
  const complaint = Array.isArray(requirements) ? undefined : "must be a list, as [scope('read')]"
  checkArgument(factory, 'the requirements', complaint)
  if (requirements.length === 0) {
    // Mistake `…: there must be at least one requirement`: `authorize()` would accept every valid token, and does not compile.
    // State a requirement, or leave it out; for a list `authorize(all(...list))`.
    throw new TypeError(`${factory}: there must be at least one requirement`)
  }
  if (!requirements.every((each) => hasMethods(each, 'isMetBy'))) {
    // Mistake `…: each argument must be a requirement`: Write `scope('read')`, not `'read'`.
    throw new TypeError(
      `${factory}: each argument must be a requirement, as in ${factory}(scope('read'))`,
    )
  }
  for (const each of requirements) {
    if (!REASONS.includes(each.reason)) {
      // Mistake `…: the reason of a requirement must be …`: A requirement of your own needs `reason`, `isMetBy` and, for a scope,
      // `scope`, as those of the package have them.
      throw new TypeError(`${factory}: the reason of a requirement must be ${REASONS.join(' or ')}`)
    }
    const wanted = own(each, 'scope')
    if (wanted !== undefined && !isScope(wanted)) {
      // Mistake `…: the scope of a requirement must be a list of scopes`: Let `scope` of your own requirement be one string with
      // spaces, `'read write'`.
      throw new TypeError(`${factory}: the scope of a requirement must be a list of scopes`)
    }
    const { acr = [], maxAge = 1 } = stepUpOf(each)
    if (!Array.isArray(acr) || !acr.every(isAcr) || isMaxAge(maxAge) !== undefined) {
      // Mistake `…: the acr of a requirement must be a list of classes`: Let `acr` of your own requirement be a list of values,
      // `['phr']`.
      throw new TypeError(
        `${factory}: the acr of a requirement must be a list of classes, and its maxAge seconds`,
      )
    }
    const name = own(each, 'claim')
    if (name !== undefined && decided.includes(name)) {
      // Mistake `…: no token meets a requirement of …`: The administrator of each tenant decides what this claim says, and tokens of
      // any tenant are accepted. List the tenants, or let your own data say what a user may do.
      throw new TypeError(
        `${factory}: no token meets a requirement of ${JSON.stringify(name)}: the administrator of its tenant decides what it says`,
      )
    }
    const parts = own(each, 'parts')
    if (parts !== undefined) checkParts(factory, parts, decided)
  }
}

/** A requirement that somebody has made by hand may have any parts. */
function checkParts(factory: string, parts: unknown, decided: readonly string[]): void {
  if (!Array.isArray(parts) || !parts.every((each) => hasMethods(each, 'isMetBy'))) {
    // Mistake `…: the parts of a requirement must be requirements`: Let your own requirement combine requirements alone, such as
    // `scope('read')`.
    throw new TypeError(`${factory}: the parts of a requirement must be requirements`)
  }
  checkRequirementList(factory, parts, decided)
}

/**
 * @throws AuthError `insufficient_scope`, or `insufficient_user_authentication` with all that is asked for, so that the user logs in
 *   once. The cause is the first that is not met. @see RFC 6750 section 3.1; RFC 9470 section 3
 */
export async function checkRequirements(
  auth: Auth<unknown>,
  requirements: readonly Requirement[],
  acceptance?: Acceptance,
): Promise<void> {
  const unmet = await findUnmet(auth, requirements, acceptance)
  if (unmet === undefined) return
  const { requirement, answer } = unmet
  const { reason } = requirement
  const known = {
    cause: requirement,
    detail:
      own(requirement, 'explain')?.(asSigned(auth)) ?? notMet(requirement.description, answer),
  }
  if (reason === 'acr' || reason === 'age') {
    const all = stepUpOfAll(requirements.flatMap(flatten).map(stepUpOf))
    throw new AuthError('insufficient_user_authentication', reason, {
      ...known,
      acrValues: all.acr?.join(' '),
      maxAge: all.maxAge,
      scope: own(requirement, 'scope'),
    })
  }
  throw new AuthError('insufficient_scope', reason, { ...known, scope: own(requirement, 'scope') })
}

/** Own members, since the challenge names them. One that asks for something else as well, or instead, asks for none of it. */
export function stepUpOf(requirement: Requirement): StepUp {
  return isStepUp(requirement.reason)
    ? { acr: own(requirement, 'acr'), maxAge: own(requirement, 'maxAge') }
    : {}
}

export function isStepUp(reason: Requirement['reason']): boolean {
  return reason === 'acr' || reason === 'age'
}

export async function findUnmet(
  auth: Auth<unknown>,
  requirements: readonly Requirement[],
  acceptance: Acceptance = { output: auth.claims },
): Promise<{ requirement: Requirement; answer: unknown } | undefined> {
  for (const requirement of requirements.flatMap(flatten)) {
    const answer: unknown = await requirement.isMetBy(asSigned(auth), acceptance)
    // Only `true` counts: a function that forgets to return something must not let anybody in.
    if (answer !== true) return { requirement, answer }
  }
  return undefined
}

function flatten(requirement: Requirement): readonly Requirement[] {
  return own(requirement, 'parts')?.flatMap(flatten) ?? [requirement]
}

/** How a user has to authenticate for a route, where the token says how they have. RFC 9470. */
export interface StepUp {
  readonly acr?: readonly string[] | undefined
  readonly maxAge?: number | undefined
}

/** Ten years. */
const LONGEST_AGE = 315_360_000

export const isMaxAge: OptionCheck = seconds(1, LONGEST_AGE)

/** What all of some requirements ask for together: one challenge has one list of classes and one age. */
export function stepUpOfAll(each: readonly StepUp[]): StepUp {
  const lists = each.flatMap(({ acr: values }) => (values === undefined ? [] : [values]))
  const [first = [], ...others] = lists
  const common = first.filter((value) => others.every((values) => values.includes(value)))
  // No class is in all lists: then nothing meets them, and the client reads what the route wants.
  const wanted = common.length === 0 ? [...new Set(lists.flat())] : common
  return stepUp(wanted, Math.min(...agesOf(each)))
}

export function stepUpOfAny(each: readonly StepUp[]): StepUp {
  const lists = each.flatMap(({ acr: values }) => values ?? [])
  return stepUp([...new Set(lists)], Math.max(...agesOf(each)))
}

function stepUp(values: readonly string[], maxAge: number): StepUp {
  return {
    acr: values.length === 0 ? undefined : values,
    maxAge: Number.isFinite(maxAge) ? maxAge : undefined,
  }
}

function agesOf(each: readonly StepUp[]): readonly number[] {
  return each.flatMap(({ maxAge }) => maxAge ?? [])
}

/** RFC 9470 section 3: `acr_values` separates them by spaces. A quote or a backslash would have to be escaped. */
export function isAcr(value: unknown): value is string {
  return typeof value === 'string' && /^[!\u0023-\u005B\u005D-\u007E]+$/.test(value)
}

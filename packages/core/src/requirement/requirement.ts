import { isJsonObject, member } from '@portcullis/kit/json'
import { hasMethods, own } from '@portcullis/kit/options'

import type { Auth } from '../claims/auth.ts'
import { idTokenHint } from '../claims/details.ts'
import type { RequiredValue } from '../claims/required-claims.ts'
import { asSigned, signedClaims } from '../claims/signed-claims.ts'
import { isDecidedByTenant } from '../claims/tenants.ts'
import { checkScopes, joinedScopes } from '../ground/scopes.ts'
import type { Verifier } from '../verifier/verifier.ts'
import { decidedByTenant, lacksAll, lacksScopes, lacksValue } from './details.ts'
import { scopesOf, hasScopes } from './granted-scopes.ts'
import {
  checkRequirementList,
  findUnmet,
  isStepUp,
  type Requirement,
  stepUpOf,
  stepUpOfAll,
  stepUpOfAny,
} from './requirement-list.ts'

// The requirements that routes are given, except those about the log-in, and how several are combined.

/**
 * Requires every scope of a space-separated list. The scopes of a token are in its claims `scope` and `scp`, as a string or
 * as a list.
 *
 * @throws TypeError if `scopes` is not a list of scopes with single spaces between them.
 * @see RFC 6749 section 3.3; RFC 8693 section 4.2
 */
export function scope(scopes: string): Requirement
export function scope(...given: [scopes: string]): Requirement {
  checkCount('scope', given, 1)
  const [scopes] = given
  const wanted = checkScopes('scope', scopes)
  return {
    reason: 'scope',
    description: `scope ${scopes}`,
    scope: joinedScopes([scopes]),
    explain: (auth) => explainScopes(auth, wanted, `scope ${scopes}`),
    isMetBy: (auth) => wanted.every((each) => scopesOf(auth).has(each)),
  }
}

/**
 * Requires at least one scope of a space-separated list.
 *
 * @throws TypeError if `scopes` is not a list of scopes with single spaces between them.
 */
export function anyScope(scopes: string): Requirement
export function anyScope(...given: [scopes: string]): Requirement {
  checkCount('anyScope', given, 1)
  const [scopes] = given
  const wanted = checkScopes('anyScope', scopes)
  return {
    reason: 'scope',
    description: `any scope of ${scopes}`,
    scope: joinedScopes([scopes]),
    alternatives: wanted.map((each) => scope(each)),
    explain: (auth) => explainScopes(auth, wanted, `any scope of ${scopes}`),
    isMetBy: (auth) => wanted.some((each) => scopesOf(auth).has(each)),
  }
}

/**
 * Requires a value of a claim: one of the given values, or one for which the given function returns `true`. If the claim is a
 * list, one of its members must be a given value; a function gets the whole list.
 *
 * @param name The name of a claim, or the path of names to a nested claim.
 * @throws TypeError if the name or the values do not have these forms.
 */
export function claim(
  name: string | readonly string[],
  expected: RequiredValue | ((value: unknown) => boolean),
): Requirement
export function claim(...given: Parameters<typeof claim>): Requirement {
  checkCount('claim', given, 2)
  const [name, expected] = given
  const path: readonly string[] = [name].flat()
  if (!isListOf(path, (part) => typeof part === 'string')) {
    // Mistake `claim: the name must be a string or a list of strings`: `claim('role', 'admin')`; for a nested claim
    // `claim(['org', 'id'], ...)`.
    throw new TypeError('claim: the name must be a string or a list of strings')
  }
  const accepted = acceptedValues(expected)
  const matches =
    typeof expected === 'function'
      ? expected
      : (value: unknown) => [value].flat().some((each) => accepted?.includes(each) === true)
  const description = `claim ${path.join(' > ')}`
  const valueOf = (auth: Auth) =>
    path.reduce<unknown>(
      (parent, part) => (isJsonObject(parent) ? member(parent, part) : undefined),
      signedClaims(auth),
    )
  return {
    reason: 'claim',
    description,
    claim: path[0],
    explain: (auth) =>
      isDecidedByTenant(auth, path[0])
        ? decidedByTenant(description)
        : lacksValue(description, path, valueOf(auth), accepted),
    isMetBy(auth) {
      // No fault that is thrown: anybody can have such a token.
      if (isDecidedByTenant(auth, path[0])) return false
      const value = valueOf(auth)
      return value !== undefined && matches(value)
    },
  }
}

/**
 * Requires that a function returns `true`, or a promise of it. For any other result the request is refused. If the function
 * throws, the framework gets the error.
 *
 * @param decide Gets what the token proves, with the claims as they were signed, and what the schema of the verifier made of
 *   the claims.
 */
export function check(
  decide: (auth: Auth, output: unknown) => boolean | Promise<boolean>,
): Requirement
/**
 * The same, with the type that the schema of a verifier gives to its output.
 *
 * @param verifier The verifier of the guard before. If another one has let the request through, the framework gets a
 *   TypeError.
 */
export function check<Output>(
  verifier: Verifier<Output>,
  decide: (auth: Auth, output: Output) => boolean | Promise<boolean>,
): Requirement
export function check(
  ...given:
    | [decide: Parameters<typeof check>[1]]
    | [verifier: Verifier<unknown>, decide: Parameters<typeof check>[1]]
): Requirement {
  checkCount('check', given, 2)
  const [verifier, decide] = given.length === 1 ? [undefined, given[0]] : given
  if (given.length > 1 && !hasMethods(verifier, 'verify')) {
    // Mistake `check: the first of two arguments must be a verifier`: `check(fn)` or `check(verifier, fn)`. Combine functions
    // with `all()` or `any()`.
    throw new TypeError('check: the first of two arguments must be a verifier')
  }
  // Mistake `check: the decision must be a function`: `check((auth) => ...)`.
  if (typeof decide !== 'function') throw new TypeError('check: the decision must be a function')
  return {
    reason: 'check',
    description: decide.name === '' ? 'check' : `check ${decide.name}`,
    isMetBy(auth, { output, verifier: accepting = verifier } = { output: auth.claims }) {
      // The schema of another verifier may have made an output of another type.
      if (verifier !== undefined && accepting !== verifier) {
        // Mistake error-check-another-verifier `check: another verifier than that of check(verifier, ...) has let the request
        // through`: At a request: give `check` the verifier of the guard before it. Another schema may have made something else
        // of the claims.
        throw new TypeError(
          'check: another verifier than that of check(verifier, ...) has let the request through',
        )
      }
      return decide(asSigned(auth), output)
    },
  }
}

/**
 * Combines requirements: all must be met. The refusal is that of the first one that is not met.
 *
 * @throws TypeError without requirements.
 */
export function all(...requirements: readonly Requirement[]): Requirement {
  return {
    ...combined('all', requirements),
    ...stepUpOfAll(requirements.map(stepUpOf)),
    parts: requirements,
    async isMetBy(auth, acceptance) {
      return (await findUnmet(auth, requirements, acceptance)) === undefined
    },
  }
}

/**
 * Combines requirements: at least one must be met. They are tried in order.
 *
 * @throws TypeError without requirements.
 */
export function any(...requirements: readonly Requirement[]): Requirement {
  const known = combined('any', requirements)
  return {
    ...known,
    explain: (auth) =>
      lacksAll(
        known.description,
        requirements.flatMap((each) => own(each, 'explain')?.(auth) ?? []),
      ),
    ...stepUpOfAny(requirements.map(stepUpOf)),
    alternatives: requirements,
    async isMetBy(auth, acceptance) {
      for (const requirement of requirements) {
        if ((await findUnmet(auth, [requirement], acceptance)) === undefined) return true
      }
      return false
    },
  }
}

function explainScopes(auth: Auth, wanted: readonly string[], description: string): () => string {
  const granted = scopesOf(auth)
  const missing = wanted.filter((each) => !granted.has(each))
  return lacksScopes(missing, description, hasScopes(auth), idTokenHint(signedClaims(auth)))
}

/** The reason that all parts have, or else `check`; the scopes of all parts. */
function combined(
  word: string,
  requirements: readonly Requirement[],
): Pick<Requirement, 'reason' | 'description' | 'scope'> {
  checkRequirementList(word, requirements)
  const reasons = new Set(requirements.map(({ reason }) => reason))
  const [reason = 'check'] = reasons
  const isAlike = reasons.size === 1 || [...reasons].every(isStepUp)
  return {
    reason: isAlike ? reason : 'check',
    description: `${word} of (${requirements.map(({ description }) => description).join(', ')})`,
    scope: joinedScopes(requirements.map((each) => own(each, 'scope'))),
  }
}

/** Without types it is easy to write `scope('a', 'b')`; to ignore `'b'` would let more people in than was meant. */
function checkCount(factory: string, given: readonly unknown[], count: number): void {
  if (given.length <= count) return
  // Mistake `…: takes …`: Combine several requirements with `all(...)` or `any(...)`.
  throw new TypeError(
    `${factory}: takes ${count === 1 ? 'one argument' : `${count} arguments`}; combine requirements with all() or any()`,
  )
}

/** @returns `undefined` where a function decides. */
function acceptedValues(expected: Parameters<typeof claim>[1]): readonly unknown[] | undefined {
  if (typeof expected === 'function') return undefined
  const accepted: readonly unknown[] = [expected].flat()
  if (!isListOf(accepted, (each) => ['string', 'number', 'boolean'].includes(typeof each))) {
    // Mistake `claim: the values must be strings, numbers or booleans`: For anything else give a function.
    throw new TypeError('claim: the values must be strings, numbers or booleans')
  }
  return accepted
}

function isListOf(values: unknown, isOne: (value: unknown) => boolean): boolean {
  return Array.isArray(values) && values.length > 0 && values.every(isOne)
}

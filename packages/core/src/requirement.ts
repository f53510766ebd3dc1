import type { Auth } from './auth.ts'
import { idTokenHint } from './details/claims.ts'
import { lacksScopes, lacksValue, notMet } from './details/requirement.ts'
import { AuthError } from './errors.ts'
import { isJsonObject, member } from './json.ts'
import { hasMethods, own } from './options.ts'
import { checkScopes, grantedScopes, hasScopes, isScope } from './scopes.ts'

/** What a route requires of a verified token. A plain value: several routes can share it, and a test needs no server. */
export interface Requirement {
  /** The reason of the refusal when it is not met. */
  readonly reason: 'scope' | 'claim' | 'check'
  /** What it asks for, in words for developers. The client never sees them. */
  readonly description: string
  /** The scopes that the challenge names: a space-separated list (RFC 6750 section 3). Read as an own member. */
  readonly scope?: string | undefined
  /** Requirements that all have to be met instead of this one. The refusal is that of the first one that is not. */
  readonly parts?: readonly Requirement[] | undefined
  /** What a token lacks that does not meet it, in a sentence for developers without values of claims. Read as an own member. */
  readonly explain?: ((auth: Auth) => () => string) | undefined
  isMetBy(auth: Auth): boolean | Promise<boolean>
}

export type ClaimValue = string | number | boolean

type Expected = ClaimValue | readonly ClaimValue[] | ((value: unknown) => boolean)
type Decision = (auth: Auth) => boolean | Promise<boolean>

const REASONS = ['scope', 'claim', 'check'] as const

/**
 * Requires every scope of a space-separated list. The claims `scope` and `scp` grant them, as a text or as a list.
 *
 * @throws TypeError if the list is not one of scope tokens with single spaces between them.
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
    scope: scopes,
    explain: (auth) => explainScopes(auth, wanted, `scope ${scopes}`),
    isMetBy: (auth) => wanted.every((each) => grantedScopes(auth).has(each)),
  }
}

/**
 * Requires one scope of a space-separated list.
 *
 * @throws TypeError if the list is not one of scope tokens with single spaces between them.
 */
export function anyScope(scopes: string): Requirement
export function anyScope(...given: [scopes: string]): Requirement {
  checkCount('anyScope', given, 1)
  const [scopes] = given
  const wanted = checkScopes('anyScope', scopes)
  return {
    reason: 'scope',
    description: `any scope of ${scopes}`,
    scope: scopes,
    explain: (auth) => explainScopes(auth, wanted, `any scope of ${scopes}`),
    isMetBy: (auth) => wanted.some((each) => grantedScopes(auth).has(each)),
  }
}

/**
 * Requires a value of a claim: one of those that are given, or one for which a function answers `true`. A claim that is a
 * list meets it if one of its members is such a value; the function gets the whole list.
 *
 * @param name A claim's name, or the path of names to a nested one.
 * @throws TypeError if the name or the values are not of these forms.
 */
export function claim(name: string | readonly string[], expected: Expected): Requirement
export function claim(
  ...given: [name: string | readonly string[], expected: Expected]
): Requirement {
  checkCount('claim', given, 2)
  const [name, expected] = given
  const path: readonly string[] = [name].flat()
  if (!isListOf(path, (part) => typeof part === 'string')) {
    throw new TypeError('claim: the name must be a string or a list of strings')
  }
  const matches = matcher(expected)
  const description = `claim ${path.join(' > ')}`
  const valueOf = ({ claims }: Auth) =>
    path.reduce<unknown>(
      (parent, part) => (isJsonObject(parent) ? member(parent, part) : undefined),
      claims,
    )
  return {
    reason: 'claim',
    description,
    explain: (auth) => lacksValue(description, valueOf(auth) === undefined),
    isMetBy(auth) {
      const value = valueOf(auth)
      return value !== undefined && matches(value)
    },
  }
}

/**
 * Requires that a function answers `true`. For any other answer the request is refused. What the function throws goes to
 * the framework as it is.
 */
export function check(decide: Decision): Requirement
export function check(...given: [decide: Decision]): Requirement {
  checkCount('check', given, 1)
  const [decide] = given
  if (typeof decide !== 'function') throw new TypeError('check: the decision must be a function')
  return {
    reason: 'check',
    description: decide.name === '' ? 'check' : `check ${decide.name}`,
    isMetBy: decide,
  }
}

/**
 * Requires all of some requirements, as one value. The refusal is that of the first one that is not met.
 *
 * @throws TypeError without any.
 */
export function all(...requirements: readonly Requirement[]): Requirement {
  return {
    ...combined('all', requirements),
    parts: requirements,
    async isMetBy(auth) {
      return (await findUnmet(auth, requirements)) === undefined
    },
  }
}

/**
 * Requires one of some requirements, tried in order.
 *
 * @throws TypeError without any.
 */
export function any(...requirements: readonly Requirement[]): Requirement {
  return {
    ...combined('any', requirements),
    async isMetBy(auth) {
      for (const requirement of requirements) {
        if ((await findUnmet(auth, [requirement])) === undefined) return true
      }
      return false
    },
  }
}

/**
 * Checks what a route requires, at start-up.
 *
 * @throws TypeError without any requirement, which would let everybody with a token in, and for anything else than
 *   requirements.
 */
export function checkRequirementList(factory: string, requirements: readonly Requirement[]): void {
  if (requirements.length === 0) {
    throw new TypeError(`${factory}: there must be at least one requirement`)
  }
  if (!requirements.every((each) => hasMethods(each, 'isMetBy'))) {
    throw new TypeError(
      `${factory}: each argument must be a requirement, as in ${factory}(scope('read'))`,
    )
  }
  for (const each of requirements) {
    if (!REASONS.includes(each.reason)) {
      throw new TypeError(`${factory}: the reason of a requirement must be ${REASONS.join(' or ')}`)
    }
    const wanted = own(each, 'scope')
    if (wanted !== undefined && !isScope(wanted)) {
      throw new TypeError(`${factory}: the scope of a requirement must be a list of scopes`)
    }
    const parts = own(each, 'parts')
    if (parts !== undefined) checkParts(factory, parts)
  }
}

/** A requirement that somebody has made by hand may have any parts. */
function checkParts(factory: string, parts: unknown): void {
  if (!Array.isArray(parts) || !parts.every((each) => hasMethods(each, 'isMetBy'))) {
    throw new TypeError(`${factory}: the parts of a requirement must be requirements`)
  }
  checkRequirementList(factory, parts)
}

/**
 * @throws AuthError `insufficient_scope`, whose cause is the first requirement that is not met.
 * @see RFC 6750 section 3.1
 */
export async function checkRequirements(
  auth: Auth,
  requirements: readonly Requirement[],
): Promise<void> {
  const unmet = await findUnmet(auth, requirements)
  if (unmet === undefined) return
  const { requirement, answer } = unmet
  throw new AuthError('insufficient_scope', requirement.reason, {
    scope: own(requirement, 'scope'),
    cause: requirement,
    detail: own(requirement, 'explain')?.(auth) ?? notMet(requirement.description, answer),
  })
}

async function findUnmet(
  auth: Auth,
  requirements: readonly Requirement[],
): Promise<{ requirement: Requirement; answer: unknown } | undefined> {
  for (const requirement of requirements.flatMap(flatten)) {
    const answer: unknown = await requirement.isMetBy(auth)
    // Only `true` counts: a function that forgets to return something must not let anybody in.
    if (answer !== true) return { requirement, answer }
  }
  return undefined
}

function flatten(requirement: Requirement): readonly Requirement[] {
  return own(requirement, 'parts')?.flatMap(flatten) ?? [requirement]
}

function explainScopes(auth: Auth, wanted: readonly string[], description: string): () => string {
  const granted = grantedScopes(auth)
  const missing = wanted.filter((each) => !granted.has(each))
  return lacksScopes(missing, description, hasScopes(auth), idTokenHint(auth.claims))
}

/** The reason that all parts have, or else `check`; the scopes of all parts. */
function combined(
  word: string,
  requirements: readonly Requirement[],
): Pick<Requirement, 'reason' | 'description' | 'scope'> {
  checkRequirementList(word, requirements)
  const reasons = new Set(requirements.map(({ reason }) => reason))
  const [reason = 'check'] = reasons
  const scopes = requirements.map((each) => own(each, 'scope')).filter((each) => each !== undefined)
  return {
    reason: reasons.size === 1 ? reason : 'check',
    description: `${word} of (${requirements.map(({ description }) => description).join(', ')})`,
    scope: scopes.length === 0 ? undefined : scopes.join(' '),
  }
}

/** Without types it is easy to write `scope('a', 'b')`; to ignore `'b'` would let more people in than was meant. */
function checkCount(factory: string, given: readonly unknown[], count: number): void {
  if (given.length <= count) return
  throw new TypeError(
    `${factory}: takes ${count === 1 ? 'one argument' : `${count} arguments`}; combine requirements with all() or any()`,
  )
}

function matcher(expected: Expected): (value: unknown) => boolean {
  if (typeof expected === 'function') return expected
  const accepted: readonly unknown[] = [expected].flat()
  if (!isListOf(accepted, (each) => ['string', 'number', 'boolean'].includes(typeof each))) {
    throw new TypeError('claim: the values must be strings, numbers or booleans')
  }
  return (value) => [value].flat().some((each) => accepted.includes(each))
}

function isListOf(values: unknown, isOne: (value: unknown) => boolean): boolean {
  return Array.isArray(values) && values.length > 0 && values.every(isOne)
}

import type { Auth } from './auth.ts'
import { AuthError } from './errors.ts'
import { isJsonObject, member } from './json.ts'
import { hasMethods } from './options.ts'

/** What a route wants of a verified token. A value: name it, share it, test it without a server. */
export interface Requirement {
  /** The reason of the refusal when it is not met. */
  readonly reason: 'scope' | 'claim' | 'check'
  /** What it asks for, for developers. The client never sees it. */
  readonly description: string
  /** What the client is told to ask for: a space-separated list (RFC 6750 section 3). */
  readonly scope?: string | undefined
  /** Requirements that all have to be met, each of which refuses for itself. */
  readonly parts?: readonly Requirement[]
  isMetBy(auth: Auth): boolean | Promise<boolean>
}

export type ClaimValue = string | number | boolean

/** RFC 6749 section 3.3. */
const SCOPE = /^[\u0021\u0023-\u005B\u005D-\u007E]+(?: [\u0021\u0023-\u005B\u005D-\u007E]+)*$/

/**
 * Requires every scope of a space-separated list. The claims `scope` and `scp` grant them, as a text or as a list.
 *
 * @throws TypeError if the list is not one of scope tokens with single spaces between them.
 * @see RFC 6749 section 3.3; RFC 8693 section 4.2
 */
export function scope(scopes: string): Requirement {
  const wanted = checkScopes('scope', scopes)
  return {
    reason: 'scope',
    description: `scope ${scopes}`,
    scope: scopes,
    isMetBy: (auth) => wanted.every((each) => grantedScopes(auth).has(each)),
  }
}

/**
 * Requires one scope of a space-separated list.
 *
 * @throws TypeError if the list is not one of scope tokens with single spaces between them.
 */
export function anyScope(scopes: string): Requirement {
  const wanted = checkScopes('anyScope', scopes)
  return {
    reason: 'scope',
    description: `any scope of ${scopes}`,
    scope: scopes,
    isMetBy: (auth) => wanted.some((each) => grantedScopes(auth).has(each)),
  }
}

/**
 * Requires a value of a claim: one of those given, as which a list that contains it counts as well, or what a function,
 * given the whole value, answers `true` for.
 *
 * @param name A claim's name, or the path of names to a nested one.
 * @throws TypeError if the name or the values are not of these forms.
 */
export function claim(
  name: string | readonly string[],
  expected: ClaimValue | readonly ClaimValue[] | ((value: unknown) => boolean),
): Requirement {
  const path: readonly string[] = [name].flat()
  if (!isListOf(path, (part) => typeof part === 'string')) {
    throw new TypeError('claim: the name must be a string or a list of strings')
  }
  const matches = matcher(expected)
  return {
    reason: 'claim',
    description: `claim ${path.join(' > ')}`,
    isMetBy({ claims }) {
      const value = path.reduce<unknown>(
        (parent, part) => (isJsonObject(parent) ? member(parent, part) : undefined),
        claims,
      )
      return value !== undefined && matches(value)
    },
  }
}

/**
 * Requires what a function decides. Anything but `true` refuses; what the function throws is a fault of the
 * application, not a refusal.
 */
export function check(decide: (auth: Auth) => boolean | Promise<boolean>): Requirement {
  if (typeof decide !== 'function') throw new TypeError('check: the decision must be a function')
  return {
    reason: 'check',
    description: decide.name === '' ? 'check' : `check ${decide.name}`,
    isMetBy: decide,
  }
}

/**
 * Requires all of some requirements, as one value. The first that is not met refuses for itself.
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
 * @throws TypeError without any requirement, which would let everybody with a token in, and for what is none.
 */
export function checkRequirementList(factory: string, requirements: readonly Requirement[]): void {
  if (requirements.length === 0) {
    throw new TypeError(`${factory}: there must be at least one requirement`)
  }
  if (!requirements.every((each) => hasMethods(each, 'isMetBy'))) {
    throw new TypeError(`${factory}: each argument must be a requirement, such as scope('read')`)
  }
  if (!requirements.every(({ scope: wanted }) => wanted === undefined || isScope(wanted))) {
    throw new TypeError(`${factory}: the scope of a requirement must be a list of scopes`)
  }
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
  const { reason, scope: wanted } = unmet
  throw new AuthError('insufficient_scope', reason, { scope: wanted, cause: unmet })
}

async function findUnmet(
  auth: Auth,
  requirements: readonly Requirement[],
): Promise<Requirement | undefined> {
  for (const requirement of requirements.flatMap(flatten)) {
    const answer: unknown = await requirement.isMetBy(auth)
    // Exactly `true`: a function that forgets to answer must not let anybody in.
    if (answer !== true) return requirement
  }
  return undefined
}

function flatten(requirement: Requirement): readonly Requirement[] {
  return requirement.parts?.flatMap(flatten) ?? [requirement]
}

/** What a combination shows of itself: the reason that its parts share, and every scope among them. */
function combined(
  word: string,
  requirements: readonly Requirement[],
): Pick<Requirement, 'reason' | 'description' | 'scope'> {
  checkRequirementList(word, requirements)
  const reasons = new Set(requirements.map(({ reason }) => reason))
  const [reason = 'check'] = reasons
  const scopes = requirements.map((each) => each.scope).filter((each) => each !== undefined)
  return {
    reason: reasons.size === 1 ? reason : 'check',
    description: `${word} of (${requirements.map(({ description }) => description).join(', ')})`,
    scope: scopes.length === 0 ? undefined : scopes.join(' '),
  }
}

function checkScopes(factory: string, scopes: string): readonly string[] {
  if (!isScope(scopes)) {
    throw new TypeError(
      `${factory}: ${JSON.stringify(scopes)} is not a space-separated list of scopes`,
    )
  }
  return scopes.split(' ')
}

function grantedScopes({ claims }: Auth<unknown>): ReadonlySet<unknown> {
  if (!isJsonObject(claims)) return new Set()
  return new Set([member(claims, 'scope'), member(claims, 'scp')].flatMap(scopeList))
}

function scopeList(claimed: unknown): readonly unknown[] {
  if (typeof claimed === 'string') return claimed.split(' ')
  return Array.isArray(claimed) ? claimed : []
}

function matcher(
  expected: ClaimValue | readonly ClaimValue[] | ((value: unknown) => boolean),
): (value: unknown) => boolean {
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

function isScope(value: unknown): value is string {
  return typeof value === 'string' && SCOPE.test(value)
}

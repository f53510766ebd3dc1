import type { Auth } from './auth.ts'
import { AuthError } from './errors.ts'
import { isJsonObject, member } from './json.ts'

/** What a route wants of a verified token. A value: name it, share it, test it without a server. */
export interface Requirement {
  /** The reason of the refusal when it is not met. */
  readonly reason: 'scope' | 'claim' | 'check'
  /** What it asks for, for developers. The client never sees it. */
  readonly description: string
  /** What the client is told to ask for: a space-separated list (RFC 6750 section 3). */
  readonly scope?: string
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
  if (typeof scopes !== 'string' || !SCOPE.test(scopes)) {
    throw new TypeError(`scope: ${JSON.stringify(scopes)} is not a space-separated list of scopes`)
  }
  const wanted = scopes.split(' ')
  return {
    reason: 'scope',
    description: `scope ${scopes}`,
    scope: scopes,
    isMetBy({ claims }) {
      const granted = new Set([member(claims, 'scope'), member(claims, 'scp')].flatMap(scopeList))
      return wanted.every((each) => granted.has(each))
    },
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
 * @throws AuthError `insufficient_scope`, whose cause is the first requirement that is not met.
 * @see RFC 6750 section 3.1
 */
export async function checkRequirements(
  auth: Auth,
  requirements: readonly Requirement[],
): Promise<void> {
  for (const requirement of requirements) {
    const answer: unknown = await requirement.isMetBy(auth)
    // Exactly `true`: a function that forgets to answer must not let anybody in.
    if (answer !== true) {
      const { reason, scope: wanted } = requirement
      throw new AuthError('insufficient_scope', reason, { scope: wanted, cause: requirement })
    }
  }
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

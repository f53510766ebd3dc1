// The syntax of scopes.

/** RFC 6749 section 3.3. */
const SCOPE = /^[\u0021\u0023-\u005B\u005D-\u007E]+(?: [\u0021\u0023-\u005B\u005D-\u007E]+)*$/

/** The scopes of a list with single spaces between them. @throws TypeError for anything else. */
export function checkScopes(factory: string, scopes: string): readonly string[] {
  if (!isScope(scopes)) {
    // Mistake `…: … is not a space-separated list of scopes`: Write one string with spaces: `scope('read write')`.
    throw new TypeError(
      `${factory}: ${JSON.stringify(scopes)} is not a space-separated list of scopes`,
    )
  }
  return scopes.split(' ')
}

/** One scope, or a list of them. */
export function isScope(value: unknown): value is string {
  return typeof value === 'string' && SCOPE.test(value)
}

/** One scope, not a list of them. */
export function isOneScope(value: unknown): value is string {
  return isScope(value) && !value.includes(' ')
}

/** Each scope of some lists once; `undefined` if there is no list. */
export function joinedScopes(lists: readonly (string | undefined)[]): string | undefined {
  const scopes = new Set(lists.flatMap((each) => each?.split(' ') ?? []))
  return scopes.size === 0 ? undefined : [...scopes].join(' ')
}

import { isTooDeep, parseJson } from '@portcullis/kit/json'

// Finds the token in an answer, and reads its times unverified. These plan renewals and decide nothing else.

/**
 * Where the token is in the answer to a login. `auto` accepts a body that is the token itself, a JSON string, or a JSON
 * object with one of the usual fields. `{ field }` names the field. A function finds the token in the body or the headers,
 * such as `(_body, { headers }) => headers.get('x-token')`. It returns the token without `Bearer `, and not as a promise.
 */
export type ResponseFormat =
  | 'auto'
  | { readonly field: string }
  | ((body: string, answer: LoginAnswer) => string | null | undefined)

/** What came with the body of an answer to a login. */
export interface LoginAnswer {
  /** Looks a header up by its name, in any case; `null` if it is missing. */
  readonly headers: { get(name: string): string | null }
}

const USUAL_FIELDS = ['access_token', 'accessToken', 'token', 'jwt']

/** `undefined` if nothing looks like a token, or if two differ. @throws TypeError if the function gave a promise. */
export function findToken(
  body: string,
  format: ResponseFormat,
  answer: LoginAnswer,
): string | undefined {
  // Also before a function reads the body, which may parse it.
  if (isTooDeep(body)) return undefined
  const found =
    typeof format === 'function' ? [call(() => format(body, answer))] : candidates(body, format)
  const [token, ...others] = new Set(found.filter(isJwt))
  return others.length === 0 ? token : undefined
}

function call(find: () => unknown): unknown {
  const { found, isPromise } = callUnsafe(find)
  if (!isPromise) return found
  Promise.resolve(found).catch(() => {
    // Otherwise it would be an unhandled rejection, which may quote the body.
  })
  // Mistake `response: the function must give the token at once`: Return the token itself, not a promise: the answer has been
  // read already.
  throw new TypeError('response: the function must give the token at once, not a promise')
}

/** What the function throws may quote the answer, so it counts as an answer without a token. */
function callUnsafe(find: () => unknown) {
  try {
    const found = find()
    return { found, isPromise: typeof Reflect.get(Object(found), 'then') === 'function' }
  } catch {
    return { found: undefined, isPromise: false }
  }
}

function candidates(body: string, format: 'auto' | { readonly field: string }): unknown[] {
  const value = parseJson(body)
  if (format !== 'auto') return membersOf(value, [format.field])
  return [body.trim(), value, ...membersOf(value, USUAL_FIELDS)]
}

/** JSON `null` is what is not there. */
export function membersOf(value: unknown, names: readonly string[]): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  return names
    .filter((name) => Object.hasOwn(value, name))
    .map((name): unknown => Reflect.get(value, name))
    .filter((member) => member !== null)
}

/** RFC 6749 section 5.2. */
export function errorIn(body: string): unknown {
  return membersOf(parseJson(body), ['error'])[0]
}

/** What has no claims that can be read is refused by every API, and its time is unknown. RFC 7515 section 7.1; RFC 7519 section 7.2 */
function isJwt(value: unknown): value is string {
  if (typeof value !== 'string') return false
  const [, header, payload] = /^([\w-]+)\.([\w-]+)\.[\w-]+$/.exec(value) ?? []
  if (header === undefined || payload === undefined) return false
  return typeof readObject(header)?.['alg'] === 'string' && readObject(payload) !== undefined
}

/** The claim `exp`, unverified: used to plan the renewal, and for no other decision. */
export function expiryOf(token: string): number | undefined {
  const { exp } = claimsOf(token)
  return isNumericDate(exp) ? exp : undefined
}

/** Seconds from `iat` to `exp`, unverified as well; `Infinity` if the token lacks one of them. */
export function validityOf(token: string): number {
  const { iat, exp } = claimsOf(token)
  return isNumericDate(iat) && isNumericDate(exp) ? exp - iat : Infinity
}

/** The thumbprint of the key that a token says it is bound to, unverified as well. RFC 9449 section 6.1. */
export function boundKeyOf(token: string): unknown {
  return membersOf(claimsOf(token)['cnf'], ['jkt'])[0]
}

/** Unverified; none of what is no JWT. */
export function claimsOf(token: string): Readonly<Record<string, unknown>> {
  const [, payload = ''] = token.split('.')
  return readObject(payload) ?? {}
}

export function isNumericDate(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

function readObject(encoded: string): Readonly<Record<string, unknown>> | undefined {
  const value = parseJson(Buffer.from(encoded, 'base64url').toString())
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? { ...value } : undefined
}

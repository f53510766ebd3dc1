import { isJsonObject, type JsonObject } from '@portcullis/kit/json'

import {
  counted,
  type Detail,
  duration,
  JSON_OBJECT,
  kindOf,
  listed,
  looksLikeMilliseconds,
  type NumberedDetail,
  numberOf,
  printable,
  shown,
} from '../refusal/text.ts'

// What refusals of proven claims tell developers. Of `iss`, `aud`, times and a few others they show the value.

/** What `typ` may name. With `null`, also nothing. */
export type AcceptedTypes = readonly (string | null)[]

/** @param types What is accepted; `undefined` if only other kinds of tokens are refused. */
export function otherType(typ: string | undefined, types: AcceptedTypes | undefined): Detail {
  return () => {
    const found = typ === undefined ? 'the header has no typ' : `the header's typ is ${shown(typ)}`
    if (types === undefined) return `${found}, which is no access token; to accept it, state type`
    const named = types.filter((each) => each !== null)
    const none = named.length < types.length ? ', or none' : ''
    return `${found}; expected ${named.length > 1 ? 'one of ' : ''}${listed(named)}${none}`
  }
}

export const securityEvent: Detail = () =>
  'the claims have events, as a log-out token and other security events have, which give no access; to accept it, state its type'

export const unreadablePayload: Detail = () => `the payload is not ${JSON_OBJECT}`

export const missingExpiry: Detail = () =>
  'exp is missing; only requireExpiry: false accepts a token that never expires'

export const missingIssueTime: Detail = () => 'iat is missing, and maxTokenAge needs it'

/** @param missing `values` is the list of those that are accepted, or a word where there is none. */
export function missingClaims(
  missing: readonly { readonly name: string; readonly values: unknown }[],
): Detail {
  const names = missing.map(({ name }) => name)
  return () => {
    const verb = names.length === 1 ? 'is' : 'are'
    const expected = missing.slice(0, 3).flatMap(({ name, values }) => {
      if (!Array.isArray(values)) return []
      return names.length === 1
        ? [acceptedText(values)]
        : [`${shown(name)} ${acceptedText(values)}`]
    })
    const more = expected.length === 0 ? '' : `; expected ${expected.join(' and ')}`
    return `requiredClaims: ${listed(names)} ${verb} missing${more}`
  }
}

export function otherValue(name: string, value: unknown, expected: readonly unknown[]): Detail {
  const found = foundText(name, value)
  return () => `requiredClaims: ${shown(name)} is ${found}; expected ${acceptedText(expected)}`
}

/** For `true` in `requiredClaims`. */
export function noAffirmation(name: string, value: unknown): Detail {
  const found = value === false ? 'false' : foundText(name, value)
  return () =>
    `requiredClaims: ${shown(name)} is ${found}; where true is required, it must be true, a number other than 0, or a text other than "" and "false"`
}

/** For `pathUnder` in `requiredClaims`. */
export function noPath(
  name: string,
  value: unknown,
  { pathUnder }: { readonly pathUnder: string },
): Detail {
  const found = foundText(name, value)
  return () =>
    `requiredClaims: ${shown(name)} is ${found}; it must be ${shown(pathUnder)} and a path behind it`
}

/** Their values name a client, a tenant, a version or a kind, and never a user. */
const SHOWN: ReadonlySet<string> = new Set([
  'azp',
  'client_id',
  'appid',
  'tid',
  'ver',
  'token_use',
  'acr',
])

/** The value of a claim as far as a log may have it. It may be of any user, such as an address: of most only what kind it is. */
export function foundText(name: string, value: unknown): string {
  if (typeof value === 'number') return String(value)
  if (typeof value === 'string' && SHOWN.has(name)) return shown(value)
  if (Array.isArray(value)) return `a list of ${counted(value.length)}`
  return isJsonObject(value)
    ? `an object of ${numberOf(Object.keys(value).length, 'member')}`
    : kindOf(value)
}

/** The accepted values of a claim, as whoever configured them wrote them. */
export function acceptedText(values: readonly unknown[]): string {
  const texts = values
    .slice(0, MAX_WANTED)
    .map((each) => (typeof each === 'string' ? shown(each) : String(each)))
  const others = values.length - texts.length
  const more = others > 0 ? [`${counted(others)} more`] : []
  return `${values.length > 1 ? 'one of ' : ''}${[...texts, ...more].join(', ')}`
}

const MAX_WANTED = 3

export function notNumber(name: string, value: unknown): Detail {
  const kind = kindOf(value)
  return () => `${name} is ${kind}; it must be a number of seconds since 1970-01-01T00:00:00Z`
}

export function notSeconds(name: string, value: number): NumberedDetail {
  const text = `${name} is in milliseconds or finer; it must be in seconds`
  return () => ({ text, numbers: { [name]: value } })
}

export function noTime(now: unknown): Detail {
  return () => `the verifier's clock shows ${String(now)}, which is no time`
}

export interface WrongTime {
  readonly name: 'exp' | 'nbf' | 'iat'
  readonly at: number
  readonly now: number
  /** The option or the tolerance that the distance was compared with, and its value in seconds. */
  readonly limit: readonly [name: string, value: number]
  readonly iat: number | undefined
}

export function wrongTime(time: WrongTime): NumberedDetail {
  return () => {
    const { name, at, now, limit, iat } = time
    const side = at <= now ? 'was before' : 'is after'
    const text = `${name} ${side} now, by ${limit[0]} (${duration(limit[1])}) or more${clockHint(time)}`
    return { text, numbers: { ...(iat !== undefined && { iat }), [name]: at, now } }
  }
}

/** A clock that is wrong shows in a token that has just been issued, and the reader knows how old this one is. */
function clockHint({ name, at, now, iat }: WrongTime): string {
  if (looksLikeMilliseconds(now)) return ': does the clock count milliseconds? It must be seconds'
  if (at > now) return ": is this clock slow, or the issuer's fast?"
  if (name !== 'exp' || iat === undefined || iat > at) return ''
  return '; if it is newer than its iat says, one of the clocks is wrong'
}

export function otherIssuer(claims: JsonObject, expected: readonly string[]): Detail {
  const iss = Object.hasOwn(claims, 'iss') ? claims['iss'] : undefined
  return mismatch('iss', [iss], 1, expected, '')
}

export function otherAudience(claims: JsonObject, audience: readonly (string | null)[]): Detail {
  const expected = audience.filter((each) => each !== null)
  const aud = Object.hasOwn(claims, 'aud') ? claims['aud'] : undefined
  if (Array.isArray(aud) && !aud.every((each) => typeof each === 'string')) {
    return mismatch('aud', aud.slice(0, 3), aud.length, expected, NO_STRING)
  }
  // Not the list itself, which may be long.
  const [found, count] = Array.isArray(aud) ? [aud.slice(0, 3), aud.length] : [[aud], 1]
  return mismatch('aud', found, count, expected, idTokenHint(claims))
}

/** For a token that names no audience. @param claim The claim that says which client it was issued to. */
export function otherClient(claim: string, found: unknown, expected: readonly string[]): Detail {
  const said = mismatch(claim, [found], 1, expected, '')
  return () => `there is no aud; ${said()}`
}

export function lacksScopeOfResource(scope: string): Detail {
  return () =>
    `there is no aud, and the token lacks the scope of this resource: expected ${shown(scope)}`
}

/** @see OpenID Connect Core 1.0 sections 2 and 3.1.3.6 */
export function idTokenHint(claims: unknown): string {
  const isIdToken =
    isJsonObject(claims) && (Object.hasOwn(claims, 'nonce') || Object.hasOwn(claims, 'at_hash'))
  return isIdToken
    ? '; it has nonce or at_hash, as an ID token has: an API takes the access token instead'
    : ''
}

const NO_STRING = '; the list has something that is no string'

/** Characters. Issuers of Entra begin alike for 34 of them, and have the tenant behind that. */
const LONGEST_NAME = 96

/** @param found One that is `undefined` is missing: JSON has none. */
function mismatch(
  name: string,
  found: readonly unknown[],
  count: number,
  expected: readonly string[],
  hint: string,
): Detail {
  return () => {
    const names = listed(expected, expected.length, LONGEST_NAME)
    const wanted = `expected ${expected.length > 1 ? 'one of ' : ''}${names}`
    if (count > 0 && found[0] === undefined) return `${name} is missing; ${wanted}${hint}`
    return `${name} is ${listed(found, count, LONGEST_NAME)}; ${wanted}${difference(found, expected)}${hint}`
  }
}

const NEAR_MISSES: readonly (readonly [what: string, normal: (text: string) => string])[] = [
  ['in the slash at the end', (text) => text.replace(/\/$/, '')],
  ['in http and https', (text) => text.replace(/^https:/, 'http:')],
  ['in upper and lower case', (text) => text.toLowerCase()],
  ['in white space around it', (text) => text.trim()],
]

function difference(found: readonly unknown[], expected: readonly string[]): string {
  const texts = found
    .filter((each) => typeof each === 'string')
    .filter((each) => !expected.includes(each))
  for (const [what, normal] of NEAR_MISSES) {
    const wanted = new Set(expected.map(normal))
    if (texts.some((each) => wanted.has(normal(each)))) return `; they differ only ${what}`
  }
  return ''
}

const MAX_PATHS = 5
const THE_WHOLE = 'the claims as a whole'

/** Where a schema found something wrong; not what: messages may quote values. Taken at once: a list of issues may be used again. */
export function schemaIssues(issues: readonly unknown[]): Detail {
  const { paths, others } = placesOf(issues)
  return () => {
    const more = others > 0 ? ` and ${numberOf(others, 'other place')}` : ''
    return `the schema does not accept ${paths.join(', ')}${more}`
  }
}

function placesOf(issues: readonly unknown[]): { paths: readonly string[]; others: number } {
  try {
    const paths = issues.slice(0, MAX_PATHS).map(pathOf)
    return { paths, others: issues.length - paths.length }
  } catch {
    // It is no list, or something in it cannot be read.
  }
  return { paths: [THE_WHOLE], others: 0 }
}

/** @see https://standardschema.dev: a path has keys, or objects with a `key` */
function pathOf(issue: unknown): string {
  const path: unknown = Reflect.get(Object(issue), 'path')
  if (!Array.isArray(path) || path.length === 0) return THE_WHOLE
  const keys = path
    .slice(0, MAX_PATHS)
    .map((part: unknown): unknown =>
      typeof part === 'object' ? Reflect.get(Object(part), 'key') : part,
    )
  return printable(keys.map(String).join('.'), 64)
}

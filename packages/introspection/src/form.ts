import { isJsonObject, member, parseUnambiguousObject } from '@portcullis/kit/json'
import type { OptionCheck } from '@portcullis/kit/options'

// What can be told of a token by its text alone: pure functions.

/** How every token of an issuer looks. Plain data, so that it costs nothing to refuse by it. */
export interface TokenForm {
  /** The shortest and the longest token. Characters. */
  readonly length?: readonly [min: number, max: number] | undefined
  /** What every token begins with. */
  readonly prefix?: string | undefined
  /**
   * All characters that tokens are made of: printable ASCII without white space, commas, quotes, semicolons and percent signs.
   * Guards let through what is made of these.
   * @default the characters of a bearer token (RFC 6750 section 2.1)
   */
  readonly alphabet?: string | undefined
}

/** @see RFC 6750 section 2.1 */
const BEARER = /^[\w.~+/-]+=*$/
/** What no guard lets through, and `%`: an issuer may decode a token twice, and find one in it that the form keeps away from it. */
const SEPARATING = /[^!-~]|[",';%]/

export const isForm: OptionCheck = (value) => {
  if (!isJsonObject(value) || Object.keys(value).length === 0) {
    return 'must be an object with length, prefix or alphabet'
  }
  const unknown = Object.keys(value).find(
    (name) => !['length', 'prefix', 'alphabet'].includes(name),
  )
  if (unknown !== undefined) return `has the unknown member ${JSON.stringify(unknown)}`
  const length = member(value, 'length')
  if (length !== undefined && !isRange(length)) {
    return 'must have as length [min, max], from 1 to 65536'
  }
  const isText = (name: string) => {
    const text = member(value, name)
    return text === undefined || (typeof text === 'string' && text !== '')
  }
  if (!isText('prefix')) return 'must have as prefix a string that is not empty'
  if (!isText('alphabet')) return 'must have as alphabet a string that is not empty'
  return contradictionIn(value)
}

/** A form that no request could meet would refuse everybody, at the first one. */
function contradictionIn({ length, prefix = '', alphabet }: TokenForm): string | undefined {
  if (alphabet !== undefined && SEPARATING.test(alphabet)) {
    return 'must have as alphabet printable ASCII characters other than commas, quotes, semicolons and percent signs'
  }
  if (length !== undefined && prefix.length > length[1]) {
    return 'must have a prefix that is not longer than its tokens'
  }
  const isMade =
    alphabet === undefined
      ? prefix === '' || BEARER.test(prefix)
      : isMadeOf(prefix, new Set(alphabet))
  return isMade ? undefined : 'must have a prefix of characters of its alphabet'
}

function isRange(value: unknown): boolean {
  if (!Array.isArray(value) || value.length !== 2) return false
  const [min, max] = value as readonly unknown[]
  return (
    Number.isInteger(min) &&
    Number.isInteger(max) &&
    1 <= Number(min) &&
    Number(min) <= Number(max) &&
    Number(max) <= 65_536
  )
}

/** Tells what a token lacks of a form: makes the set of its characters once. */
export function createFormCheck({
  length,
  prefix = '',
  alphabet,
}: TokenForm): (token: string) => string | undefined {
  const [min, max] = length ?? [1, Infinity]
  const characters = alphabet === undefined ? undefined : new Set(alphabet)
  return (token) => {
    if (token.length < min || token.length > max) return `it has ${token.length} characters`
    if (!token.startsWith(prefix)) return 'it begins otherwise'
    const fits = characters === undefined ? BEARER.test(token) : isMadeOf(token, characters)
    return fits ? undefined : 'it has other characters'
  }
}

function isMadeOf(token: string, characters: ReadonlySet<string>): boolean {
  for (const each of token) if (!characters.has(each)) return false
  return true
}

/** Characters. No header that a reader takes is longer. */
const LONGEST_HEADER = 8192

/** Whether a token is a JWE in the compact form: five parts, and a header with `enc`. RFC 7516 sections 3.1 and 4.1.2. */
export function isJwe(token: string): boolean {
  const parts = token.split('.', 6)
  const [encoded = ''] = parts
  if (parts.length !== 5 || encoded.length > LONGEST_HEADER) return false
  const header = parseUnambiguousObject(Buffer.from(encoded, 'base64url'))
  return header !== undefined && typeof member(header, 'enc') === 'string'
}

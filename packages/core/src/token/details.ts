import {
  type Detail,
  JSON_OBJECT,
  kindOf,
  listed,
  type NumberedDetail,
  numberOf,
} from '../refusal/text.ts'

// What refusals of a token's form tell developers. Of the token they show members of the header, and keep nothing else.

/** @param value What `verify` was given: no string. */
export function notText(value: unknown): Detail {
  const kind = kindOf(value)
  const hint = kind === 'a promise' ? ': is an `await` missing?' : ''
  return () => `verify was given ${kind}; it takes the text of one token${hint}`
}

export function tooLarge(size: number, maxTokenSize: number): NumberedDetail {
  return () => ({
    text: `the token is longer than maxTokenSize (${numberOf(maxTokenSize, 'character')})`,
    numbers: { size },
  })
}

/** @param dots How many dots were found: two where it has the three parts of a JWS at least. */
export function malformed(token: string, dots: 0 | 1 | 2): Detail {
  const before = whatIsBefore(token)
  if (before !== undefined) return before
  if (token === '[object Promise]') return aPromise
  if (token.length <= LONGEST_WORD && WORDS.has(token)) return aWord
  if (token.trim() !== token) return withSpace
  if (dots === 0) return noDot
  if (dots === 1) return oneDot
  if (token.split('.', 6).length === 5) return fiveParts
  return token.endsWith('.') ? noSignature : otherParts
}

function whatIsBefore(text: string): Detail | undefined {
  if (/^bearer\s/i.test(text)) return withScheme
  return /^["']/.test(text) ? inQuotes : undefined
}

/** What JavaScript makes of a missing value, or of one that is no text. */
const WORDS: ReadonlySet<string> = new Set([
  '',
  'undefined',
  'null',
  'NaN',
  'true',
  'false',
  '[object Object]',
])
const LONGEST_WORD = 16

const withScheme: Detail = () =>
  'not a JWS: the text begins with "Bearer "; verify takes the token alone'
const aPromise: Detail = () => 'not a JWS: the text is "[object Promise]": is an `await` missing?'
const aWord: Detail = () =>
  'not a JWS: the text is empty, or what JavaScript makes of a missing value'
const inQuotes: Detail = () => 'not a JWS: the text begins with a quote: is it still JSON?'
const withSpace: Detail = () => 'not a JWS: there is white space before or behind the token'
const noDot: Detail = () =>
  'not a JWS: the text has no dot; an opaque token cannot be verified here'
const oneDot: Detail = () => 'not a JWS: the text has two parts, a JWS has three: has it been cut?'
const fiveParts: Detail = () =>
  'not a JWS: the text has five parts; encrypted tokens (JWE) are not taken'
const noSignature: Detail = () => 'not a JWS: the third part, the signature, is empty'
const otherParts: Detail = () =>
  'not a JWS: it is not three parts of base64url without padding: did the text begin with "Bearer ", or has it been cut?'

/** @param encodedHeader The first of three parts. */
export function unreadableHeader(encodedHeader: string): Detail {
  return whatIsBefore(encodedHeader) ?? noHeader
}

const noHeader: Detail = () => `not a JWS: the first part is not the base64url of ${JSON_OBJECT}`

export function notTextMember(name: string, value: unknown): Detail {
  const kind = kindOf(value)
  return () => `the header's ${name} is ${kind}; it must be a string`
}

/** @param crit Of the header; `undefined` where only `b64` is `false`. */
export function criticalHeader(crit: unknown): Detail {
  if (crit === undefined) return () => "the header's b64 is false, which is not supported"
  const [names, count] = Array.isArray(crit) ? [crit.slice(0, 3), crit.length] : [[crit], 1]
  return () => `the header's crit requires ${listed(names, count)}; no extension is supported`
}

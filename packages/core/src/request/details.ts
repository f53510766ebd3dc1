import type { Detail } from '../refusal/text.ts'

// What refusals of the `Authorization` header tell developers. The header may be a secret whatever its form, so nothing of it
// is shown or kept, but for the name of a scheme that is on this list.

/** By their names in lower case: https://www.iana.org/assignments/http-authschemes, and two that others use for tokens. */
const SCHEMES: ReadonlyMap<string, string> = new Map(
  [
    ['Basic', 'Concealed', 'Digest', 'DPoP', 'GNAP', 'HOBA', 'JWT', 'Mutual', 'Negotiate'],
    ['OAuth', 'PrivateToken', 'SCRAM-SHA-1', 'SCRAM-SHA-256', 'Token', 'vapid'],
  ]
    .flat()
    .map((name) => [name.toLowerCase(), name]),
)

const SPELLING =
  'names of headers are read in lower case, as node:http and a `Request` have them, and other spellings are not: an event of API Gateway is no request'

/** @param isSpelledOtherwise Whether the headers have it under another spelling. */
export function missingHeader(isSpelledOtherwise: boolean): Detail {
  return () =>
    isSpelledOtherwise
      ? `the request has no header authorization: ${SPELLING}`
      : 'the request has no Authorization header'
}

export const preflight: Detail = () =>
  'the request has no Authorization header: it is a CORS preflight, which never has one; put CORS middleware before the guard'

export const repeatedHeader: Detail = () =>
  'the request has more than one Authorization header: does a proxy add one?'

export const joinedHeader: Detail = () =>
  'there is a comma in the Authorization header: have several headers been joined?'

export const noTextInHeader: Detail = () =>
  'headers.authorization is not a string: has middleware replaced it?'

/** @param header Its name, as the guard's own options have it. */
export function missingTokenHeader(
  header: string,
  isPreflight: boolean,
  isSpelledOtherwise: boolean,
): Detail {
  const spelling = isSpelledOtherwise ? `: ${SPELLING}` : ''
  const advice = isPreflight
    ? ': it is a CORS preflight; put CORS middleware before the guard'
    : spelling
  return () => `the request has no header ${header}, which this guard reads${advice}`
}

export function repeatedTokenHeader(header: string): Detail {
  return () => `the request has more than one header ${header}, or several joined by a comma`
}

export function noTextInTokenHeader(header: string): Detail {
  return () => `the value of the header ${header} is not a string: has middleware replaced it?`
}

export function malformedTokenHeader(header: string, scheme: 'Bearer' | undefined): Detail {
  const form =
    scheme === undefined ? 'one token and nothing else' : `${scheme}, a space and one token`
  return () => `the value of the header ${header} is not ${form}`
}

export const repeatedProof: Detail = () =>
  'the request has more than one DPoP header: does a proxy add one?'

/** @param scheme In lower case. */
export function otherScheme(value: string, scheme: string, expected: readonly string[]): Detail {
  if (value.startsWith('eyJ')) return withoutScheme
  const name = SCHEMES.get(scheme)
  if (name === undefined) return unknownScheme
  return () =>
    `the scheme of the Authorization header is ${name}; expected ${expected.join(' or ')}`
}

const withoutScheme: Detail = () =>
  'the value of the Authorization header looks like a token: write "Bearer " before it'

const unknownScheme: Detail = () =>
  'the Authorization header does not begin with "Bearer " and one token'

/**
 * @param token What follows the scheme; `undefined` where that is another.
 */
export function malformedHeader(
  value: string,
  token: string | undefined,
  scheme: 'Bearer' | 'DPoP' = 'Bearer',
): Detail {
  if (scheme === 'DPoP') return () => malformedHeader(value, token)().replaceAll('Bearer', scheme)
  if (token === undefined && /^bearer\W/i.test(value)) return otherSeparator
  if (token === undefined) return noScheme
  if (token === '') return noToken
  if (/^bearer(?: |$)/i.test(token)) return twice
  if (token.startsWith('[object ')) return token === '[object Promise]' ? aPromise : anObject
  if (/\s/.test(token)) return twoWords
  return /["']/.test(token) ? inQuotes : otherCharacter
}

const otherSeparator: Detail = () =>
  'what follows "Bearer" in the Authorization header must be a space'
const noScheme: Detail = () => 'the Authorization header does not begin with the name of a scheme'
const noToken: Detail = () => 'nothing follows "Bearer" in the Authorization header'
const twice: Detail = () => '"Bearer" is written twice in the Authorization header'
const aPromise: Detail = () =>
  'the token of the Authorization header is "[object Promise]": is an `await` missing where the request is made?'
const anObject: Detail = () =>
  'the token of the Authorization header is what JavaScript makes of an object: is it a member of that object?'
const twoWords: Detail = () =>
  'there is white space in or behind the token of the Authorization header'
const inQuotes: Detail = () => 'the token of the Authorization header is in quotes'
const otherCharacter: Detail = () =>
  'there is a character in the token of the Authorization header that no token has in this place'

import { AuthError } from '@portcullis/core'
import type { Claims } from '@portcullis/core/verifier'
import { isJsonObject, member, textMember } from '@portcullis/kit/json'

import { noKind, otherKind, unboundDpop } from './details.ts'

// What kind of token an answer is about: an issuer answers about refresh tokens and ID tokens by the same endpoint.

/** The option `type`: values that name an access token, `null` if an answer need not name any. */
export type Kinds = readonly string[] | null | undefined

/** How an access token is presented. RFC 6750; RFC 9449 section 6.2. */
const SCHEMES: readonly string[] = ['bearer', 'dpop']

/** Each member that names a kind, and its words for an access token beside the schemes. RFC 7662 section 2.2 has the first alone. */
const MEMBERS = [
  { name: 'token_type', words: [], isOfSchemes: true },
  { name: 'token_use', words: ['access_token', 'access'], isOfSchemes: false },
  { name: 'typ', words: ['at+jwt'], isOfSchemes: true },
] as const

/** The `typ` of every JWT, whatever it is for. RFC 7519 section 5.1. */
const NO_KIND = 'jwt'

/** Step 5: each member that names a kind must name an access token. @returns Whether a stated one. @throws AuthError `type`, `binding` */
export function checkKind(claims: Claims, kinds: Kinds): boolean {
  const stated = kinds?.map(lowerCase)
  const named: string[] = []
  for (const { name, words, isOfSchemes } of MEMBERS) {
    const found = member(claims, name)
    const kind = typeof found === 'string' ? lowerCase(found) : found
    if (kind === undefined || (name === 'typ' && kind === NO_KIND)) continue
    const accepted = [...(stated ?? (isOfSchemes ? SCHEMES : [])), ...words]
    if (typeof kind !== 'string' || !accepted.includes(kind)) {
      throw new AuthError('invalid_token', 'type', otherKind(name, found, accepted))
    }
    named.push(kind)
  }
  const isNamed =
    stated === undefined ? named.length > 0 : named.some((each) => stated.includes(each))
  if (!isNamed && kinds !== null) throw new AuthError('invalid_token', 'type', noKind(stated))
  if (named.includes('dpop')) checkDpopKey(claims)
  return stated !== undefined
}

function checkDpopKey(claims: Claims): void {
  const cnf = member(claims, 'cnf')
  if (!isJsonObject(cnf) || textMember(cnf, 'jkt') === undefined) {
    throw new AuthError('invalid_token', 'binding', unboundDpop)
  }
}

/** Only the letters of ASCII: `toLowerCase` would also turn the Kelvin sign (U+212A) into a k. */
function lowerCase(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
}

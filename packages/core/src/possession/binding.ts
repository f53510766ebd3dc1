import { isJsonObject, member, repeatsMember } from '@portcullis/kit/json'
import { own, ownMembers } from '@portcullis/kit/options'

import type { Auth, Claims, Possession } from '../claims/auth.ts'
import { marked } from '../ground/copy.ts'
import { AuthError } from '../refusal/errors.ts'
import type { Detail } from '../refusal/text.ts'
import {
  type ConfirmationMethod,
  notProven,
  notProvenHere,
  repeatedConfirmation,
  unboundToken,
  unreadableConfirmation,
} from './details.ts'

// Whether the sender of a token possesses what the token is bound to by its claim `cnf`.

/** What the `cnf` of a token says. RFC 7800 section 3.1. */
export interface Binding {
  readonly jkt: string | undefined
  readonly x5tS256: string | undefined
  readonly complaint: Detail | undefined
}

const KNOWN: ReadonlyMap<string, ConfirmationMethod> = new Map([
  ['jkt', 'jkt'],
  ['x5t#S256', 'x5tS256'],
])

/** Registered, so not ignored, and not provable here: https://www.iana.org/assignments/jwt/jwt.xhtml#confirmation-methods */
const UNPROVABLE: ReadonlySet<string> = new Set(['jwk', 'jwe', 'jku', 'kid', 'osc'])

/**
 * `undefined`: bound to nothing, so whoever has it may use it. Unknown members beside a known one may describe it, and are ignored; alone
 * they may bind the token to something. RFC 7800 section 3.1 @param isRepeated See {@link repeatsConfirmation}.
 */
export function bindingOf(claims: Claims, isRepeated: boolean): Binding | undefined {
  if (!Object.hasOwn(claims, 'cnf')) return undefined
  const cnf = member(claims, 'cnf')
  const found = new Map<ConfirmationMethod, string>()
  const names = isJsonObject(cnf) ? Object.keys(cnf) : []
  for (const name of names) {
    const method = KNOWN.get(name)
    const value = isJsonObject(cnf) ? member(cnf, name) : undefined
    if (method !== undefined && typeof value === 'string' && value !== '') found.set(method, value)
  }
  const knownNames = names.filter((name) => KNOWN.has(name))
  const isProvable = found.size > 0 && !names.some((name) => UNPROVABLE.has(name))
  const isKnown = isProvable && found.size === knownNames.length
  const repetition = isRepeated ? repeatedConfirmation : undefined
  return {
    jkt: found.get('jkt'),
    x5tS256: found.get('x5tS256'),
    complaint: isKnown ? repetition : unreadableConfirmation(cnf, [...KNOWN.keys()], UNPROVABLE),
  }
}

/** Whether a payload with `cnf` has some member twice: of two thumbprints, another reader of it might take the other one. */
export function repeatsConfirmation(claims: Claims, payload: Buffer): boolean {
  return Object.hasOwn(claims, 'cnf') && repeatsMember(payload.toString(), claims)
}

/** A copy, since the caller may change its own while the token is judged. Pollution of a prototype proves nothing. */
export function possessionOf(given: Possession | undefined): Possession | undefined {
  if (typeof given !== 'object' || given === null) return undefined
  return { jkt: own(given, 'jkt'), x5tS256: own(given, 'x5tS256') }
}

/**
 * @param confirmation `ignore` waives it, but for a DPoP proof: whoever sends one expects that it counts.
 * @returns What was proven, if anything. @throws AuthError `binding` @see RFC 9449 section 7.2; RFC 8705 section 3
 */
export function checkBinding(
  binding: Binding | undefined,
  possession: Possession | undefined,
  confirmation: 'require' | 'ignore',
): Possession | undefined {
  const jkt = possession?.jkt
  if (binding === undefined) {
    if (jkt !== undefined) throw bindingRefusal(unboundToken)
    return undefined
  }
  if (jkt !== undefined && binding.jkt === undefined) {
    throw bindingRefusal(binding.complaint ?? unboundToken)
  }
  const isRequired = confirmation === 'require'
  if (isRequired && binding.complaint !== undefined) throw bindingRefusal(binding.complaint)
  const x5tS256 = possession?.x5tS256
  if (binding.jkt !== jkt && (isRequired || jkt !== undefined)) {
    throw bindingRefusal(jkt === undefined ? notProvenHere('jkt') : notProven('jkt'))
  }
  const isCertified = x5tS256 !== undefined && x5tS256 === binding.x5tS256
  if (isRequired && binding.x5tS256 !== undefined && !isCertified) {
    throw bindingRefusal(x5tS256 === undefined ? notProvenHere('x5tS256') : notProven('x5tS256'))
  }
  if (jkt === undefined && !isCertified) return undefined
  return { jkt, x5tS256: isCertified ? x5tS256 : undefined }
}

/** The same, with what was proven. */
export function withPossession(auth: Auth, { jkt, x5tS256 }: Possession): Auth {
  const possession: Possession = Object.freeze(
    ownMembers({ ...(jkt !== undefined && { jkt }), ...(x5tS256 !== undefined && { x5tS256 }) }),
  )
  return Object.freeze(marked({ ...auth, possession }))
}

export function isSamePossession(one: Possession | undefined, other: Possession): boolean {
  return one?.jkt === other.jkt && one?.x5tS256 === other.x5tS256
}

export function bindingRefusal(detail: Detail): AuthError {
  return new AuthError('invalid_token', 'binding', detail)
}

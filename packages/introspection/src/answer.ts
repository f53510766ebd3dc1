import type { Claims } from '@portcullis/core/verifier'
import { isJsonObject, member, parseUnambiguousObject, withoutNulls } from '@portcullis/kit/json'

import { failed, type RawAnswer } from './exchange.ts'

// Reads what an issuer says of a token: as strictly as the payload of a JWT, but that a member which is null is absent.

/** What the issuer says. `inactive` has no claims: whatever else the answer has means nothing (RFC 7662 section 2.2). */
export type Statement =
  | { readonly word: 'active'; readonly claims: Claims; readonly size: number }
  | { readonly word: 'inactive' }

/** RFC 7662 section 2.2 @throws FailedExchange `bad_answer` */
export function readAnswer({ mediaType, octets }: RawAnswer): Statement {
  if (mediaType !== 'application/json') {
    throw failed('bad_answer', 'the answer is not application/json')
  }
  return statementOf(parseUnambiguousObject(octets), octets.length)
}

/** @param value From `parseUnambiguousObject`: frozen, each member once. @param size Octets. @throws FailedExchange `bad_answer` */
export function statementOf(value: unknown, size: number): Statement {
  if (!isJsonObject(value)) {
    throw failed(
      'bad_answer',
      'the answer is not a JSON object in UTF-8 of at most 32 levels, or has a member twice, or one named __proto__',
    )
  }
  const active = member(value, 'active')
  if (active === false) return { word: 'inactive' }
  // The boolean, and nothing that is only like it.
  if (active !== true) throw failed('bad_answer', 'active is neither true nor false in the answer')
  return { word: 'active', claims: withoutNulls(value), size }
}

import { type Edit, type Members, put, spell } from './members.ts'
import { inSegment } from './segments.ts'
import { compact, encode, es256, NOW } from './signers.ts'
import { flip } from './texts.ts'
import { goodClaims, headerOf } from './tokens.ts'

/** One thing wrong with a token, and what it is refused for if nothing before it is. */
export interface Defect {
  readonly reason: string
  /** Two defects of one claim cannot be had together. */
  readonly claim?: string
  readonly header?: Edit<Members>
  readonly claims?: Edit<Members>
  readonly sent?: Edit<string>
}

/** In the order in which a verifier looks for them. */
export const defects: readonly Defect[] = [
  { reason: 'too_large', claims: put('"filler"', `"${'x'.repeat(16_384)}"`) },
  { reason: 'malformed', header: twice('"cty"') },
  { reason: 'critical_header', header: put('"crit"', '["exp"]') },
  { reason: 'algorithm', header: put('"alg"', '"RS384"') },
  { reason: 'unknown_key', header: put('"kid"', '"unknown"') },
  { reason: 'signature', sent: inSegment(2, flipFirstBit) },
  { reason: 'type', header: put('"typ"', '"JWT"') },
  { reason: 'malformed', claims: twice('"jti"') },
  { reason: 'issuer', claims: put('"iss"', '"https://other.example"') },
  { reason: 'audience', claims: put('"aud"', '["other"]') },
  {
    reason: 'missing_claim',
    claims: (members) => members.filter(([name]) => name !== '"sub"'),
  },
  { reason: 'claim', claim: 'nbf', claims: put('"nbf"', `"${NOW}"`) },
  { reason: 'expired', claims: put('"exp"', String(NOW - 5)) },
  { reason: 'not_yet_valid', claim: 'nbf', claims: put('"nbf"', String(NOW + 6)) },
  { reason: 'issued_in_future', claim: 'iat', claims: put('"iat"', String(NOW + 61)) },
  { reason: 'too_old', claim: 'iat', claims: put('"iat"', String(NOW - 306)) },
]

/** A token that has all of the defects, and that is good but for them. */
export function tokenWith(present: readonly Defect[]): string {
  const header = present.reduce(
    (members, each) => each.header?.(members) ?? members,
    headerOf(es256),
  )
  const claims = present.reduce((members, each) => each.claims?.(members) ?? members, goodClaims())
  const token = compact(es256, encode(spell(header)), encode(spell(claims)))
  return present.reduce((text, each) => each.sent?.(text) ?? text, token)
}

/** Of those that cannot be had together, the first. */
export function withoutConflicts(present: readonly Defect[]): readonly Defect[] {
  return present.filter(
    ({ claim }, at) =>
      claim === undefined || !present.slice(0, at).some((before) => before.claim === claim),
  )
}

function twice(name: string): Edit<Members> {
  return (members) => [...members, [name, '1'], [name, '1']]
}

function flipFirstBit(segment: string): string {
  return encode(flip(Buffer.from(segment, 'base64url'), 0))
}

import { type JsonObject, member } from '../json.ts'
import { type Detail, duration, kindOf, moment, shown } from './text.ts'

// What refusals tell developers about revocations. Of the claims they show `iss` and times alone.

export function revokedToken(claims: JsonObject): Detail {
  const [iss, iat] = [member(claims, 'iss'), member(claims, 'iat')]
  return () => {
    const issuer = iss === undefined ? 'has no iss' : `is from ${shown(iss)}`
    const time = typeof iat === 'number' ? `was issued ${moment(iat)}` : 'has no iat'
    return `the token, which ${issuer} and ${time}, has been revoked`
  }
}

export const staleRevocations: Detail = () =>
  'revocations answered unknown: what they know is too old, or they know nothing yet'

export const failedRevocations: Detail = () => 'revocations failed; cause says why'

export function lateRevocations(patience: number): Detail {
  return () => `revocations gave no answer for ${duration(patience)}`
}

export function strangeRevocations(answer: unknown): Detail {
  const kind = kindOf(answer)
  return () => `revocations answered with ${kind}; it must be "valid", "revoked" or "unknown"`
}

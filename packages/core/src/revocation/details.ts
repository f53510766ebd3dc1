import { type JsonObject, member } from '@portcullis/kit/json'

import { type Detail, duration, kindOf, type NumberedDetail, shown } from '../refusal/text.ts'

// What refusals tell developers about revocations. Of the claims they show `iss` and times alone.

export function revokedToken(claims: JsonObject): NumberedDetail {
  const [iss, iat] = [member(claims, 'iss'), member(claims, 'iat')]
  return () => {
    const issuer = iss === undefined ? 'has no iss' : `is from ${shown(iss)}`
    const isDated = typeof iat === 'number'
    const text = `the token, which ${issuer}${isDated ? '' : ' and has no iat'}, has been revoked`
    const numbers: Readonly<Record<string, number>> = isDated ? { iat } : {}
    return { text, numbers }
  }
}

/** @param why In the words of the source, if it says why. */
export function staleRevocations(why: string | undefined): Detail {
  return () =>
    `revocations answered unknown: ${why ?? 'what they know is too old, or they know nothing yet'}`
}

export function failedRevocations(why?: string): Detail {
  return () => `revocations failed${why === undefined ? '' : `: ${why}`}; cause says why`
}

export function lateRevocations(patience: number): Detail {
  return () => `revocations gave no answer for ${duration(patience)}`
}

export function strangeRevocations(answer: unknown): Detail {
  const kind = kindOf(answer)
  return () => `revocations answered with ${kind}; it must be "valid", "revoked" or "unknown"`
}

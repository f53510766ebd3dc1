import {
  type Detail,
  duration,
  kindOf,
  type NumberedDetail,
  numberOf,
  shown,
} from '../refusal/text.ts'

// What refusals tell developers about DPoP proofs. A proof is its sender's own work, but it is shown no further than a token.

export const noProof: Detail = () =>
  'the request has the scheme DPoP and no header DPoP: each request needs a proof of its own'

export function notTextProof(value: unknown): Detail {
  const kind = kindOf(value)
  return () => `the header DPoP is ${kind}; it must be the text of one proof`
}

export function tooLargeProof(size: number, max: number): NumberedDetail {
  return () => ({
    text: `the DPoP proof is longer than ${numberOf(max, 'character')}`,
    numbers: { size },
  })
}

/** @param why What the reader of tokens says. */
export function malformedProof(why: () => string): Detail {
  return () => `the DPoP proof: ${why()}`
}

export const repeatedMember: Detail = () =>
  'the DPoP proof: an object in the header has a member twice'

export function otherProofType(typ: string | undefined): Detail {
  return () =>
    typ === undefined
      ? "the DPoP proof's header has no typ; it must be dpop+jwt"
      : `the DPoP proof's typ is ${shown(typ)}; it must be dpop+jwt`
}

export function otherProofAlgorithm(alg: unknown, accepted: readonly string[]): Detail {
  const found = shown(alg)
  return () => `the DPoP proof's alg is ${found}; accepted are ${accepted.join(', ')}`
}

/** @param why In words, without key material. */
export function unusableProofKey(why: string): Detail {
  return () => `the DPoP proof's jwk cannot be used: ${why}`
}

export const otherProofSignature: Detail = () =>
  'the key in the DPoP proof has not made its signature'

export function unreadableProofClaim(name: string, value: unknown, wanted: string): Detail {
  const kind = kindOf(value)
  return () =>
    value === undefined
      ? `the DPoP proof has no ${name}; it must be ${wanted}`
      : `the DPoP proof's ${name} is ${kind}; it must be ${wanted}`
}

export function longProofId(size: number, max: number): NumberedDetail {
  return () => ({
    text: `the DPoP proof's jti is longer than ${numberOf(max, 'character')}`,
    numbers: { size },
  })
}

export function otherMethod(htm: unknown, method: unknown): Detail {
  return () =>
    `the DPoP proof's htm is ${shown(htm)}; the method of the request is ${shown(method)}`
}

/** @param origins As they are configured. */
export function otherUrl(htu: unknown, origins: readonly string[]): Detail {
  const [stated] = originsOf([htu])
  const expected = originsOf(origins)
  return () => {
    if (typeof htu !== 'string') return `the DPoP proof's htu is ${kindOf(htu)}; it must be a URL`
    if (stated === undefined) return "the DPoP proof's htu is no http or https URL"
    if (!expected.includes(stated)) {
      return `the DPoP proof's htu is at ${shown(stated)}; origin is ${expected.map(shown).join(' or ')}`
    }
    return "the DPoP proof's htu has another path than the request: if all have, origin lacks the path that a proxy takes off, or has one too many"
  }
}

/** Of a URL the origin alone is shown. */
function originsOf(urls: readonly unknown[]): readonly string[] {
  return urls
    .filter((url) => typeof url === 'string' && /^https?:/i.test(url) && URL.canParse(url))
    .map((url) => new URL(String(url)).origin)
}

export interface WrongProofTime {
  readonly name: 'iat' | 'exp' | 'nbf'
  readonly value: unknown
  readonly now: number
  /** Seconds. */
  readonly maxAge: number
  readonly clockTolerance: number
  readonly toleranceAhead: number
}

export function wrongProofTime({
  name,
  value,
  now,
  maxAge,
  clockTolerance,
  toleranceAhead,
}: WrongProofTime): Detail | NumberedDetail {
  const kind = kindOf(value)
  if (typeof value !== 'number') {
    return () =>
      `the DPoP proof's ${name} is ${kind}; it must be a number of seconds since 1970-01-01T00:00:00Z`
  }
  return () => {
    const isAhead = now < value
    const allowed =
      name !== 'exp' && isAhead
        ? `it may be ${duration(toleranceAhead)} ahead (clockTolerance)`
        : `maxAge is ${duration(maxAge)}, clockTolerance ${duration(clockTolerance)}`
    const text = `the DPoP proof's ${name} is ${isAhead ? 'after' : 'before'} now; ${allowed}`
    return { text, numbers: { [name]: value, now } }
  }
}

export function otherToken(ath: unknown): Detail {
  const kind = kindOf(ath)
  return () =>
    ath === undefined
      ? 'the DPoP proof has no ath: it is one for a token endpoint'
      : typeof ath === 'string'
        ? "the DPoP proof's ath is not the base64url of the SHA-256 of the access token"
        : `the DPoP proof's ath is ${kind}; it must be a string`
}

export const missingNonce: Detail = () =>
  'the DPoP proof has no nonce; the answer has one in the header DPoP-Nonce'

export const invalidNonce: Detail = () =>
  "the DPoP proof's nonce is too old, or was made with another secret; the answer has a new one in the header DPoP-Nonce"

export function replayedProof(jkt: string): Detail {
  return () => `the DPoP proof has been used before, with the key ${shown(jkt)}`
}

export const expiredProof: Detail = () =>
  'the DPoP proof has become too old while its token was checked'

export const failedReplays: Detail = () => 'the memory of DPoP proofs failed; cause says why'

export const unavailableReplays: Detail = () =>
  'the memory of DPoP proofs answered unavailable: it cannot tell whether this one was used before'

export const fullReplays: Detail = () =>
  'the memory of DPoP proofs has no room for another one, of this key or in all'

export function lateReplays(patience: number): Detail {
  return () => `the memory of DPoP proofs gave no answer for ${duration(patience)}`
}

export function strangeReplays(answer: unknown): Detail {
  const kind = kindOf(answer)
  return () =>
    `the memory of DPoP proofs answered with ${kind}; it must be "new", "replayed", "full" or "unavailable"`
}

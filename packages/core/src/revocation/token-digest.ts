import { sha256 } from '@portcullis/kit/digest'

import { isLikeEncodedObject } from '../ground/encoded-object.ts'

// What names one token that has no `jti`.

/**
 * SHA-256, in base64url. Of a JWT that of header and payload: a signature has several texts, as anybody can write n - s in an ECDSA (r, s).
 * Of any other token that of the whole text. The text alone decides which, so that who revokes a token and who asks mean the same.
 *
 * @see RFC 7515 section 2; SEC 1 section 4.1.4
 */
export function digestOf(token: string): string {
  return sha256(signingInputOf(token) ?? token)
}

/**
 * Nothing behind the second dot counts, as an issuer that reads leniently may ignore it. The payload is looked at as well: an
 * opaque token whose parts say what kind it is, and no more, would else be that of everybody.
 */
function signingInputOf(token: string): string | undefined {
  const first = token.indexOf('.')
  const second = token.indexOf('.', first + 1)
  const isJwt =
    first !== -1 &&
    second !== -1 &&
    isLikeEncodedObject(token.slice(0, first)) &&
    isLikeEncodedObject(token.slice(first + 1, second))
  return isJwt ? token.slice(0, second) : undefined
}

/** What a store is told of a token beside its claims. Worked out once for the claims of a token that is remembered. */
export function createDigests(): (token: string, claims: object) => string {
  const known = new WeakMap<object, { readonly token: string; readonly digest: string }>()
  return (token, claims) => {
    const found = known.get(claims)
    // Somebody else's proof may give the same claims to several tokens.
    if (found?.token === token) return found.digest
    const digest = digestOf(token)
    known.set(claims, { token, digest })
    return digest
  }
}

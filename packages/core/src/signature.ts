import { verify } from 'node:crypto'

import type { Algorithm } from './algorithms.ts'
import type { VerificationKey } from './keys/key-source.ts'
import type { ParsedToken } from './token.ts'

/**
 * Whether a key made a token's signature, with the one algorithm that the verifier has settled on.
 *
 * @see RFC 7515 section 5.2; RFC 7518 section 3; RFC 8725 section 3.1
 */
export function isSignedBy(
  key: VerificationKey,
  algorithm: Algorithm,
  { signingInput, signature }: ParsedToken,
): boolean {
  const prepared = key.prepared.get(algorithm)
  return (
    prepared !== undefined &&
    signature.length === prepared.signatureLength &&
    verify(prepared.hash, signingInput, prepared.input, signature)
  )
}

import { verify } from 'node:crypto'

import type { Algorithm } from './algorithms.ts'
import type { PreparedKey, VerificationKey } from './keys/key-source.ts'
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
  const prepared = preparedFor(key, algorithm, signature)
  return prepared !== undefined && verify(prepared.hash, signingInput, prepared.input, signature)
}

/** As {@link isSignedBy}. The answer may be a promise. */
export type SignatureCheck = (
  key: VerificationKey,
  algorithm: Algorithm,
  token: ParsedToken,
) => boolean | Promise<boolean>

/** As many as hold up the event loop for a few tenths of a millisecond, with RSA keys of 2048 bits. */
const CHECKS_AT_ONCE = 8

/**
 * Checks signatures here and now, which costs least, unless many come at once, as when keys arrive that a thousand
 * requests have waited for: then all but the first few go to the thread pool, and the event loop stays free.
 */
export function createSignatureCheck(): SignatureCheck {
  let checks = 0
  return (key, algorithm, token) => {
    if (checks === 0) {
      queueMicrotask(() => {
        checks = 0
      })
    }
    checks++
    return checks > CHECKS_AT_ONCE
      ? onThreadPool(key, algorithm, token)
      : isSignedBy(key, algorithm, token)
  }
}

async function onThreadPool(
  key: VerificationKey,
  algorithm: Algorithm,
  { signingInput, signature }: ParsedToken,
): Promise<boolean> {
  const prepared = preparedFor(key, algorithm, signature)
  if (prepared === undefined) return false
  return await new Promise<boolean>((resolve, reject) => {
    verify(prepared.hash, signingInput, prepared.input, signature, (error, isValid) => {
      if (error === null) resolve(isValid)
      else reject(error)
    })
  })
}

function preparedFor(
  key: VerificationKey,
  algorithm: Algorithm,
  signature: Buffer,
): PreparedKey | undefined {
  const prepared = key.prepared.get(algorithm)
  return signature.length === prepared?.signatureLength ? prepared : undefined
}

import { createVerify, verify, type VerifyJsonWebKeyInput } from 'node:crypto'

import type { Algorithm } from './algorithms.ts'
import { watchEventLoop } from './event-loop.ts'
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
  if (prepared === undefined) return false
  const { hash, input, jwkInput } = prepared
  return jwkInput === undefined
    ? verify(hash, signingInput, input, signature)
    : isVerifiedWith(jwkInput, hash, signingInput, signature)
}

/** The `verify` that takes no key object does not look at `padding` either. `createVerify` does, and knows no Ed25519. */
function isVerifiedWith(
  input: VerifyJsonWebKeyInput,
  hash: string | null,
  signingInput: Buffer,
  signature: Buffer,
): boolean {
  return hash === null
    ? verify(hash, signingInput, input, signature)
    : createVerify(hash).update(signingInput).verify(input, signature)
}

/** As {@link isSignedBy}. The answer may be a promise. */
export type SignatureCheck = (
  key: VerificationKey,
  algorithm: Algorithm,
  token: ParsedToken,
) => boolean | Promise<boolean>

/** As many as hold up the event loop for a tenth of a millisecond, with RSA keys of 2048 bits. */
const CHECKS_AT_ONCE = 4

/**
 * Checks signatures on the main thread, which costs least, while they come one by one or few at once. When requests come
 * faster than the event loop iterates, only the first is checked there and the others on the thread pool: even with a single
 * core that costs less than to switch between requests and signatures for each token.
 */
export function createSignatureCheck(): SignatureCheck {
  const eventLoop = watchEventLoop(CHECKS_AT_ONCE)
  return (key, algorithm, token) => {
    if (eventLoop.isBusy()) return onThreadPool(key, algorithm, token)
    eventLoop.count()
    return isSignedBy(key, algorithm, token)
  }
}

function onThreadPool(
  key: VerificationKey,
  algorithm: Algorithm,
  token: ParsedToken,
): boolean | Promise<boolean> {
  const prepared = preparedFor(key, algorithm, token.signature)
  if (prepared === undefined) return false
  // That platform has no thread pool.
  if (prepared.jwkInput !== undefined) return isSignedBy(key, algorithm, token)
  const { signingInput, signature } = token
  return new Promise((resolve, reject) => {
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

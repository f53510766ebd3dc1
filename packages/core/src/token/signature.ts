import { createVerify, verify, type VerifyJsonWebKeyInput } from 'node:crypto'

import { type Algorithm, costOfCheck } from '../algorithms/algorithms.ts'
import type { PreparedKey, VerificationKey } from '../keys/key-source.ts'
import { type EventLoopLimits, watchEventLoop } from './event-loop.ts'
import type { ParsedToken } from './token.ts'

// Step 4 of the verifier: checks a signature, on the main thread or on the thread pool.

/** With the one algorithm that the verifier has settled on. RFC 7515 section 5.2; RFC 7518 section 3; RFC 8725 section 3.1 */
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

export type SignatureCheck = (
  key: VerificationKey,
  algorithm: Algorithm,
  token: ParsedToken,
) => boolean | Promise<boolean>

/** About how long signatures may hold up the event loop, in microseconds. */
const LIMITS = {
  /** Four of RSA keys of 2048 bits, one of P-256. */
  run: 80,
  /** 250 of RSA keys of 2048 bits, 90 of P-256. */
  iteration: 5000,
} satisfies EventLoopLimits

/**
 * On the main thread, which costs least, while signatures come one by one. If they come faster than the event loop iterates, all but the
 * first go to the thread pool, and so does a slow one (P-384, RSA of 8192 bits): even on one core that costs less than to switch between
 * requests and signatures. A loop that awaits each token goes there once it has taken its time, which lets the event loop iterate.
 */
export function createSignatureCheck(): SignatureCheck {
  const eventLoop = watchEventLoop(LIMITS)
  return (key, algorithm, token) => {
    const cost = costOfCheck(algorithm, token.signature.length)
    if (eventLoop.isBusy(cost)) return onThreadPool(key, algorithm, token)
    eventLoop.count(cost)
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

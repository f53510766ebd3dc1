import { createVerify, verify, type VerifyJsonWebKeyInput } from 'node:crypto'

import type { Clock } from '@portcullis/kit/time'

import type { Algorithm } from '../algorithms/algorithms.ts'
import type { PreparedKey, VerificationKey } from '../keys/key-source.ts'
import { createPlacement, kindOfCheck } from './placement.ts'
import type { ParsedToken } from './token.ts'

// Step 4 of the verifier: checks a signature, on the main thread or on the thread pool.

/** With the one algorithm that the verifier has settled on. RFC 7515 section 5.2; RFC 7518 section 3; RFC 8725 section 3.1 */
export function isSignedBy(
  key: VerificationKey,
  algorithm: Algorithm,
  token: ParsedToken,
): boolean {
  const prepared = preparedFor(key, algorithm, token.signature)
  return prepared !== undefined && isProvenBy(prepared, token)
}

function isProvenBy(
  { hash, input, jwkInput }: PreparedKey,
  { signingInput, signature }: ParsedToken,
): boolean {
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

/** So many checks are timed, and later one in so many: to read the clock twice takes a hundredth of a check. Odd, for kinds that alternate. */
const FIRST = 32
const EVERY = 7

/**
 * On the main thread, which costs least, while signatures come one by one. If they come faster than the event loop iterates, all but the
 * first go to the thread pool, unless to hand them over has cost the main thread as much as to check them; and so does a slow one (P-384,
 * RSA of 8192 bits). A loop that awaits each token goes there once it has taken its time, which lets the event loop iterate.
 */
export function createSignatureCheck(clock: Pick<Clock, 'monotonic'>): SignatureCheck {
  const placement = createPlacement()
  let checks = 0
  return (key, algorithm, token) => {
    const { signature } = token
    const prepared = preparedFor(key, algorithm, signature)
    if (prepared === undefined) return false
    const kind = kindOfCheck(algorithm, signature.length)
    // A platform that needs the JWK has no thread pool.
    const isHandedOver = prepared.jwkInput === undefined && placement.isForPool(kind)
    checks += 1
    const isTimed = checks <= FIRST || checks % EVERY === 0
    const start = isTimed ? clock.monotonic() : 0
    let isProven = false
    try {
      if (isHandedOver) return onThreadPool(prepared, token)
      isProven = isProvenBy(prepared, token)
      return isProven
    } finally {
      const time = isTimed ? (clock.monotonic() - start) * 1e6 : 0
      if (isHandedOver) placement.hasHandedOver(kind, time)
      else placement.hasChecked(kind, time, isProven)
    }
  }
}

function onThreadPool(
  { hash, input }: PreparedKey,
  { signingInput, signature }: ParsedToken,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    verify(hash, signingInput, input, signature, (error, isValid) => {
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

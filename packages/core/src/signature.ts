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

// As they are now: a test runner's fake timers would keep the ends of runs and turns, and count them as the test's own.
const { queueMicrotask, setImmediate } = globalThis

/** As many as hold up the event loop for a tenth of a millisecond, with RSA keys of 2048 bits. */
const CHECKS_AT_ONCE = 4

/**
 * Checks signatures here and now, which costs least, as long as they come one by one or few at once. When requests come
 * faster than the event loop turns, that of the first request of a turn is checked here and those of the others on the
 * thread pool: on one core as well, that costs less than to change from requests to signatures and back all the time.
 */
export function createSignatureCheck(): SignatureCheck {
  /** In the synchronous run that is under way. */
  let checks = 0
  let isTurnWatched = false
  let isTurnTaken = false

  function count(): void {
    if (checks === 0) {
      queueMicrotask(() => {
        checks = 0
      })
    }
    checks++
    if (isTurnWatched) return
    isTurnWatched = true
    // When a callback of the event loop is over, with all that awaited something in it: what comes then is another's.
    process.nextTick(() => {
      isTurnTaken = isTurnWatched
    })
    setImmediate(() => {
      isTurnWatched = false
      isTurnTaken = false
    })
  }

  return (key, algorithm, token) => {
    if (checks === CHECKS_AT_ONCE || isTurnTaken) return onThreadPool(key, algorithm, token)
    count()
    return isSignedBy(key, algorithm, token)
  }
}

function onThreadPool(
  key: VerificationKey,
  algorithm: Algorithm,
  { signingInput, signature }: ParsedToken,
): false | Promise<boolean> {
  const prepared = preparedFor(key, algorithm, signature)
  if (prepared === undefined) return false
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

import { type AlgorithmNames, checkAlgorithm } from '../algorithms/accepted-algorithms.ts'
import { type AcceptedAlgorithms, type Algorithm, isFor } from '../algorithms/algorithms.ts'
import { type ClaimRules, couldBeAccepted, isOfType, wasIssuedAfter } from '../claims/claims.ts'
import { member, textMember } from '../ground/json.ts'
import { otherSignature, unknownKey, type Unproven } from '../keys/details.ts'
import {
  type Caller,
  findCandidates,
  type KeyRing,
  type KeySourceMethods,
  type Suspicion,
  type VerificationKey,
  type WhyUnproven,
} from '../keys/key-source.ts'
import { AuthError } from '../refusal/errors.ts'
import { createSignatureCheck } from '../token/signature.ts'
import { createHeaderCache, type ParsedToken, parseToken } from '../token/token.ts'
import type { Proof } from './verified-tokens.ts'

/** A token that has been read, and the one algorithm that its signature may have. */
interface Reading {
  readonly parsed: ParsedToken
  readonly algorithm: Algorithm
}

/** A token, and the trusted key that made its signature. */
interface Proven extends Pick<Proof, 'key' | 'foundIn'> {
  readonly reading: Reading
}

/** What the refusal of a token will tell, if nothing newer proves it. */
interface Doubt extends Omit<Unproven, 'ring' | 'tried' | 'why'> {
  ring: KeyRing
  tried: number
  why: WhyUnproven | undefined
}

export interface ProverOptions {
  readonly keys: KeySourceMethods
  readonly accepted: AcceptedAlgorithms
  readonly algorithmNames: AlgorithmNames
  /** Octets. */
  readonly maxTokenSize: number
  /** What decides whether an unproven token may ask for newer keys, and nothing else here. */
  readonly rules: ClaimRules
  readonly types: readonly string[] | undefined
  /** Seconds since 1970-01-01T00:00:00Z. */
  readonly now: () => number
}

/**
 * Steps 2 to 4: reads a token and finds the trusted key that made its signature.
 *
 * @throws AuthError `invalid_token` with a reason of an unproven token; `keys_unavailable`; the signal's reason.
 */
export type Prover = (token: string, caller: Caller) => Promise<Proven>

export function createProver({
  keys,
  accepted,
  algorithmNames,
  maxTokenSize,
  rules,
  types,
  now,
}: ProverOptions): Prover {
  const headers = createHeaderCache()
  const isSignedBy = createSignatureCheck()

  /** Before the keys: what is wrong here must not cost a fetch. */
  function read(token: string): Reading {
    const parsed = parseToken(token, maxTokenSize, headers)
    const alg = member(parsed.header, 'alg')
    return { parsed, algorithm: checkAlgorithm(alg, accepted, algorithmNames) }
  }

  async function prove(token: string, caller: Caller): Promise<Proven> {
    let reading: Reading | undefined = read(token)
    let ring = keys.current(caller.arrived)
    if (ring === undefined) {
      // Drop the parsed buffers while waiting: each keeps a large slab alive.
      reading = undefined
      ring = await keys.wait(caller)
      reading = read(token)
    }
    const candidates = candidatesOf(reading, ring)
    let hasWaited = false
    for (const key of candidates) {
      let isSigned = isSignedBy(key, reading.algorithm, reading.parsed)
      if (typeof isSigned !== 'boolean') {
        isSigned = await isSigned
        hasWaited = true
      }
      // A synchronous result cannot race a refresh; once anything was awaited, the key may have left.
      if (isSigned && (!hasWaited || (await isTrusted(key, reading, caller)))) {
        return { reading, key, foundIn: ring.keys }
      }
    }
    const doubt: Doubt = {
      kid: textMember(reading.parsed.header, 'kid'),
      algorithm: reading.algorithm,
      accepted,
      tried: candidates.length,
      arrived: caller.arrived,
      ring,
      why: undefined,
    }
    // Dropped for the wait here as well.
    reading = undefined
    const newKey = await keys.suspect(suspicionOf(token, doubt), caller)
    if (newKey !== undefined) return { reading: read(token), key: newKey, foundIn: undefined }
    throw unproven(doubt)
  }

  async function isTrusted(
    key: VerificationKey,
    reading: Reading,
    caller: Caller,
  ): Promise<boolean> {
    caller.signal?.throwIfAborted()
    const ring = keys.current(keys.now()) ?? (await keys.wait(caller))
    return candidatesOf(reading, ring).includes(key)
  }

  function suspicionOf(token: string, doubt: Doubt): Suspicion {
    return {
      token,
      ring: doubt.ring,
      explain(why, ring) {
        doubt.why = why
        if (ring.keys !== doubt.ring.keys) {
          doubt.tried = findCandidates(ring, doubt, accepted).length
        }
        doubt.ring = ring
      },
      couldBeAccepted() {
        const { parsed } = read(token)
        return (
          isOfType(textMember(parsed.header, 'typ'), types) &&
          couldBeAccepted(parsed.payload, rules, now())
        )
      },
      async findProof(newer) {
        const reading = read(token)
        for (const key of candidatesOf(reading, newer)) {
          if (await isSignedBy(key, reading.algorithm, reading.parsed)) return key
        }
        return undefined
      },
      wasIssuedAfter: (time) => wasIssuedAfter(read(token).parsed.payload, rules, time),
    }
  }

  function candidatesOf({ parsed, algorithm }: Reading, ring: KeyRing): readonly VerificationKey[] {
    return findCandidates(ring, { algorithm, kid: textMember(parsed.header, 'kid') }, accepted)
  }

  return prove
}

/** The refusal of a token that no trusted key proves. */
export function unproven(doubt: Unproven): AuthError {
  const { ring, algorithm, accepted, tried } = doubt
  if (tried > 0) return new AuthError('invalid_token', 'signature', otherSignature(doubt))
  // A list has been compared with the header before: with one, what is missing is a key.
  const isForNone =
    accepted === undefined && !ring.keys.some((key) => isFor(key, algorithm, accepted))
  return new AuthError('invalid_token', isForNone ? 'algorithm' : 'unknown_key', unknownKey(doubt))
}

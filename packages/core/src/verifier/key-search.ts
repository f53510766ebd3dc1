import { member, parseJsonObject, textMember } from '@portcullis/kit/json'
import type { Clock } from '@portcullis/kit/time'

import { type AlgorithmNames, checkAlgorithm } from '../algorithms/accepted-algorithms.ts'
import { type AcceptedAlgorithms, type Algorithm, isFor } from '../algorithms/algorithms.ts'
import { couldBeAccepted, wasIssuedAfter } from '../claims/claims.ts'
import type { AcceptedTypes } from '../claims/details.ts'
import { isOfType, statesKind } from '../claims/kind.ts'
import { isKeyForTenant, isTenantRule, type TenantRule } from '../claims/tenants.ts'
import {
  keyOfOthers,
  otherSignature,
  type OtherMaker,
  unknownKey,
  type Unproven,
} from '../keys/details.ts'
import {
  type Caller,
  findCandidates,
  type KeyHints,
  type KeyRing,
  type KeySourceMethods,
  type Suspicion,
  type VerificationKey,
} from '../keys/key-source.ts'
import { AuthError } from '../refusal/errors.ts'
import { timeReading, turnToRead } from '../token/event-loop.ts'
import { createSignatureCheck } from '../token/signature.ts'
import { createHeaderCache, type ParsedToken, parseToken } from '../token/token.ts'
import type { VerifierParts } from './verifier-parts.ts'

// Finds the trusted key that made the signature of a token. Where there is none, it asks the source of the keys for newer ones.

interface Reading {
  readonly parsed: ParsedToken
  readonly algorithm: Algorithm
}

interface Found {
  readonly reading: Reading
  readonly key: VerificationKey
  /** The list of keys in which it was found, where that is known. */
  readonly foundIn: readonly VerificationKey[] | undefined
}

/** The rules decide whether an unproven token may ask for newer keys, and nothing else here. */
export interface KeySearchOptions extends Pick<VerifierParts, 'rules' | 'maxTokenSize' | 'now'> {
  readonly keys: KeySourceMethods
  readonly accepted: AcceptedAlgorithms
  readonly algorithmNames: AlgorithmNames
  readonly types: AcceptedTypes | undefined
  readonly clock: Pick<Clock, 'monotonic'>
}

/** Steps 2 to 4. @throws AuthError `invalid_token` with a reason of an unproven token; `keys_unavailable`; the signal's reason. */
export type KeySearch = (token: string, caller: Caller) => Promise<Found>

export function createKeySearch({
  keys,
  accepted,
  algorithmNames,
  maxTokenSize,
  rules,
  types,
  now,
  clock,
}: KeySearchOptions): KeySearch {
  const headers = createHeaderCache()
  const isSignedBy = createSignatureCheck()
  const tenants = isTenantRule(rules.issuer) ? rules.issuer : undefined

  /** Before the keys: what is wrong here must not cost a fetch. */
  function read(token: string): Reading {
    const parsed = timeReading(clock, () => parseToken(token, maxTokenSize, headers))
    const alg = member(parsed.header, 'alg')
    return { parsed, algorithm: checkAlgorithm(alg, accepted, algorithmNames) }
  }

  /** What is known of the keys is asked after the turn: they may change while it is awaited. */
  async function searchInTurn(turn: Promise<void>, token: string, caller: Caller): Promise<Found> {
    await turn
    caller.signal?.throwIfAborted()
    return await search(token, { ...caller, arrived: keys.now() })
  }

  async function search(token: string, caller: Caller): Promise<Found> {
    let reading: Reading | undefined = read(token)
    let ring = keys.current(caller.arrived, caller.waitUntil)
    if (ring === undefined) {
      // Drop the parsed buffers while waiting: each keeps a large slab alive.
      reading = undefined
      ring = await keys.wait(caller)
      reading = read(token)
    }
    const hints = hintsOf(reading)
    let hasWaited = false
    let other: OtherMaker | undefined
    const isForOthers = (key: VerificationKey, { parsed }: Reading): boolean => {
      if (tenants === undefined || isForTenant(key, parsed, tenants)) return false
      other = { issuer: key.issuer, template: tenants.keyTemplate.text }
      return true
    }
    for (const key of findCandidates(ring, hints, accepted)) {
      let isSigned = isSignedBy(key, reading.algorithm, reading.parsed)
      if (typeof isSigned !== 'boolean') {
        isSigned = await isSigned
        hasWaited = true
      }
      if (!isSigned) continue
      if (isForOthers(key, reading)) continue
      // A synchronous result cannot race a refresh; once anything was awaited, the key may have left.
      if (!hasWaited || (await isTrusted(key, hints, caller))) {
        return { reading, key, foundIn: ring.keys }
      }
    }
    // Dropped for the wait here as well.
    reading = undefined
    const answer = await keys.suspect(suspicionOf(token, ring, isForOthers), caller)
    if (answer.key !== undefined) {
      return { reading: read(token), key: answer.key, foundIn: undefined }
    }
    const { ring: current, why } = answer
    throw unproven({ ...hints, ring: current, why, accepted, arrived: caller.arrived }, other)
  }

  async function isTrusted(
    key: VerificationKey,
    hints: KeyHints,
    caller: Caller,
  ): Promise<boolean> {
    caller.signal?.throwIfAborted()
    const ring = keys.current(keys.now(), caller.waitUntil) ?? (await keys.wait(caller))
    return findCandidates(ring, hints, accepted).includes(key)
  }

  function suspicionOf(
    token: string,
    ring: KeyRing,
    isForOthers: (key: VerificationKey, reading: Reading) => boolean,
  ): Suspicion {
    return {
      token,
      ring,
      couldBeAccepted() {
        const { header, payload } = read(token).parsed
        const typ = textMember(header, 'typ')
        return (
          isOfType(typ, types) && couldBeAccepted(payload, rules, now(), statesKind(typ, types))
        )
      },
      async findKey(newer) {
        const reading = read(token)
        for (const key of findCandidates(newer, hintsOf(reading), accepted)) {
          const isSigned = await isSignedBy(key, reading.algorithm, reading.parsed)
          if (isSigned && !isForOthers(key, reading)) return key
        }
        return undefined
      },
      wasIssuedAfter: (time) => wasIssuedAfter(read(token).parsed.payload, rules, time),
    }
  }

  return (token, caller) => {
    const turn = turnToRead()
    return turn === undefined ? search(token, caller) : searchInTurn(turn, token, caller)
  }
}

/** Only of a key that has made the signature: of several entries for one key, each may be for other tenants. */
function isForTenant(
  { issuer }: VerificationKey,
  { payload }: Reading['parsed'],
  tenants: TenantRule,
): boolean {
  return isKeyForTenant(issuer, parseJsonObject(payload), tenants)
}

function hintsOf({ parsed, algorithm }: Reading): KeyHints {
  return { algorithm, kid: textMember(parsed.header, 'kid') }
}

/** @param other A key that has made the signature, and is for tokens of other issuers. */
export function unproven(said: Omit<Unproven, 'tried'>, other?: OtherMaker): AuthError {
  const { ring, algorithm, accepted } = said
  const tried = findCandidates(ring, said, accepted).length
  const doubt = { ...said, tried }
  if (other !== undefined) {
    return new AuthError('invalid_token', 'unknown_key', keyOfOthers(doubt, other))
  }
  if (tried > 0) return new AuthError('invalid_token', 'signature', otherSignature(doubt))
  // A list has been compared with the header before: with one, what is missing is a key.
  const isForNone =
    accepted === undefined && !ring.keys.some((key) => isFor(key, algorithm, accepted))
  return new AuthError('invalid_token', isForNone ? 'algorithm' : 'unknown_key', unknownKey(doubt))
}

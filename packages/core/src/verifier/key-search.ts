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

export interface Found {
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

/**
 * Steps 2 to 4: at once if nothing has to be waited for. @throws AuthError `invalid_token` with a reason of an unproven token;
 * `keys_unavailable`; the signal's reason.
 */
export type KeySearch = (token: string, caller: Caller) => Found | Promise<Found>

/** Only what it has of its own counts, so that anything else is waited for: the global `Promise` may be another one. */
export function isFound(answer: Found | Promise<Found>): answer is Found {
  return Object.hasOwn(answer, 'reading')
}

/** What is known of a token while its key is looked for. */
interface Sought {
  readonly token: string
  readonly caller: Caller
  readonly ring: KeyRing
  readonly hints: KeyHints
  /** A key that has made the signature, and is for tokens of other issuers. */
  other: OtherMaker | undefined
}

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

  function search(token: string, caller: Caller): Found | Promise<Found> {
    const reading = read(token)
    const ring = keys.current(caller.arrived, caller.waitUntil)
    return ring === undefined ? searchLater(token, caller) : searchIn(ring, reading, token, caller)
  }

  /** What was parsed is dropped for the wait: it keeps a large slab alive. */
  async function searchLater(token: string, caller: Caller): Promise<Found> {
    const ring = await keys.wait(caller)
    return await searchIn(ring, read(token), token, caller)
  }

  function searchIn(
    ring: KeyRing,
    reading: Reading,
    token: string,
    caller: Caller,
  ): Found | Promise<Found> {
    const hints = hintsOf(reading)
    const sought: Sought = { token, caller, ring, hints, other: undefined }
    const candidates = findCandidates(ring, hints, accepted)
    for (const key of candidates) {
      const isSigned = isSignedBy(key, reading.algorithm, reading.parsed)
      if (typeof isSigned !== 'boolean') {
        const others = candidates.slice(candidates.indexOf(key))
        return searchOn(sought, findLater(sought, reading, others, isSigned))
      }
      // A synchronous result cannot race a refresh.
      if (isSigned && !isForOthers(key, reading, sought)) {
        return { reading, key, foundIn: ring.keys }
      }
    }
    return searchElsewhere(sought)
  }

  /** Holds nothing that was parsed: see `searchLater`. */
  async function searchOn(sought: Sought, finding: Promise<Found | undefined>): Promise<Found> {
    return (await finding) ?? (await searchElsewhere(sought))
  }

  /** @param first What comes of the first of these keys. Once anything was awaited, the key may have left. */
  async function findLater(
    sought: Sought,
    reading: Reading,
    candidates: readonly VerificationKey[],
    first: Promise<boolean>,
  ): Promise<Found | undefined> {
    for (const [at, key] of candidates.entries()) {
      const isSigned = await (at === 0 ? first : isSignedBy(key, reading.algorithm, reading.parsed))
      if (!isSigned || isForOthers(key, reading, sought)) continue
      if (await isTrusted(key, sought)) return { reading, key, foundIn: sought.ring.keys }
    }
    return undefined
  }

  /** Whether a key that has made the signature is for tokens of other issuers. */
  function isForOthers(key: VerificationKey, { parsed }: Reading, sought: Sought): boolean {
    if (tenants === undefined || isForTenant(key, parsed, tenants)) return false
    sought.other = { issuer: key.issuer, template: tenants.keyTemplate.text }
    return true
  }

  /** No key of the ring proves the token. */
  async function searchElsewhere(sought: Sought): Promise<Found> {
    const { token, caller, hints } = sought
    const { algorithm, kid } = hints
    const answer = await keys.suspect(suspicionOf(sought), caller)
    if (answer.key !== undefined) {
      return { reading: read(token), key: answer.key, foundIn: undefined }
    }
    const { ring, why } = answer
    throw unproven({ algorithm, kid, ring, why, accepted, arrived: caller.arrived }, sought.other)
  }

  async function isTrusted(key: VerificationKey, { hints, caller }: Sought): Promise<boolean> {
    caller.signal?.throwIfAborted()
    const ring = keys.current(keys.now(), caller.waitUntil) ?? (await keys.wait(caller))
    return findCandidates(ring, hints, accepted).includes(key)
  }

  function suspicionOf(sought: Sought): Suspicion {
    const { token, ring } = sought
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
          if (isSigned && !isForOthers(key, reading, sought)) return key
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
export function unproven(said: Unproven, other?: OtherMaker): AuthError {
  const { ring, algorithm, accepted } = said
  const tried = findCandidates(ring, said, accepted).length
  if (other !== undefined) {
    return new AuthError('invalid_token', 'unknown_key', keyOfOthers(said, other))
  }
  if (tried > 0) return new AuthError('invalid_token', 'signature', otherSignature(said, tried))
  // A list has been compared with the header before: with one, what is missing is a key.
  const isForNone =
    accepted === undefined && !ring.keys.some((key) => isFor(key, algorithm, accepted))
  return new AuthError('invalid_token', isForNone ? 'algorithm' : 'unknown_key', unknownKey(said))
}

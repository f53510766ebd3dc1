import type { KeyObject, VerifyJsonWebKeyInput, VerifyKeyObjectInput } from 'node:crypto'

import type { WaitUntil } from '@portcullis/kit/calls'
import { hasMethods, type OptionCheck } from '@portcullis/kit/options'
import type { Instant } from '@portcullis/kit/time'
import type { Waiting } from '@portcullis/kit/waiting'

import {
  type AcceptedAlgorithms,
  type Algorithm,
  ALGORITHMS,
  isFor,
  type KeyPurpose,
} from '../algorithms/algorithms.ts'
import { foreignness, marked } from '../ground/copy.ts'
import type { KeyUse } from './entry-rules.ts'
import type { PublicJwk } from './key-material.ts'

// The interface between verifiers and sources of keys, and the choice of the keys that may have signed a token.

/** A public key, prepared for each algorithm that it may verify. What a verifier takes it for, `isFor` says. */
export interface VerificationKey extends KeyPurpose {
  /** The key's identity: its RFC 7638 thumbprint (SHA-256, base64url). A `kid` is only a hint. */
  readonly thumbprint: string
  readonly kid: string | undefined
  /** The member `issuer` of its entry: whose tokens the entry is for, or a template of that. Only `IssuerTemplate` reads it. */
  readonly issuer: string | undefined
  readonly publicJwk: PublicJwk
  readonly use: KeyUse
  readonly prepared: ReadonlyMap<Algorithm, PreparedKey>
}

export interface PreparedKey {
  readonly hash: string | null
  /** Without inherited members: Node reads those as well. */
  readonly input: VerifyKeyObjectInput & { readonly key: KeyObject }
  /** Is used instead where it is there. */
  readonly jwkInput: VerifyJsonWebKeyInput | undefined
  /** Octets. */
  readonly signatureLength: number
}

/** The keys that are trusted together. Where anything about them changes, `keys` is another list. */
export interface KeyRing {
  readonly keys: readonly VerificationKey[]
  /** The document was one bare JWK: its key is a candidate for every token, whatever `kid` the two state. */
  readonly bare: boolean
  /** The start of the attempt that brought them, where they were fetched. */
  readonly fetchedAt?: Instant | undefined
  /** Entries of the document that are not among them, and why. */
  readonly skipped?: { readonly entries: readonly SkippedKey[] } | undefined
}

interface SkippedKey {
  readonly kid: string | undefined
  readonly reason: string
}

/**
 * Unproven tokens ask too often (`paced`), no key could help (`pointless`), it has asked before (`repeated`), a key that left proves it
 * (`retired`), or newer keys came and none of them proves it (`answered`).
 */
export type WhyUnproven = 'paced' | 'pointless' | 'repeated' | 'retired' | 'answered'

export interface Caller extends Waiting {
  /** On the clock of the key source. */
  readonly arrived: Instant
  /** Of the request. */
  readonly waitUntil?: WaitUntil | undefined
}

/** A well-formed token that no key of `ring` proves. What is asked about it reads it again: it is not kept parsed. */
export interface Suspicion {
  readonly token: string
  readonly ring: KeyRing
  readonly couldBeAccepted: () => boolean
  /** Checks the token with other keys, and answers which of them made the signature. */
  readonly findKey: (ring: KeyRing) => Promise<VerificationKey | undefined>
  /** Whether it says that it was issued after a time (seconds): only for a token that a key is known to prove, be it a retired one. */
  readonly wasIssuedAfter: (time: number) => boolean
}

/** The newer key that proves a token; or why none does, and the keys in use. An own `key`: one of `Object.prototype` proves nothing. */
export type SuspicionAnswer =
  | { readonly key: VerificationKey }
  | { readonly key: undefined; readonly why: WhyUnproven | undefined; readonly ring: KeyRing }

declare const brand: unique symbol

/**
 * Where public keys come from: what `localKeys`, `remoteKeys` and `discoverKeys` return. One source may serve several verifiers.
 *
 * Opaque: what a verifier asks of it may change in any release, so nobody can write a source of their own. For keys that come in
 * another way there is the option `fetch` of `remoteKeys`.
 */
export interface KeySource {
  readonly [brand]: 'KeySource'
}

export interface KeySourceMethods {
  /** The moment that it is, on the clock that ages are measured with. */
  now(): Instant
  /** The keys to judge by at this moment, or `undefined` if the caller has to {@link wait}. May start a refresh that nobody waits for. */
  current(now: Instant, waitUntil?: WaitUntil): KeyRing | undefined
  /** @throws AuthError `keys_unavailable`; the signal's reason when the caller gives up. */
  wait(caller: Caller): Promise<KeyRing>
  /**
   * Whether a rotation that has not been seen explains the token. @returns No key when the keys are known to be current.
   *
   * @throws AuthError `keys_unavailable` when that cannot be told; the signal's reason when the caller gives up.
   */
  suspect(suspicion: Suspicion, caller: Caller): Promise<SuspicionAnswer>
}

/** A source with these methods, and with whatever else it has. The brand is there for the compiler alone. */
export function keySource<Source extends KeySourceMethods>(source: Source): Source & KeySource {
  return marked(source) as Source & KeySource
}

export const isKeySource: OptionCheck = (value) =>
  hasMethods(value, 'now', 'current', 'wait', 'suspect')
    ? foreignness(value)
    : 'must be a key source, such as remoteKeys(url)'

/** The methods of a source. Each was made by {@link keySource}, or `checkVerifierOptions` has seen that it has them. */
export function methodsOf<Source extends KeySource>(source: Source): Source & KeySourceMethods {
  return source as Source & KeySourceMethods
}

const MAX_CANDIDATES = 8

export interface KeyHints {
  readonly algorithm: Algorithm
  /** @see RFC 7515 section 4.1.4: a hint and no more */
  readonly kid: string | undefined
}

/** Those of an equal `kid` first, then those where one has none. At most 8: a forged token has a price limit. RFC 8725 section 3.1 */
export function findCandidates(
  ring: KeyRing,
  { algorithm, kid }: KeyHints,
  accepted: AcceptedAlgorithms,
): readonly VerificationKey[] {
  const named: VerificationKey[] = []
  const unnamed: VerificationKey[] = []
  for (const key of ring.keys) {
    if (!isFor(key, algorithm, accepted)) continue
    if (ring.bare || (kid !== undefined && key.kid === kid)) named.push(key)
    else if (kid === undefined || key.kid === undefined) unnamed.push(key)
  }
  const all = unnamed.length === 0 ? named : [...named, ...unnamed]
  return all.length > MAX_CANDIDATES ? all.slice(0, MAX_CANDIDATES) : all
}

/** How many more keys fit one token than are tried: one without a `kid`, which fits the most, for a verifier that lists all algorithms. */
export function countUntried(keys: readonly VerificationKey[]): number {
  const every = [...ALGORITHMS.keys()]
  const fitting = every.map(
    (algorithm) => keys.filter((key) => isFor(key, algorithm, every)).length,
  )
  return Math.max(0, ...fitting.map((count) => count - MAX_CANDIDATES))
}

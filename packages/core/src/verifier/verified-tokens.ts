import { textMember } from '@portcullis/kit/json'
import { noOptions } from '@portcullis/kit/options'
import { LRUCache } from 'lru-cache'

import type { AcceptedAlgorithms, Algorithm } from '../algorithms/algorithms.ts'
import { findCandidates, type KeyRing, type VerificationKey } from '../keys/key-source.ts'
import type { Judged, ProvenToken } from './token-prover.ts'

// Remembers tokens that were proven. That alone lets no token in: the prover asks each time whether its key is still trusted, and the
// judge whether its times still hold.

export interface VerifiedToken extends ProvenToken {
  readonly token: string
  readonly key: VerificationKey
  readonly algorithm: Algorithm
  /** The last list of keys that is known to prove the token: while that one is in use, so is the key. */
  foundIn: readonly VerificationKey[] | undefined
  /** What the rules of the one verifier that it was proven for have made of it. */
  judged: Judged | undefined
}

interface Remembered {
  readonly token: string
}

/** The tokens that one verifier has proven, so that one which comes again costs no signature check. */
export interface VerifiedTokens<Known extends Remembered = VerifiedToken> {
  /** What this very token proved. Whether its key is still trusted, and its times still hold, is for the caller to ask. */
  find(token: string): Known | undefined
  remember(known: Known): void
  forget(token: string): void
}

/** Characters from the end of a token that tell it from others; the whole of it is compared all the same. */
const TAIL = 6
/** Characters. Claims take up more than that, in proportion. */
const MEAN_TOKEN_SIZE = 2048

/**
 * Remembers the `max` tokens used last; fewer if they are large. Only proven tokens are kept: forged ones take no memory.
 */
export function createVerifiedTokens<Known extends Remembered = VerifiedToken>(
  max: number,
): VerifiedTokens<Known> {
  const tokens = new LRUCache<number, Known>({
    max,
    maxSize: max * MEAN_TOKEN_SIZE,
    sizeCalculation: ({ token }) => token.length,
  })
  return {
    find(token) {
      const known = tokens.get(nameOf(token), noOptions())
      return known?.token === token ? known : undefined
    },
    remember(known) {
      tokens.set(nameOf(known.token), known, noOptions())
    },
    forget(token) {
      tokens.delete(nameOf(token))
    },
  }
}

/** Of the token's last characters: to hash the whole token at each look-up costs more than everything else here. */
function nameOf(token: string): number {
  let name = 0
  for (let at = token.length - TAIL; at < token.length; at++) {
    name = (Math.imul(name, 61) + token.charCodeAt(at)) | 0
  }
  return name
}

/**
 * Whether these keys would prove the token again. Their list is noted, which changes no answer: else each use would search it, from the first
 * change of keys on. @param accepted The rule of the same verifier: what was noted is not true for another one.
 */
export function isStillTrusted(
  verified: VerifiedToken,
  ring: KeyRing,
  accepted: AcceptedAlgorithms,
): boolean {
  if (verified.foundIn === ring.keys) return true
  const { header, key, algorithm } = verified
  const hints = { algorithm, kid: textMember(header, 'kid') }
  const isTrusted = findCandidates(ring, hints, accepted).includes(key)
  if (isTrusted) verified.foundIn = ring.keys
  return isTrusted
}

import type { JsonObject } from '@portcullis/kit/json'

import { idTokenHint } from '../claims/details.ts'
import type { KeyRing } from '../keys/key-source.ts'
import type { Binding } from '../possession/binding.ts'
import { AuthError } from '../refusal/errors.ts'
import { printable, shown } from '../refusal/text.ts'
import { confirmedText, inMilliseconds } from './details.ts'

// Combines findings into hints: what is probably wrong, such as a rotation that a service has not seen yet.

/** What is probably wrong, where one check alone cannot tell. */
export interface Hint {
  /** A minor release may bring further ones. */
  readonly name:
    | 'algorithm_not_listed'
    | 'kid_of_another_key'
    | 'previous_key'
    | 'rotation_not_seen'
    | 'other_keys'
    | 'unusable_keys'
    | 'milliseconds'
    | 'id_token'
    | 'bound_token'
  /** In words, without the value of any claim. */
  readonly text: string
}

/** The key that made the signature, and where it was found. */
export interface Signer {
  /** RFC 7638 thumbprint. */
  readonly thumbprint: string
  readonly kid: string | undefined
  /** `keys`, `keysInHand`, or the name of other keys. */
  readonly foundIn: string
}

export interface Clues {
  readonly isProven: boolean
  /** Whether the keys in hand prove the token; `undefined` if there are none. */
  readonly isProvenInHand: boolean | undefined
  readonly isAlgorithmAccepted: boolean
  readonly alg: unknown
  readonly kid: string | undefined
  readonly signer: Signer | undefined
  readonly ring: KeyRing | AuthError
  readonly claims: JsonObject | undefined
  /** What the token is bound to, if that was not proven. */
  readonly refusedBinding: Binding | undefined
}

export function hintsOf(clues: Clues): readonly Hint[] {
  const { signer, isProven, isProvenInHand } = clues
  const isTelling = signer !== undefined && (!isProven || isProvenInHand === false)
  const hint = isTelling ? signerHint(signer, clues) : undefined
  return [...(hint === undefined ? [] : [hint]), ...keyHints(clues), ...claimHints(clues)]
}

function signerHint(
  { thumbprint, foundIn, kid: ownKid }: Signer,
  { isProven, isAlgorithmAccepted, alg, kid, ring }: Clues,
): Hint | undefined {
  const key = `the key ${thumbprint.slice(0, 8)}`
  if (isProven) {
    const text = `${key} is newer than the keys in hand: a service fetches it for the first such token`
    return { name: 'rotation_not_seen', text }
  }
  if (foundIn === 'keysInHand') {
    const text = `${key} made the signature, and has left the document since: the token is older than a rotation`
    return { name: 'previous_key', text }
  }
  if (foundIn !== 'keys') {
    const text = `${key} of ${shown(foundIn)} made the signature: the token is from another environment`
    return { name: 'other_keys', text }
  }
  if (!isAlgorithmAccepted) {
    const text = `${key} made the signature with ${shown(alg)}, which the verifier does not accept`
    return { name: 'algorithm_not_listed', text }
  }
  // It was looked at: its entry names other issuers, or there were too many before it.
  const isBare = !(ring instanceof AuthError) && ring.bare
  if (isBare || ownKid === kid || ownKid === undefined || kid === undefined) return undefined
  const text = `${key}, whose kid is ${shown(ownKid)}, made the signature; the header's kid is ${shown(kid)}`
  return { name: 'kid_of_another_key', text }
}

function keyHints({ isProven, ring }: Clues): readonly Hint[] {
  if (isProven || ring instanceof AuthError) return []
  const entries = ring.skipped?.entries ?? []
  if (entries.length === 0) return []
  const reasons = entries.slice(0, 3).map(({ kid, reason }) => {
    return `${kid === undefined ? 'one' : shown(kid)}: ${printable(reason, 120)}`
  })
  const others = entries.length - reasons.length
  const more = others > 0 ? `, and ${others} more` : ''
  const text = `keys of the document cannot be used: ${reasons.join('; ')}${more}`
  return [{ name: 'unusable_keys', text }]
}

function claimHints({ claims, refusedBinding }: Clues): readonly Hint[] {
  if (claims === undefined) return []
  const hints: Hint[] = []
  const names = inMilliseconds(claims)
  if (names.length > 0) {
    const look = names.length === 1 ? 'looks' : 'look'
    const text = `${names.join(', ')} ${look} like milliseconds, and must be seconds`
    hints.push({ name: 'milliseconds', text })
  }
  if (refusedBinding !== undefined) {
    const text = `${confirmedText(refusedBinding)}: sent as Bearer alone, it gets 401 from a service, as a stolen one does`
    hints.push({ name: 'bound_token', text })
  }
  if (idTokenHint(claims) !== '') {
    const text =
      'it has nonce or at_hash, as an ID token has: an API takes the access token instead'
    hints.push({ name: 'id_token', text })
  }
  return hints
}

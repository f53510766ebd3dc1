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
  return [...signerHints(clues), ...keyHints(clues), ...claimHints(clues)]
}

function signerHints(clues: Clues): readonly Hint[] {
  const { signer, isProven, isProvenInHand, isAlgorithmAccepted, alg, kid } = clues
  if (signer === undefined) return []
  const key = `the key ${signer.thumbprint.slice(0, 8)}`
  if (isProven) {
    return isProvenInHand === false
      ? [
          hint(
            'rotation_not_seen',
            `${key} is newer than the keys in hand: a service fetches it for the first such token`,
          ),
        ]
      : []
  }
  if (signer.foundIn === 'keysInHand') {
    return [
      hint(
        'previous_key',
        `${key} made the signature, and has left the document since: the token is older than a rotation`,
      ),
    ]
  }
  if (signer.foundIn !== 'keys') {
    return [
      hint(
        'other_keys',
        `${key} of ${shown(signer.foundIn)} made the signature: the token is from another environment`,
      ),
    ]
  }
  if (!isAlgorithmAccepted) {
    return [
      hint(
        'algorithm_not_listed',
        `${key} made the signature with ${shown(alg)}, which the verifier does not accept`,
      ),
    ]
  }
  return [
    hint(
      'kid_of_another_key',
      `${key}, whose kid is ${shown(signer.kid)}, made the signature; the header's kid is ${shown(kid)}`,
    ),
  ]
}

function keyHints({ isProven, ring }: Clues): readonly Hint[] {
  if (isProven || ring instanceof AuthError) return []
  const entries = ring.skipped?.entries ?? []
  if (entries.length === 0) return []
  const reasons = entries
    .slice(0, 3)
    .map(
      ({ kid, reason }) => `${kid === undefined ? 'one' : shown(kid)}: ${printable(reason, 120)}`,
    )
  const more =
    entries.length > reasons.length ? `, and ${entries.length - reasons.length} more` : ''
  return [
    hint('unusable_keys', `keys of the document cannot be used: ${reasons.join('; ')}${more}`),
  ]
}

function claimHints({ claims, refusedBinding }: Clues): readonly Hint[] {
  if (claims === undefined) return []
  const names = inMilliseconds(claims)
  const hints: Hint[] = []
  if (names.length > 0) {
    hints.push(
      hint(
        'milliseconds',
        `${names.join(', ')} look${names.length === 1 ? 's' : ''} like milliseconds, and must be seconds`,
      ),
    )
  }
  if (refusedBinding !== undefined) {
    hints.push(
      hint(
        'bound_token',
        `${confirmedText(refusedBinding)}: sent as Bearer alone, it gets 401 from a service, as a stolen one does`,
      ),
    )
  }
  if (idTokenHint(claims) !== '') {
    hints.push(
      hint(
        'id_token',
        'it has nonce or at_hash, as an ID token has: an API takes the access token instead',
      ),
    )
  }
  return hints
}

function hint(name: Hint['name'], text: string): Hint {
  return { name, text }
}

import type { Algorithm } from '@portcullis/core'
import type { JWK } from 'jose'

import { readSigningKey } from './given-key.ts'
import {
  halfDone,
  type KeyState,
  publishedIn,
  type Rotation,
  type RotationStep,
  settledOn,
} from './key-rotation.ts'
import type { OptionalMember, SigningKey } from './signing-key.ts'

// Saves the private keys of an issuer with its place in a rotation, and starts from what was saved.

/** The private keys of an issuer, and how it uses them, also between the two steps of a rotation. JSON. */
export interface PrivateKeys {
  /** The key that signs. Without a `kid` if the key has none. */
  readonly signing: Readonly<JWK>
  /** The published key, or both keys of a set, in the order of the document. */
  readonly published: readonly Readonly<JWK>[]
  /** Whether the document is a set. */
  readonly isSet: boolean
  /** The second step of the last rotation; `undefined` if no step is left. */
  readonly pending?: Rotation['next']
}

const ROTATION_STEPS: ReadonlySet<RotationStep> = new Set(['sign', 'publish', 'withdraw'])

/** @throws TypeError if there is no private key for the algorithm. The message contains nothing of the key. */
export async function readKeys(
  key: string | Readonly<JWK> | PrivateKeys,
  algorithm: Algorithm,
  omit: readonly OptionalMember[],
): Promise<KeyState> {
  const read = async (each: string | Readonly<JWK>, unnamed?: null) =>
    await readSigningKey(each, algorithm, omit, unnamed)
  try {
    if (typeof key === 'string' || !isPrivateKeys(key)) return settledOn(await read(key))
    const { isSet, pending } = key
    const published = await Promise.all(key.published.map(async (each) => await read(each, null)))
    const signing = same(await read(key.signing, null), published)
    return stateOf(signing, published, isSet, pending)
  } catch {
    // Whatever went wrong: an error of a library might show what it was given.
    throw new TypeError(
      `createTestIssuer: key must be a private key for ${algorithm}, as PEM or as a JWK, or what privateKeys() returned`,
    )
  }
}

export async function privateKeysOf(state: KeyState): Promise<PrivateKeys> {
  return {
    signing: await state.signing.privateJwk(),
    published: await Promise.all(publishedIn(state).map(async (each) => await each.privateJwk())),
    isSet: 'keys' in state.document,
    pending: state.rest?.next,
  }
}

function isPrivateKeys(key: Readonly<JWK> | PrivateKeys): key is PrivateKeys {
  return Object.hasOwn(key, 'signing')
}

/** One key is one object: it is told apart by that. */
function same(key: SigningKey, others: readonly SigningKey[]): SigningKey {
  const { thumbprint, publicJwk } = key
  return (
    others.find((each) => each.thumbprint === thumbprint && each.publicJwk.kid === publicJwk.kid) ??
    key
  )
}

function stateOf(
  signing: SigningKey,
  keys: readonly SigningKey[],
  isSet: boolean,
  pending: Rotation['next'],
): KeyState {
  const published = keys.at(-1)
  if (published === undefined || keys.length > (isSet ? 2 : 1)) throw new TypeError('published')
  if (pending !== undefined && !ROTATION_STEPS.has(pending)) throw new TypeError('pending')
  const besides = keys.length === 2 ? keys[0] : undefined
  const document = isSet ? { keys: keys.map(({ publicJwk }) => publicJwk) } : published.publicJwk
  const state = { signing, document, published, besides }
  return pending === undefined ? state : halfDone(pending, state)
}

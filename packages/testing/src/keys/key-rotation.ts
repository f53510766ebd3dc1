import type { Algorithm } from '@portcullis/core'
import type { JWK } from 'jose'

import { checkOptions, oneOf } from '../options.ts'
import { createSigningKey, type OptionalMember, type SigningKey } from './signing-key.ts'

export interface RotateOptions {
  /**
   * The `kid` of the new key, in the document and in the tokens: its thumbprint, the old key's, or none.
   * @default 'new'
   */
  kid?: 'new' | 'same' | 'none' | undefined
  /**
   * When the document changes: together with the key that signs (`now`), before it (`first`), after it (`later`), or now, to
   * a set that has the old key as well (`both`).
   * @default 'now'
   */
  publish?: 'now' | 'first' | 'later' | 'both' | undefined
}

export interface Rotation {
  /**
   * The second half. `first`: the new key signs. `later`: it is published. `both`: the old key leaves the set. `now` has
   * none.
   *
   * @throws TypeError if the issuer has rotated again since.
   */
  complete(): void
}

/** What a key endpoint serves: one bare JWK, or a set. */
export type KeyDocument = Readonly<JWK> | { readonly keys: readonly Readonly<JWK>[] }

interface KeyState {
  readonly signing: SigningKey
  readonly document: KeyDocument
  /** The newest key in the document. */
  readonly published: SigningKey
}

/** An issuer's key, and its rotations. */
export interface KeyRotation {
  readonly signing: SigningKey
  readonly document: KeyDocument
  /** The newest key in the document, which need not be the one that signs. */
  readonly published: SigningKey
  /** The document before it last changed, if it has. */
  readonly staleDocument: KeyDocument | undefined
  rotate(options?: RotateOptions): Promise<Rotation>
}

/** @param omit Members that none of its public keys has. */
export async function createKeyRotation(
  algorithm: Algorithm,
  omit: readonly OptionalMember[],
): Promise<KeyRotation> {
  const first = await createSigningKey(algorithm, omit)
  let state: KeyState = { signing: first, document: first.publicJwk, published: first }
  let staleDocument: KeyDocument | undefined

  function change(next: KeyState): void {
    if (next.document !== state.document) staleDocument = state.document
    state = next
  }

  async function rotate(options: RotateOptions = {}): Promise<Rotation> {
    checkOptions('rotate', options, {
      kid: oneOf('new', 'same', 'none'),
      publish: oneOf('now', 'first', 'later', 'both'),
    })
    const { kid = 'new', publish = 'now' } = options
    const names = { new: undefined, same: state.signing.publicJwk.kid ?? null, none: null }
    const next = await createSigningKey(algorithm, omit, names[kid])
    const [half, whole] = halves(state, next)[publish]
    change(half)
    return {
      complete() {
        if (state !== half && state !== whole) {
          throw new TypeError('complete: the issuer has rotated again since')
        }
        change(whole)
      },
    }
  }

  return {
    get signing() {
      return state.signing
    },
    get document() {
      return state.document
    },
    get published() {
      return state.published
    },
    get staleDocument() {
      return staleDocument
    },
    rotate,
  }
}

/** The states of each form of rotation: after its first half, and after its second. */
function halves(
  { signing, document, published }: KeyState,
  next: SigningKey,
): Record<NonNullable<RotateOptions['publish']>, readonly [half: KeyState, whole: KeyState]> {
  const rotated = { signing: next, document: next.publicJwk, published: next }
  const both = { keys: [signing.publicJwk, next.publicJwk] }
  return {
    now: [rotated, rotated],
    first: [{ ...rotated, signing }, rotated],
    later: [{ signing: next, document, published }, rotated],
    both: [
      { ...rotated, document: both },
      { ...rotated, document: { keys: [next.publicJwk] } },
    ],
  }
}

import type { JWK } from 'jose'

import type { Clock } from '../clock.ts'
import { checkOptions, oneOf } from '../options.ts'
import { createKeyRecord, type KeyPhases } from './key-phases.ts'
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
   * @throws TypeError if the issuer has rotated again since, or rolled back.
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
  /** Another key in the document. */
  readonly besides?: SigningKey
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
  rollBack(): void
  phases(): readonly KeyPhases[]
}

/** How many rotations can be rolled back, one after another. */
const MAX_ROLL_BACKS = 100

/** @param omit Members that none of its public keys has. */
export function createKeyRotation(
  clock: Clock,
  first: SigningKey,
  omit: readonly OptionalMember[],
): KeyRotation {
  let state: KeyState = { signing: first, document: first.publicJwk, published: first }
  let staleDocument: KeyDocument | undefined
  /** The states before each rotation. */
  let before: readonly KeyState[] = []
  const record = createKeyRecord(clock)
  record.note(first, [first])

  function change(next: KeyState): void {
    if (next.document !== state.document) staleDocument = state.document
    state = next
    const { published, besides } = state
    record.note(state.signing, besides === undefined ? [published] : [besides, published])
  }

  async function rotate(options: RotateOptions = {}): Promise<Rotation> {
    checkOptions('rotate', options, {
      kid: oneOf('new', 'same', 'none'),
      publish: oneOf('now', 'first', 'later', 'both'),
    })
    const { kid = 'new', publish = 'now' } = options
    const names = { new: undefined, same: state.signing.publicJwk.kid ?? null, none: null }
    const next = await createSigningKey(first.algorithm, omit, names[kid])
    const [half, whole] = halves(state, next)[publish]
    before = [...before, state].slice(-MAX_ROLL_BACKS)
    change(half)
    return {
      complete() {
        if (state !== half && state !== whole) {
          throw new TypeError('complete: the issuer has rotated again since, or rolled back')
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
    rollBack() {
      const previous = before.at(-1)
      if (previous === undefined) throw new TypeError('rollBack: there is no rotation to undo')
      before = before.slice(0, -1)
      change(previous)
    },
    phases: () => record.copy(),
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
      { ...rotated, document: both, besides: signing },
      { ...rotated, document: { keys: [next.publicJwk] } },
    ],
  }
}

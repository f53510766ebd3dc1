import { checkOptions, oneOf } from '@portcullis/kit/options'
import type { JWK } from 'jose'

import type { Clock } from '../clock.ts'
import { createKeyRecord, type KeyPhases } from './key-phases.ts'
import { createSigningKey, type OptionalMember, type SigningKey } from './signing-key.ts'

// How an issuer changes its key: at once or in two steps, and back again.

export interface RotateOptions {
  /**
   * The `kid` of the new key, in the document and in the tokens: its thumbprint (`new`), that of the old key (`same`), or
   * `none`.
   * @default 'new'
   */
  kid?: 'new' | 'same' | 'none' | undefined
  /**
   * When the new key is in the document: from the moment when it signs (`now`), before that (`first`), after that (`later`),
   * or `both`: from the moment when it signs, in a set with the old key.
   * @default 'now'
   */
  publish?: 'now' | 'first' | 'later' | 'both' | undefined
}

/** A change to a new key, in one step or in two. */
export interface Rotation {
  /** The second step, if it is left: the new key signs, or it is published, or the old one leaves the document. */
  readonly next: 'sign' | 'publish' | 'withdraw' | undefined
  /**
   * Does the second step. `first`: the new key signs. `later`: it is published. `both`: the old key leaves the set. `now` has
   * no second step.
   *
   * @throws TypeError if the issuer has rotated again since, or rolled back.
   */
  complete(): void
}

export type KeyDocument = Readonly<JWK> | { readonly keys: readonly Readonly<JWK>[] }

export interface KeyState {
  readonly signing: SigningKey
  readonly document: KeyDocument
  /** The newest key in the document, which need not be the one that signs. */
  readonly published: SigningKey
  readonly besides?: SigningKey | undefined
  /** The second step of the rotation that led here. */
  readonly rest?: { readonly next: RotationStep; readonly leadsTo: KeyState } | undefined
}

export type RotationStep = NonNullable<Rotation['next']>

export interface KeyRotation {
  readonly state: KeyState
  /** The document before it last changed, if it has. */
  readonly staleDocument: KeyDocument | undefined
  rotate(options?: RotateOptions): Promise<Rotation>
  rollBack(): void
  pending(): Rotation | undefined
  phases(): readonly KeyPhases[]
}

/** How many rotations can be rolled back, one after another. */
const MAX_ROLL_BACKS = 100

/** @param omit Members that none of its public keys has. */
export function createKeyRotation(
  clock: Clock,
  first: KeyState,
  omit: readonly OptionalMember[],
): KeyRotation {
  let state = first
  let staleDocument: KeyDocument | undefined
  let before: readonly KeyState[] = []
  const record = createKeyRecord(clock)
  record.note(first.signing, publishedIn(first))

  function change(next: KeyState): void {
    if (next.document !== state.document) staleDocument = state.document
    state = next
    record.note(state.signing, publishedIn(state))
  }

  function rotationFrom(half: KeyState): Rotation {
    const { next, leadsTo } = half.rest ?? { leadsTo: half }
    return {
      get next() {
        return state === half ? next : undefined
      },
      complete() {
        // To complete a rotation twice does no harm.
        if (state !== half && state !== leadsTo) {
          throw new TypeError('complete: the issuer has rotated again since, or rolled back')
        }
        change(leadsTo)
      },
    }
  }

  async function rotate(options: RotateOptions = {}): Promise<Rotation> {
    checkOptions('rotate', options, {
      kid: oneOf('new', 'same', 'none'),
      publish: oneOf('now', 'first', 'later', 'both'),
    })
    const { kid = 'new', publish = 'now' } = options
    const names = { new: undefined, same: state.signing.publicJwk.kid ?? null, none: null }
    const next = await createSigningKey(first.signing.algorithm, omit, names[kid])
    const half = firstHalf(state, next, publish)
    before = [...before, state].slice(-MAX_ROLL_BACKS)
    change(half)
    return rotationFrom(half)
  }

  return {
    get state() {
      return state
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
    pending: () => (state.rest === undefined ? undefined : rotationFrom(state)),
    phases: () => record.copy(),
  }
}

/** One key, which signs and is published as a bare JWK. */
export function settledOn(key: SigningKey): KeyState {
  return { signing: key, document: key.publicJwk, published: key }
}

/** The keys in the document, in its order. */
export function publishedIn({ published, besides }: KeyState): readonly SigningKey[] {
  return besides === undefined ? [published] : [besides, published]
}

/** The state after the second step of a rotation. */
function completed(next: RotationStep, { signing, published }: KeyState): KeyState {
  const inSet = { ...settledOn(published), document: { keys: [published.publicJwk] } }
  return { sign: settledOn(published), publish: settledOn(signing), withdraw: inSet }[next]
}

/** The state after the first step of a rotation, which may be the only one. */
function firstHalf(
  { signing, document, published, besides }: KeyState,
  next: SigningKey,
  publish: NonNullable<RotateOptions['publish']>,
): KeyState {
  const rotated = settledOn(next)
  const both = { keys: [signing.publicJwk, next.publicJwk] }
  const forms = {
    now: rotated,
    first: halfDone('sign', { ...rotated, signing }),
    later: halfDone('publish', { signing: next, document, published, besides }),
    both: halfDone('withdraw', { ...rotated, document: both, besides: signing }),
  }
  return forms[publish]
}

export function halfDone(next: RotationStep, state: KeyState): KeyState {
  return { ...state, rest: { next, leadsTo: completed(next, state) } }
}

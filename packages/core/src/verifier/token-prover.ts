import type { WaitUntil } from '@portcullis/kit/calls'

import type { Auth, Claims, Header } from '../claims/auth.ts'
import type { Binding } from '../possession/binding.ts'
import type { AuthError } from '../refusal/errors.ts'

// The interface between a verifier and who proves its tokens: keys, or what an issuer says of them.

/** What somebody has proven of a token. A later proof of the same token is another object. */
export interface ProvenToken {
  /** From `parseUnambiguousObject`: frozen, and no member is repeated. */
  readonly claims: Claims
  /** What the `Auth` will have as its header. Frozen. */
  readonly header: Header
  /** Whether a member inside of a claim is written twice, where whoever has read the claims does not refuse that. */
  readonly repeatsMember?: boolean | undefined
}

/** For whom a token is proven. */
export interface ProvingCaller {
  /** On the clock that proofs age by: that of the keys, or of the verifier. */
  readonly arrived: { readonly wall: number; readonly monotonic: number }
  /** Ends the wait of this caller alone. */
  readonly signal: AbortSignal | undefined
  /** Of the request. */
  readonly waitUntil: WaitUntil | undefined
}

/** Who proves the tokens of a verifier. Nothing that it says of a token is believed beyond the rules of the verifier. */
export interface TokenProver<Proven extends ProvenToken = ProvenToken> {
  /**
   * What was proven of the token before, if that may be used at this moment.
   *
   * @param now As {@link ProvingCaller.arrived}.
   * @param waitUntil Of the request.
   */
  recall(
    token: string,
    now: ProvingCaller['arrived'],
    waitUntil: WaitUntil | undefined,
  ): Proven | undefined
  /**
   * Proves a token of which nothing can be recalled: at once, or by a promise.
   *
   * @throws AuthError if the token is not proven, or if that cannot be told at the moment; the signal's reason.
   */
  prove(token: string, caller: ProvingCaller): Proven | Promise<Proven>
  /**
   * What this kind of proof asks of the token beside the rules. It has no effect and looks at no clock.
   *
   * @returns `true` if the token names a kind that an option states: then `events` among the claims are no fault.
   * @throws AuthError `invalid_token`
   */
  check(proven: Proven): boolean
  /**
   * Whether a text may be a token though RFC 6750 would write none so (section 2.1). Missing where none may. Guards ask it before
   * anything else, of printable ASCII without white space, commas, quotes and semicolons alone.
   */
  readonly mayBeToken?: ((text: string) => boolean) | undefined
  /**
   * Whether a proof may still be used, after a wait: time has passed, and a later one may say otherwise.
   *
   * @param waitUntil Of the request.
   */
  stands(token: string, proven: Proven, waitUntil: WaitUntil | undefined): boolean
  /** The refusal where each proof has ended before the schema and the revocations had answered. */
  late(): AuthError
  /** @throws AuthError if tokens cannot be proven at the moment */
  ready(): Promise<void>
  /** Of all JWTs that it reads or makes; missing if they are not stated. Guards with `profile` ask. */
  readonly algorithms?: readonly string[] | undefined
  /** Whether it asks the issuer about each token, so that a proof says that it has neither expired nor been revoked. */
  readonly asksIssuer?: boolean | undefined
}

/** What the rules have made of a proof that they accept. Its times and its binding are looked at each time. */
export interface Judged {
  readonly auth: Auth
  /** Worked out once, so that a token that is bound to nothing costs nothing more. */
  readonly binding: Binding | undefined
  /** The `Auth` with what a sender has proven last. Nearly always that is the same again: a token is bound to one key. */
  bound: Auth | undefined
  /** Whether the schema has answered at once when it was asked last. Until it has, nobody asks who cannot wait. */
  isSchemaPrompt: boolean
}

export interface ProofMemory<Proven> {
  /** What its one verifier has made of each proof. A place in the proof itself costs less than an entry of a `WeakMap`. */
  readonly judged: {
    readonly get: (proven: Proven) => Judged | undefined
    readonly set: (proven: Proven, judged: Judged) => void
  }
  /** The rules have accepted its claims, for the first time. */
  readonly remember: (proven: Proven) => void
  /** Its time is over. */
  readonly forget: (proven: Proven) => void
}

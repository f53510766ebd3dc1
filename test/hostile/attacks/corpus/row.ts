import type { AuthErrorReason, VerifierOptions } from '@portcullis/core'

/** `TypeError`: the factory refuses its options, so that no token ever gets as far. */
export type Verdict = 'accepted' | 'TypeError' | AuthErrorReason

export type Options = Partial<VerifierOptions>

/** One token, judged. */
export interface Judgement {
  /** What `verify` is given: whatever a caller might. */
  readonly token: unknown
  readonly verdict: Verdict
  /** What the verifier is told beyond the usual. One object is one verifier. */
  readonly options?: Options | undefined
  /** The key endpoint that the verifier follows. */
  readonly from?: string | undefined
  /** Seconds that pass before there is a verdict, for a token that has to wait. */
  readonly waits?: number | undefined
}

/** What a key endpoint answers with. Text and octets go out as they are, anything else as JSON. */
export type Answer = string | Uint8Array | Response | object | null

export type Step =
  | Judgement
  /** Judged at the same time. */
  | { readonly together: readonly Judgement[] }
  | { readonly serve: Answer; readonly at?: string }
  /** JSON that the application reads for purposes of its own. */
  | { readonly parse: string }
  /** Seconds to let pass. */
  | { readonly pass: number }

/** One input, hostile or only unusual, and what decides about it. */
export interface Row extends Judgement {
  /** Unique. */
  readonly name: string
  /** The sections and advisories that decide, apart by "; ". */
  readonly source: string
  /** The issuer's own set by default. */
  readonly document?: Answer
  /** The issuer's metadata: the keys are then those of `discoverKeys`. */
  readonly metadata?: Answer
  readonly before?: readonly Step[]
  /** How many requests the key endpoints see in all; by default, none for what is decided before the keys, else one. */
  readonly requests?: number
}

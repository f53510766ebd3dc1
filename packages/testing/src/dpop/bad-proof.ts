import type { AuthErrorReasons } from '@portcullis/core'

import type { SigningKey } from '../keys/signing-key.ts'
import type { ProofOptions, ProvenRequest } from './proof.ts'

// The types of the tables of bad proofs: what a row has, and what rows are made of.

/** A request that must be refused for its proof, with the reason. */
export interface BadProof {
  /** What kind of proof it is. */
  readonly name: string
  /** `code` and `reason` of the `AuthError`. */
  readonly code: 'invalid_dpop_proof' | 'use_dpop_nonce' | 'invalid_token'
  readonly reason:
    | Exclude<AuthErrorReasons['invalid_dpop_proof'], 'replayed_proof'>
    | AuthErrorReasons['use_dpop_nonce']
    | 'binding'
  /** The headers to send. Without `dpop` in the case of a missing proof. */
  readonly headers: { readonly authorization: string; readonly dpop?: string }
}

/** The same as a row of a table: `undefined` for no proof at all. */
export type BadProofRow = readonly [
  reason: BadProof['reason'],
  name: string,
  make: () => string | undefined | Promise<string>,
]

export interface BadProofParts {
  readonly request: ProvenRequest
  /** How to sign a proof for the request that is sound but for what is stated; by default with the client's own key. */
  readonly signing: (options: Partial<ProofOptions>, key?: SigningKey) => () => Promise<string>
  readonly key: SigningKey
  readonly stranger: SigningKey
  readonly now: number
  readonly header: string
  readonly payload: string
  readonly signature: string
}

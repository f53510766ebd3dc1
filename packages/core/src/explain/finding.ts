import type { JsonObject } from '@portcullis/kit/json'

import type { Possession } from '../claims/auth.ts'
import type { KeySource } from '../keys/key-source.ts'
import { AuthError } from '../refusal/errors.ts'
import type { AuthErrorReason } from '../refusal/refusals.ts'
import type { Hint, Signer } from './hints.ts'

// What an explanation and its findings are, and how one is made of a step that may throw a refusal.

/** The result of one check. */
export interface Finding {
  /** What a verifier checks, in its order. `required`: the claims that have to be there; `values`: what they have to be. */
  readonly check:
    | 'form'
    | 'algorithm'
    | 'key'
    | 'signature'
    | 'type'
    | 'payload'
    | 'issuer'
    | 'audience'
    | 'required'
    | 'exp'
    | 'nbf'
    | 'iat'
    | 'values'
    | 'binding'
    | 'revocations'
  /** `skipped`: the check was not asked for, or is not possible because an earlier one failed. */
  readonly outcome: 'ok' | 'fail' | 'skipped'
  /** The reason of the refusal, if the check failed. */
  readonly reason: AuthErrorReason | undefined
  /** The result in words, without the value of any claim. */
  readonly summary: string
  /** The same with values, for the owner of the token. */
  readonly detail: string
}

export function passed(
  check: Finding['check'],
  summary: string,
  detail: string = summary,
): Finding {
  return { check, outcome: 'ok', reason: undefined, summary, detail }
}

export function skipped(
  check: Finding['check'],
  summary: string,
  detail: string = summary,
): Finding {
  return { check, outcome: 'skipped', reason: undefined, summary, detail }
}

export function failed(
  check: Finding['check'],
  { reason, detail: sentence }: AuthError,
  summary: string = sentence,
  detail: string = sentence,
): Finding {
  return { check, outcome: 'fail', reason, summary, detail }
}

/** What a step returns, or the refusal that it throws. */
export type Attempt<Value> =
  | { readonly value: Value; readonly refusal: undefined }
  | { readonly value: undefined; readonly refusal: AuthError }

export function attempt<Value>(step: () => Value): Attempt<Value> {
  try {
    return { value: step(), refusal: undefined }
  } catch (error) {
    return failedAttempt(error)
  }
}

export async function attemptLater<Value>(step: () => Promise<Value>): Promise<Attempt<Value>> {
  try {
    return { value: await step(), refusal: undefined }
  } catch (error) {
    return failedAttempt(error)
  }
}

function failedAttempt(error: unknown): Attempt<never> {
  if (error instanceof AuthError) return { value: undefined, refusal: error }
  throw error
}

export interface ExplainOptions {
  /** Keys that a service has already, such as its own `remoteKeys`: the explanation also has the verdict with these keys. */
  keysInHand?: KeySource | undefined
  /**
   * Keys that are not trusted, such as those of other environments. They are used only to tell whose key made the signature.
   */
  otherKeys?: readonly NamedKeys[] | undefined
  /** What the sender of the token has proven to possess. Without it, the explanation is about a bearer token. */
  possession?: Possession | undefined
  /** Ends the wait for keys. */
  signal?: AbortSignal | undefined
}

export interface NamedKeys {
  readonly name: string
  readonly keys: KeySource
}

export interface Verdict {
  /** `undecided`: there are no keys, or the revocations do not answer. */
  readonly verdict: 'accepted' | 'refused' | 'undecided'
  /** What a verifier would throw, and so the answer to a request. `undefined` if it would accept the token. */
  readonly refusal: AuthError | undefined
}

/** The verdict of a verifier about a token, with all reasons. */
export interface Explanation extends Verdict {
  /** The verdict with the keys in hand; `undefined` if there are none. */
  readonly inHand: Verdict | undefined
  /** Each check of the verifier, in its order. */
  readonly findings: readonly Finding[]
  readonly hints: readonly Hint[]
  /** The key that made the signature, if it is one of the given keys. It may be a key that is not trusted. */
  readonly signer: Signer | undefined
  /** What the header says. `undefined` if the token cannot be read. */
  readonly header: JsonObject | undefined
  /** The claims, if a trusted key made the signature. The token may still be refused for another reason. */
  readonly provenClaims: JsonObject | undefined
  /** The claims of any other token. Anybody may have written them. */
  readonly unprovenClaims: JsonObject | undefined
}

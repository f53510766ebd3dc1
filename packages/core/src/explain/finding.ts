import { AuthError } from '../refusal/errors.ts'
import type { AuthErrorReason } from '../refusal/refusals.ts'

// What a finding is, and how one is made of a step that may throw a refusal.

/** The result of one check. */
export interface Finding {
  /** What a verifier checks, in its order. */
  readonly check:
    | 'form'
    | 'algorithm'
    | 'key'
    | 'signature'
    | 'type'
    | 'payload'
    | 'required'
    | 'exp'
    | 'nbf'
    | 'iat'
    | 'issuer'
    | 'audience'
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

/** The same of a step that takes its time. */
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

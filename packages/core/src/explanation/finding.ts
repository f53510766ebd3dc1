import { AuthError } from '../errors.ts'
import type { AuthErrorReason } from '../refusals.ts'

/** What a verifier checks, in its order. */
export type Check =
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

/** What came of one check. */
export interface Finding {
  readonly check: Check
  /** `skipped`: it was not asked for, or an earlier check leaves nothing to look at. */
  readonly outcome: 'ok' | 'fail' | 'skipped'
  /** Of a failure. */
  readonly reason: AuthErrorReason | undefined
  /** In words, without the value of any claim. */
  readonly summary: string
  /** The same with values, for whoever owns the token. */
  readonly detail: string
}

export function passed(check: Check, summary: string, detail: string = summary): Finding {
  return { check, outcome: 'ok', reason: undefined, summary, detail }
}

export function skipped(check: Check, summary: string, detail: string = summary): Finding {
  return { check, outcome: 'skipped', reason: undefined, summary, detail }
}

export function failed(
  check: Check,
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
    return refused(error)
  }
}

/** The same of a step that takes its time. */
export async function attemptLater<Value>(step: () => Promise<Value>): Promise<Attempt<Value>> {
  try {
    return { value: await step(), refusal: undefined }
  } catch (error) {
    return refused(error)
  }
}

function refused(error: unknown): Attempt<never> {
  if (error instanceof AuthError) return { value: undefined, refusal: error }
  throw error
}

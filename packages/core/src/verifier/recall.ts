import type { Auth } from '../claims/auth.ts'

/**
 * What a token proves that a verifier has accepted before and accepts now, at once. For all others `undefined`: `verify` has
 * to be asked.
 */
export type Recall = (token: string) => Auth<unknown> | undefined

/** By the function `verify` itself, so that whoever wraps or replaces it is asked about every token. */
const recalls = new WeakMap<object, Recall>()

export function setRecall(verify: object, answer: Recall): void {
  recalls.set(verify, answer)
}

/** As {@link Recall}, for the `verify` that this verifier has at this moment. */
export function recall(
  { verify }: { readonly verify: object },
  token: string,
): Auth<unknown> | undefined {
  return recalls.get(verify)?.(token)
}

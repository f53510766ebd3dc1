import type { Auth } from './auth.ts'

/**
 * Calls a function each time that a token may have been revoked, and at once if it may have been already.
 *
 * @returns A function that ends it.
 */
export type RevocationWatch = (auth: Auth<unknown>, listener: () => void) => () => void

/** By the function `verify` itself: whoever replaces it may accept what the verifier behind it would not. */
const watches = new WeakMap<object, RevocationWatch>()

export function setRevocationWatch(verify: object, watch: RevocationWatch): void {
  watches.set(verify, watch)
}

/** As {@link RevocationWatch}, for the `verify` that this verifier has at this moment; if it has no revocations, nothing. */
export function watchRevocations(
  { verify }: { readonly verify: object },
  auth: Auth<unknown>,
  listener: () => void,
): () => void {
  return watches.get(verify)?.(auth, listener) ?? (() => {})
}

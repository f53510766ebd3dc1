import type { WaitUntil } from '@portcullis/kit/calls'
import { own } from '@portcullis/kit/options'

import type { Profile } from '../algorithms/profiles.ts'
import type { Auth } from '../claims/auth.ts'
import { checkCopy, marked } from '../ground/copy.ts'

// What core knows of its own verifiers, found by their function `verify`: whoever wraps that function inherits none of it.

export interface Internals {
  /** Whether the tokens that it accepts with this `iss` are from an issuer that it was told to accept. */
  readonly checksIssuer: (issuer: string) => boolean
  /** It was told a template of issuers, so that who chose it by an `iss` cannot tell whether it accepts that one. */
  readonly hasTemplate?: boolean | undefined
  /** The option `audience` of each verifier that may judge a token, as far as it is known at start-up; `null` accepts any token. */
  readonly audiences: readonly (readonly (string | null)[] | null)[]
  /** The one issuer of all its tokens, or `null` for whoever has its keys. Missing where there are several, or nobody knows. */
  readonly issuer?: string | null | undefined
  /** Claims that its tenants decide, so that a requirement of one is never met. */
  readonly decidedByTenants?: readonly string[] | undefined
  /** What keeps it from a profile. Missing where nobody knows at start-up who judges. */
  readonly complaintUnder?: ((profile: Profile) => string | undefined) | undefined
  /** Octets. */
  readonly maxTokenSize: number
  /** What a token proves that was accepted before and is now, at once; for all others `undefined`: `verify` has to be asked. */
  readonly recall: (token: string, waitUntil?: WaitUntil) => Auth<unknown> | undefined
  /** Calls a function each time that a token may have been revoked, and at once if it may have been already. */
  readonly watch: (auth: Auth<unknown>, listener: () => void) => RevocationWatch
  /** Whether a text that is no b64token is a token for it. Missing where none is: see `TokenProver`. */
  readonly mayBeToken?: ((text: string) => boolean) | undefined
  /** Of several verifiers, the one that a token selects, or the issuer by which that is found. Missing where there is one. */
  readonly selected?: (token: string) => { readonly verify: object } | string | undefined
}

export interface RevocationWatch {
  /** Looks who judges the token now. If that is another, its revocations are watched, and the listener hears if they have revoked it. */
  renew(): void
  end(): void
}

/** By the function `verify` itself: whoever wraps or replaces it may refuse what the verifier behind it accepts. */
const internals = new WeakMap<object, Internals>()

export function setInternals(verify: object, known: Internals): void {
  internals.set(marked(verify), known)
}

/** By the mark of its `verify`, by which all else is known as well. A stub has none, and passes. @throws TypeError for another copy's. */
export function checkOurVerifier(
  caller: string,
  noun: string,
  { verify }: { readonly verify: unknown },
): void {
  checkCopy(caller, noun, verify)
}

/** Of the `verify` that this verifier has at this moment; `undefined` if it is not ours. */
export function findInternals({ verify }: { readonly verify: object }): Internals | undefined {
  return internals.get(verify)
}

/** See {@link Internals.mayBeToken}. */
export function formOf(verifier: { readonly verify: object }): Internals['mayBeToken'] {
  const internal = findInternals(verifier)
  return internal && own(internal, 'mayBeToken')
}

/** What the verifiers among several of which each may judge a token compare its `aud` with. One that is not ours tells nothing. */
export function audiencesOf(
  verifiers: readonly { readonly verify: object }[],
): readonly (readonly (string | null)[] | null)[] {
  return verifiers.flatMap((each) => findInternals(each)?.audiences ?? [])
}

/** The one issuer of all tokens of a verifier, or `null` for whoever has its keys. `undefined` where there are several, or nobody knows. */
export function onlyIssuerOf(verifier: { readonly verify: object }): string | null | undefined {
  const internal = findInternals(verifier)
  return internal && own(internal, 'issuer')
}

/** Claims that the tenants of a verifier decide, so that a requirement of one is never met. */
export function decidedByTenantsOf(verifier: { readonly verify: object }): readonly string[] {
  const internal = findInternals(verifier)
  return (internal && own(internal, 'decidedByTenants')) ?? []
}

/** Who has proven a token that this verifier has accepted: of several, the one it has selected, or the issuer by which that is found. */
export function proverOf(verifier: { readonly verify: object }, token: string): object | string {
  const internal = findInternals(verifier)
  const selected = internal && own(internal, 'selected')?.(token)
  if (selected === undefined) return verifier
  return typeof selected === 'string' ? selected : proverOf(selected, token)
}

import type { WaitUntil } from '@portcullis/kit/calls'

import type { Auth, Claims, Possession } from '../claims/auth.ts'

// What a verifier is, for everybody who asks one.

export interface VerifyOptions {
  /** Ends the wait of this caller for keys or revocations. Other callers still wait. */
  signal?: AbortSignal | undefined
  /** What the sender of the token has proven to have. A token that is bound to anything else is refused. */
  possession?: Possession | undefined
  /**
   * Lets work go on behind the response, such as a renewal of the keys: `(work) => ctx.waitUntil(work)` on Cloudflare Workers,
   * which end it with the request otherwise. Called during `verify` alone, and not kept.
   */
  waitUntil?: WaitUntil | undefined
}

export interface Verifier<ClaimsType = Claims> {
  /**
   * Verifies one access token and returns what it proves.
   *
   * Checks form, algorithm, key and signature, then typ, iss, aud, whether required claims are there, exp, nbf, iat, the values
   * of required claims and cnf, in this order; then the schema and the revocations, if there are any. Does NOT check scopes (see
   * `scope`).
   *
   * @param token Compact JWS, without the `Bearer ` prefix.
   * @throws AuthError `invalid_token` with a reason; `keys_unavailable` or `revocation_unavailable` if there is no verdict at
   *   the moment; the signal's reason.
   * @see RFC 7519 section 7.2; RFC 8725 section 3; RFC 7800 section 3.1
   */
  verify(token: string, options?: VerifyOptions): Promise<Auth<ClaimsType>>
  /**
   * Resolves when there are keys, and the revocations can answer. Call it at start-up and in readiness probes. It makes at
   * most one attempt to fetch keys.
   *
   * @throws AuthError `keys_unavailable`; or `revocation_unavailable`, whose cause is the error of the `ready` of the
   *   revocations.
   */
  ready(): Promise<void>
  /** For guards with `profile`: those that a verifier of your own keeps, or `byIssuer` with a function. */
  readonly profiles?: readonly 'fapi2'[] | undefined
}

import type { Auth, Claims } from './auth.ts'

/** The words of RFC 6960 section 2.2 for one token. */
export type RevocationStatus = 'valid' | 'revoked' | 'unknown'

/** What has been revoked before its time: `localRevocations()`, or the replica of a store that many processes share. */
export interface Revocations {
  /**
   * Whether a token has been revoked. Asked of proven claims alone, once everything else about them holds, and at every use.
   *
   * Answer synchronously wherever possible: then a token that was accepted before costs no promise. Whatever is none of the
   * three words counts as `unknown`, and so does a failure.
   *
   * @param now Seconds since 1970-01-01T00:00:00Z, on the clock of the verifier.
   */
  statusOf(claims: Claims, now: number): RevocationStatus | PromiseLike<RevocationStatus>
  /** Resolves when it can answer: `verifier.ready()` waits for it. */
  ready?(): Promise<void>
  /**
   * Calls `listener` each time that something was revoked, so that connections that stay open are judged again.
   *
   * @returns A function that ends it.
   */
  subscribe?(listener: () => void): () => void
}

/** One token, by the names of its claims. Other members are not looked at. */
export interface RevokedToken {
  /** Without it, tokens without `iss` are meant. */
  readonly iss?: string | undefined
  /** A number in a token counts as its text, here and below. */
  readonly jti: string
  /** The entry is kept until then, and 600 seconds longer; without it for ever. */
  readonly exp?: number | undefined
}

/**
 * The tokens of a subject, a client or a session, which is named by one claim; without any of the three, all tokens of the
 * issuer. Without `iss`, tokens without `iss` are meant.
 */
export interface IssuedBefore {
  readonly iss?: string | undefined
  readonly sub?: string
  /** The `client_id` of a token, or its `azp`. */
  readonly client_id?: string
  readonly sid?: string
}

export interface RevokeBeforeOptions {
  /**
   * Tokens whose `iat` is earlier are revoked, and those without `iat`. Seconds since 1970-01-01T00:00:00Z.
   * @default now, with its fraction: a whole second would spare tokens that were issued earlier in this very second
   */
  time?: number | undefined
  /** When the entry can be removed, because those tokens have expired by then. By default never. */
  until?: number | undefined
}

/** The same by the claims of a token as it has them: `unknown` to the compiler, and checked by `revokeBefore`. */
export interface ClaimedIssuedBefore {
  readonly iss?: unknown
  readonly sub?: unknown
  readonly client_id?: unknown
  readonly sid?: unknown
}

export interface RevocationWriter {
  /**
   * Revokes one token: `revoke(auth)` at log-out. Of an `Auth` the claims are taken as they were signed; what a schema has
   * made of them may lack the `iss`, and would mean another token.
   *
   * @throws TypeError for a token without `jti`; RangeError if there is no room. Nothing is ever evicted.
   */
  revoke(token: Auth<unknown> | RevokedToken | Claims): Promise<void>
  /**
   * Revokes what was issued before a time. Several for the same hold side by side, each until its end. The claims of a
   * token can be passed: `const { iss, sub } = auth.claims`, then `revokeBefore({ iss, sub })`.
   *
   * @throws TypeError for whoever is not named by exactly one claim or none; RangeError if there is no room.
   */
  revokeBefore(
    whose: IssuedBefore | ClaimedIssuedBefore,
    options?: RevokeBeforeOptions,
  ): Promise<void>
}

/** One revocation, as snapshots have it. JSON. */
export type RevocationEntry =
  | ({ readonly type: 'token' } & RevokedToken)
  | ({
      readonly type: 'issued_before'
      readonly time: number
      readonly until?: number
    } & IssuedBefore)

export interface RevocationsSnapshot {
  readonly version: 1
  readonly entries: readonly RevocationEntry[]
}

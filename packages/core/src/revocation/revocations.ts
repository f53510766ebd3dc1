import type { Auth, Claims } from '../claims/auth.ts'

// The interfaces around revocations: who is asked, who revokes, and what an entry and a snapshot look like.

/** The words of RFC 6960 section 2.2 for one token. */
export type RevocationStatus = 'valid' | 'revoked' | 'unknown'

/** Which tokens were revoked before they expired: `localRevocations()`, or the copy of a store that many processes share. */
export interface Revocations {
  /**
   * Whether a token was revoked. It is called at every use of a token, after all other checks, with proven claims only.
   *
   * Return the answer without a promise where you can: then a remembered token costs no promise. Any other answer counts as
   * `unknown`, and so does a failure.
   *
   * @param now Seconds since 1970-01-01T00:00:00Z, by the clock of the verifier.
   * @param digest Names a token without `jti`: SHA-256 in base64url, of the signing input of a JWT, or of the text of an opaque token.
   *   Pass it on to a store of ours, or `revoke` there refuses such tokens.
   */
  statusOf(
    claims: Claims,
    now: number,
    digest: string,
  ): RevocationStatus | PromiseLike<RevocationStatus>
  /**
   * Why `statusOf` answers `unknown` now, in words for developers: the `detail` of the refusal repeats them. They must contain
   * no address, no password and no value of a claim.
   */
  whyUnknown?(): string | undefined
  /** Resolves when `statusOf` can answer: `verifier.ready()` waits for it, for 30 seconds at most. */
  ready?(): PromiseLike<unknown>
  /**
   * Calls `listener` each time that something was revoked, so that open connections are checked again.
   *
   * @returns A function that ends the subscription.
   */
  subscribe?(listener: () => void): () => void
}

/** One token, by the names of its claims. */
export interface RevokedToken {
  /** Without `iss`, only tokens without `iss` are meant. */
  readonly iss?: string | undefined
  /** A number in a token is treated as text, here and below. */
  readonly jti: string
  /** The entry is kept until 600 seconds after this time; without it for ever. */
  readonly exp?: number | undefined
}

/**
 * The tokens of a user (`sub`), a client or a session: name one of them. Without any of the three, all tokens of the issuer.
 * Without `iss`, tokens without `iss` are meant.
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
   * Tokens with an earlier `iat`, or without `iat`, are revoked. Seconds since 1970-01-01T00:00:00Z.
   * @default now, with fractions of a second, so that tokens that were issued earlier in this second are revoked as well
   */
  time?: number | undefined
  /** When the entry can be removed, because those tokens have expired by then. Never by default. */
  until?: number | undefined
}

/** The same by single claims of a token as it has them: `unknown` to the compiler, and checked by `revokeBefore`. */
export interface ClaimedIssuedBefore {
  readonly iss?: unknown
  readonly sub?: unknown
  readonly client_id?: unknown
  readonly sid?: unknown
  /** Nothing has it: so that all claims of a token are not taken for what names an owner. */
  readonly exp?: never
}

export interface RevocationWriter {
  /**
   * Revokes one token: `revoke(auth)` at log-out. Of the `Auth` that the verifier returned, the claims are taken as they were
   * signed. A copy of it has what a schema made of them: without `iss`, another token would be revoked. Anything else has no
   * other members than those of {@link RevokedToken}; `auth.claims` has.
   *
   * An `Auth` without `jti` is revoked by the digest of its token. That is certain for a JWT; an issuer of opaque tokens that reads
   * them leniently may take another text for the same token.
   *
   * @throws TypeError for a token without `jti` that is no `Auth`, or if nobody passes its digest on to `statusOf`; for any other
   *   member, and for an `exp` that is not in seconds; RangeError if there is no room. No entry is ever dropped.
   */
  revoke(token: Auth<unknown> | RevokedToken): Promise<void>
  /**
   * Revokes all tokens that were issued before a time. After several calls for the same owner, each entry counts until its
   * own end. You can pass claims of a token: `const { iss, sub } = auth.claims`, then `revokeBefore({ iss, sub })`.
   *
   * @throws TypeError if more than one of `sub`, `client_id` and `sid` is named, or one is undefined, for any other member, and
   *   for a time that is not in seconds; RangeError if there is no room.
   */
  revokeBefore(
    whose: IssuedBefore | ClaimedIssuedBefore,
    options?: RevokeBeforeOptions,
  ): Promise<void>
}

/** One entry of a snapshot, as JSON. */
export type RevocationEntry =
  | ({ readonly type: 'token' } & RevokedToken)
  | ({ readonly type: 'digest'; readonly digest: string } & Omit<RevokedToken, 'jti'>)
  | ({
      readonly type: 'issued_before'
      readonly time: number
      readonly until?: number
    } & IssuedBefore)

export interface RevocationsSnapshot {
  readonly version: 1
  readonly entries: readonly RevocationEntry[]
}

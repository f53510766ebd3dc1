import type { JsonObject } from '@portcullis/kit/json'

// The types of what a verified token proves, and of what was proven beside it.

/**
 * The claims of a verified token, as they were signed. They are frozen at every level, because several requests may share
 * them.
 *
 * Only claims that the verifier checks in every token have a type. The others are `unknown` until your code has checked them,
 * for example with a schema. Times are NumericDates (seconds since 1970-01-01T00:00:00Z, fractions allowed).
 *
 * @see RFC 7519 section 4
 */
export interface Claims extends JsonObject {
  readonly iss?: unknown
  readonly sub?: unknown
  readonly aud?: unknown
  readonly jti?: unknown
  readonly exp?: number
  readonly nbf?: number
  readonly iat?: number
}

/** The protected header of a verified token. RFC 7515 section 4. */
export interface Header extends JsonObject {
  readonly alg: string
  readonly kid?: string | null
  readonly typ?: string | null
}

/** What a verified token proves. With a schema, its claims are the output of the schema. */
export interface Auth<ClaimsType = Claims> {
  readonly claims: ClaimsType
  readonly header: Header
  /** The token itself, for calls in the name of its sender. Keep it out of logs. */
  readonly token: string
  /** The key or certificate that the token is bound to and that the sender has proven to have. Missing for a bearer token. */
  readonly possession?: Possession | undefined
}

/** What the sender of a request has proven to possess. */
export interface Possession {
  /**
   * The JWK thumbprint (SHA-256, base64url) of the key that signed a DPoP proof.
   * @see RFC 9449 section 6.1
   */
  readonly jkt?: string | undefined
  /**
   * The thumbprint (SHA-256, base64url) of the client certificate of a connection.
   * @see RFC 8705 section 3.1
   */
  readonly x5tS256?: string | undefined
}

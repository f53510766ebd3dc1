import type { JsonObject } from './json.ts'
import type { Possession } from './possession.ts'

/**
 * The claims of a verified token, as signed. Frozen to the last level, since several requests may share them.
 *
 * Only what the verifier checks in every token has a type here; anything else is `unknown` until the application has
 * looked at it. Times are NumericDates (seconds since 1970-01-01T00:00:00Z, fractions allowed).
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

/** What a verified token proves. With a schema its claims are what the schema makes of them. */
export interface Auth<ClaimsType = Claims> {
  readonly claims: ClaimsType
  readonly header: Header
  /** The token itself, for calls on behalf of its bearer. Keep it out of logs. */
  readonly token: string
  /** What the sender has proven to possess, of what the token is bound to. Only where that is something. */
  readonly possession?: Possession | undefined
}

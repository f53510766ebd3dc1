// The type in which a guard tells a verifier what was proven beside the token.

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

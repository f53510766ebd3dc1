/** What a guard asks about client certificates: `mutualTls()`, or one of your own. */
export interface MutualTls {
  /** Whether only tokens that are bound to a client certificate are accepted. */
  readonly required: boolean
  /**
   * The thumbprint of the certificate that the client of a request has proven to possess, `undefined` if there is none.
   * RFC 8705 section 3.1: SHA-256, base64url.
   *
   * @param request As the guard was given it: a request of node or a `Request` of the Fetch standard.
   */
  thumbprintOf(request: object): string | undefined
}

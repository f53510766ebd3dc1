const ALPHABET = /^[\w-]+$/

/**
 * Whether a text is the one canonical base64url form of some octets: no padding, no white space, no stray bits.
 *
 * Asked before any decoder runs: `Buffer` never fails, it drops or reinterprets what it does not like, and so gives
 * one token many spellings.
 *
 * @see RFC 7515 section 2; RFC 4648 section 3.5
 */
export function isBase64url(text: string): boolean {
  if (!ALPHABET.test(text)) return false
  const last = text.charAt(text.length - 1)
  switch (text.length % 4) {
    case 0:
      return true
    case 2: // one octet in 12 bits: the last 4 are zero
      return 'AQgw'.includes(last)
    case 3: // two octets in 18 bits: the last 2 are zero
      return 'AEIMQUYcgkosw048'.includes(last)
    default:
      return false
  }
}

/** Decodes a text that {@link isBase64url} accepted. */
export function decodeBase64url(text: string): Buffer {
  return Buffer.from(text, 'base64url')
}

/**
 * Decodes the one canonical base64url form of some octets: no padding, no white space, no stray bits. Anything else, and
 * the empty text, is `undefined`.
 *
 * `Buffer` never fails: it drops or reinterprets what it does not like, and so gives one token many spellings. Only the
 * canonical one is what `Buffer` itself would write.
 *
 * @see RFC 7515 section 2; RFC 4648 section 3.5
 */
export function decodeBase64url(text: string): Buffer | undefined {
  const octets = Buffer.from(text, 'base64url')
  return text !== '' && octets.toString('base64url') === text ? octets : undefined
}

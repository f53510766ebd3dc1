/**
 * Decodes the one canonical base64url form of some octets: no padding, no white space, no stray bits. Anything else, and
 * the empty text, is `undefined`.
 *
 * `Buffer` never fails: it skips or misreads wrong characters, so that one token could be written in many ways. Therefore
 * the octets are encoded again and compared with the text.
 *
 * @see RFC 7515 section 2; RFC 4648 section 3.5
 */
export function decodeBase64url(text: string): Buffer | undefined {
  const octets = Buffer.from(text, 'base64url')
  return text !== '' && octets.toString('base64url') === text ? octets : undefined
}

/**
 * As {@link decodeBase64url}, but padding and the alphabet of plain base64 are allowed too. Only for key documents, which
 * are trusted; never for tokens.
 *
 * @see RFC 4648 section 4
 */
export function decodeBase64(text: string): Buffer | undefined {
  return decodeBase64url(
    text
      .replace(/={1,2}$/, '')
      .replaceAll('+', '-')
      .replaceAll('/', '_'),
  )
}

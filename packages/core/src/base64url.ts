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

/**
 * As {@link decodeBase64url}, and the plain alphabet of base64 and padding as well. For what is trusted, and where the
 * octets alone decide: never for tokens.
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

// Strict base64url, so that one token can be written in one way only.

/** Characters that leave no stray bits at the end of a text: with two characters there, and with three. */
const LAST_OF_TWO = 'AQgw'
const LAST_OF_THREE = 'AEIMQUYcgkosw048'

/**
 * Decodes the one canonical form: no padding, no white space, no stray bits; anything else, and the empty text, is `undefined`.
 *
 * `Buffer` never fails, so one token could be written in many ways: it skips characters, which makes too few octets, and misreads
 * plain base64 and what is beyond ASCII. RFC 7515 section 2; RFC 4648 section 3.5
 */
export function decodeBase64url(text: string): Buffer | undefined {
  const octets = Buffer.from(text, 'base64url')
  const isCanonical =
    octets.length === (text.length * 3) >> 2 &&
    hasCanonicalEnd(text) &&
    Buffer.byteLength(text) === text.length &&
    !text.includes('+') &&
    !text.includes('/')
  return isCanonical ? octets : undefined
}

function hasCanonicalEnd(text: string): boolean {
  const last = text.charAt(text.length - 1)
  switch (text.length % 4) {
    case 0:
      return text !== ''
    case 2:
      return LAST_OF_TWO.includes(last)
    case 3:
      return LAST_OF_THREE.includes(last)
    default:
      return false
  }
}

/** Also with padding and in plain base64 (RFC 4648 section 4): only for key documents, which are trusted, never for tokens. */
export function decodeBase64(text: string): Buffer | undefined {
  return decodeBase64url(
    text
      .replace(/={1,2}$/, '')
      .replaceAll('+', '-')
      .replaceAll('/', '_'),
  )
}

// Guards JSON parsers from texts that are nested too deep, and from names with escapes.

/** V8 14.6 has been seen to corrupt memory from 8,160 levels on, and never below. */
const MAX_DEPTH = 1000

/**
 * Whether jose may read the JSON of a compact JWS: it has three parts of base64url, none of more than 1000 levels, and none with
 * an escape in a name. V8 14.6 (Node 26) corrupts the memory of the process when it parses a text of thousands of levels that
 * ends too early, and reads a name with an escape as another one that it has seen in an earlier text.
 */
export function isHarmlessJws(jws: string): boolean {
  return (
    /^[\w-]+\.[\w-]+\.[\w-]+$/.test(jws) &&
    jws.split('.', 2).every((part) => isHarmless(Buffer.from(part, 'base64url').toString()))
  )
}

/** Reads a JSON object; `undefined` for every other text, and for what {@link isHarmlessJws} refuses in a part. */
export function parseHarmlessObject(text: string): Readonly<Record<string, unknown>> | undefined {
  if (!isHarmless(text)) return undefined
  try {
    // oxlint-disable-next-line eslint/no-restricted-properties -- its depth is known
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Readonly<Record<string, unknown>>) : undefined
  } catch {
    return undefined
  }
}

/** It counts right as far as a parser reads, which is up to the first fault. */
function isHarmless(text: string): boolean {
  let level = 0
  let isInString = false
  let hasEscape = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (isInString) {
      if (character === '\\') {
        hasEscape = true
        at++
      } else if (character === '"') isInString = false
    } else if (character === '"') {
      isInString = true
      hasEscape = false
    } else if (character === ':') {
      // The string before it was a name.
      if (hasEscape) return false
    } else if (character === '[' || character === '{') {
      level++
      if (level > MAX_DEPTH) return false
    } else if (character === ']' || character === '}') level--
  }
  return true
}

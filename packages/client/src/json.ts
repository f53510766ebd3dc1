// Reads JSON of the token service. It has its own reader because the client imports nothing of ours.

/** V8 14.6 has been seen to corrupt memory from 8,160 levels on, and never below. */
const MAX_DEPTH = 1000

/**
 * As `JSON.parse`, but `undefined` for what is no JSON, is nested too deep, or has a name that cannot be written without an escape.
 *
 * V8 reads a name with an escape as another one that it has seen in an earlier text with the same beginning (Node 24 and 26). So
 * names are parsed without escapes: `"\u0065xpires_in"` is `expires_in`, whatever was read before.
 */
export function parseJson(text: string): unknown {
  if (isTooDeep(text)) return undefined
  try {
    const plain = text.includes('\\') ? withPlainNames(text) : text
    // oxlint-disable-next-line eslint/no-restricted-properties -- its depth is known
    return plain === undefined ? undefined : JSON.parse(plain)
  } catch {
    return undefined
  }
}

/**
 * The same for an object. `undefined` for anything else, and for an object that has a member twice: of two readers one could take
 * the first, and one the second.
 */
export function parseObject(text: string): object | undefined {
  const value = parseJson(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return outlineOf(text).members === Object.keys(value).length ? value : undefined
}

/**
 * Whether a text has more than 1000 levels of brackets: V8 14.6 (Node 26) corrupts the memory of the process when it parses a
 * text of thousands of levels that ends too early.
 */
export function isTooDeep(text: string): boolean {
  return outlineOf(text).isTooDeep
}

/**
 * The text with the escapes in its names resolved, if that can be. One that is no JSON stays so.
 *
 * @throws SyntaxError for some that is no JSON.
 */
function withPlainNames(text: string): string | undefined {
  let plain = ''
  let copied = 0
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at)) {
    const start = at
    at = endOfString(text, start)
    const literal = text.slice(start, at)
    if (!literal.includes('\\') || !isName(text, at)) continue
    // oxlint-disable-next-line eslint/no-restricted-properties -- a string alone has no levels, and V8 reads it right
    const name = String(JSON.parse(literal))
    if (JSON.stringify(name) !== `"${name}"`) return undefined
    plain += `${text.slice(copied, start)}"${name}"`
    copied = at
  }
  return plain + text.slice(copied)
}

/** Whether a colon follows a string. */
function isName(text: string, end: number): boolean {
  const colon = /[ \t\n\r]*:/y
  colon.lastIndex = end
  return colon.test(text)
}

/** Behind the closing quote, or the text if there is none. */
function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return Math.min(at + 1, text.length)
}

interface Outline {
  readonly isTooDeep: boolean
  /** Of the object that the text is. */
  readonly members: number
}

/**
 * It counts right as far as a parser reads. That stops at the first fault; before it, strings end where they end here, and each
 * bracket outside of them changes the level as it does here.
 */
function outlineOf(text: string): Outline {
  let level = 0
  let members = 0
  let isInString = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (isInString) {
      if (character === '\\') at++
      else if (character === '"') isInString = false
    } else if (character === '"') isInString = true
    else if (character === '[' || character === '{') {
      level++
      if (level > MAX_DEPTH) return { isTooDeep: true, members }
    } else if (character === ']' || character === '}') level--
    else if (character === ':' && level === 1) members++
  }
  return { isTooDeep: false, members }
}

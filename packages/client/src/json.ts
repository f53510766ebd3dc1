// Reads JSON of the token service. It has its own reader because the client imports nothing of ours.

/** V8 14.6 has been seen to corrupt memory from 8,160 levels on, and never below. */
const MAX_DEPTH = 1000

/** As `JSON.parse`, but `undefined` for what is no JSON, or is nested too deep. */
export function parseJson(text: string): unknown {
  if (isTooDeep(text)) return undefined
  try {
    // oxlint-disable-next-line eslint/no-restricted-properties -- its depth is known
    return JSON.parse(text)
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

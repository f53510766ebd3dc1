import { isUtf8 } from 'node:buffer'

// Reads JSON that others wrote. The parts of a token are read most strictly.

export type JsonObject = Readonly<Record<string, unknown>>

const MAX_TOKEN_DEPTH = 32
/** For all other texts. V8 14.6 has been seen to corrupt memory from 8,160 levels on, and never below. */
const MAX_DEPTH = 1000

/**
 * Reads octets as one JSON object, else `undefined`. RFC 7515 section 4; RFC 7519 section 7.2; RFC 8259 section 8.1
 *
 * So strict that no other parser can read the text differently: valid UTF-8 without a byte order mark, no duplicate member at the
 * top level, no member `__proto__`, no number too large for a double, at most 32 levels. Frozen, with everything in it.
 */
export function parseJsonObject(octets: Buffer): JsonObject | undefined {
  if (!isUtf8(octets)) return undefined
  const text = octets.toString('utf8')
  const shape = outline(text, MAX_TOKEN_DEPTH)
  const value = shape === undefined ? undefined : parseShallow(text)
  if (!isJsonObject(value) || shape?.members !== Object.keys(value).length) return undefined
  return freeze(value) ? value : undefined
}

/** As `parseJsonObject`, and without a member that is repeated at any level: for objects whose inner ones decide as well. */
export function parseUnambiguousObject(octets: Buffer): JsonObject | undefined {
  const value = parseJsonObject(octets)
  return value === undefined || repeatsMember(octets.toString(), value) ? undefined : value
}

/**
 * As `JSON.parse`, but `undefined` for no JSON, for more than 1000 levels, and for a name that needs an escape.
 * Does NOT limit the length, and does NOT freeze.
 */
export function parseJson(text: string): unknown {
  return outline(text, MAX_DEPTH) === undefined ? undefined : parseShallow(text)
}

/** As {@link parseJson}, of an object; `undefined` for one that has a member twice, of which two readers could take different ones. */
export function parseObject(text: string): JsonObject | undefined {
  const shape = outline(text, MAX_DEPTH)
  const value = shape === undefined ? undefined : parseShallow(text)
  return isJsonObject(value) && shape?.members === Object.keys(value).length ? value : undefined
}

/** Whether {@link parseJson} reads nothing of a text because of its depth, for who hands it to a parser of somebody else's. */
export function isTooDeep(text: string): boolean {
  return outline(text, MAX_DEPTH) === undefined
}

/**
 * Parses a text whose depth `outline` has limited: V8 14.6 (Node 26) corrupts memory when one of thousands of levels ends too early.
 *
 * V8 also reads a name with an escape as another one that an earlier text began alike (Node 24 and 26): `"\u0063rit"` would not be
 * `crit`, once anybody has sent `"\\u00"`. So names are parsed without escapes, one that needs one is refused, and a text with
 * escapes in its names is never given to V8 as it is: it would change how later texts of others are read.
 */
function parseShallow(text: string): unknown {
  try {
    const plain = text.includes('\\') ? withPlainNames(text) : text
    // oxlint-disable-next-line eslint/no-restricted-properties -- its depth is known
    return plain === undefined ? undefined : JSON.parse(plain)
  } catch {
    // It is no JSON.
  }
  return undefined
}

/** With the escapes in its names resolved, if that can be. What is no JSON stays so, or is a SyntaxError. */
function withPlainNames(text: string): string | undefined {
  let plain = ''
  let copied = 0
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at)) {
    const start = at
    at = endOfString(text, start) + 1
    const literal = text.slice(start, at)
    if (!literal.includes('\\') || !isFollowedByColon(text, at)) continue
    // oxlint-disable-next-line eslint/no-restricted-properties -- a string alone has no levels, and V8 reads it right
    const name = String(JSON.parse(literal))
    const written = `"${name}"`
    if (JSON.stringify(name) !== written) return undefined
    plain += text.slice(copied, start) + written
    copied = at
  }
  return plain + text.slice(copied)
}

function isFollowedByColon(text: string, start: number): boolean {
  let at = start
  while (WHITE_SPACE.has(text.charCodeAt(at))) at++
  return text.charCodeAt(at) === COLON
}

/** At whatever level. @param text What `parseJsonObject` has read as `value`. */
export function repeatsMember(text: string, value: JsonObject): boolean {
  return outline(text, MAX_TOKEN_DEPTH)?.allMembers !== membersOf(value)
}

function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const values: readonly unknown[] = Object.values(value)
  const own = Array.isArray(value) ? 0 : values.length
  return values.reduce<number>((sum, each) => sum + membersOf(each), own)
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An own member: an inherited one was not in the text. */
export function member(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

export function textMember(object: JsonObject, name: string): string | undefined {
  const value = member(object, name)
  return typeof value === 'string' ? value : undefined
}

/** At every level: some services write so what they do not have. Not for claims of tokens, where a time that is no number refuses. */
export function withoutNulls(object: JsonObject): JsonObject {
  const present = Object.entries(object).filter(([, value]) => value !== null)
  return Object.freeze(Object.fromEntries(present.map(([name, value]) => [name, pruned(value)])))
}

/** A list keeps its places. */
function pruned(value: unknown): unknown {
  if (Array.isArray(value)) return Object.freeze(value.map(pruned))
  return isJsonObject(value) ? withoutNulls(value) : value
}

/** @see RFC 8259 section 2 */
const WHITE_SPACE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d])
const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d

/**
 * How many members the outermost object and all objects spell out, duplicates included; `undefined` beyond the limit of levels.
 *
 * What is no JSON is measured as well: a parser stops at the fault, and up to there strings and levels are as they are here.
 */
function outline(
  text: string,
  maxDepth: number,
): { members: number; allMembers: number } | undefined {
  let level = 0
  let members = 0
  let allMembers = 0
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at)
    if (character === QUOTE) at = endOfString(text, at)
    else if (character === COLON) {
      allMembers++
      if (level === 1) members++
    } else if (character === OPEN_BRACE || character === OPEN_BRACKET) {
      level++
      if (level > maxDepth) return undefined
    } else if (character === CLOSE_BRACE || character === CLOSE_BRACKET) level--
  }
  return { members, allMembers }
}

function endOfString(text: string, start: number): number {
  let at = text.indexOf('"', start + 1)
  while (at !== -1 && isEscaped(text, at)) at = text.indexOf('"', at + 1)
  return at === -1 ? text.length : at
}

/** Whether an odd number of backslashes is before it. */
function isEscaped(text: string, quote: number): boolean {
  let at = quote - 1
  while (text.charCodeAt(at) === BACKSLASH) at--
  return (quote - at) % 2 === 0
}

/** Whether it is harmless: `JSON.parse` reads 1e309 as Infinity, and makes an own `__proto__`, which changes what it is assigned to. */
function freeze(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || value === null) return true
  Object.freeze(value)
  if (Object.hasOwn(value, '__proto__')) return false
  const members: readonly unknown[] = Object.values(value)
  for (const each of members) if (!freeze(each)) return false
  return true
}

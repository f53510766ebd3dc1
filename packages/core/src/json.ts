import { isUtf8 } from 'node:buffer'

export type JsonObject = Readonly<Record<string, unknown>>

const MAX_DEPTH = 32
/** Of a document that is only large: a million levels would hold up the process for a quarter of a second. */
const MAX_DOCUMENT_DEPTH = 1000

/**
 * Reads octets as one JSON object, or answers `undefined`.
 *
 * Stricter than `JSON.parse`, so that no other parser can read the same text differently: valid UTF-8 without a
 * byte order mark, no duplicate member at the top level, no member named `__proto__`, no number too large for a
 * double, at most 32 levels. The object is frozen, with everything in it.
 *
 * @see RFC 7515 section 4; RFC 7519 section 7.2; RFC 8259 section 8.1
 */
export function parseJsonObject(octets: Buffer): JsonObject | undefined {
  if (!isUtf8(octets)) return undefined
  const text = octets.toString('utf8')
  const value = parseJson(text)
  if (!isJsonObject(value)) return undefined
  const { depth, members } = outline(text)
  if (depth > MAX_DEPTH || members !== Object.keys(value).length) return undefined
  return freeze(value) ? value : undefined
}

/**
 * As `JSON.parse`, but `undefined` for a text that is no JSON, and with the right names of members.
 *
 * V8 reads a name with an escape as another one that it has seen in an earlier text with the same beginning (Node 24
 * and 26): `"\u0063rit"` would not be `crit`, once anybody has sent `"\\u00"`. So names are parsed without escapes, and
 * one that cannot be written so (a quote, a backslash or a control character is in it) is refused. A text with escapes in
 * its names is never given to V8 as it is, because it would change how V8 reads later texts of others.
 */
export function parseJson(text: string): unknown {
  try {
    const plain = text.includes('\\') ? withPlainNames(text) : text
    return plain === undefined ? undefined : JSON.parse(plain)
  } catch {
    // It is no JSON.
  }
  return undefined
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
    at = endOfString(text, start) + 1
    const literal = text.slice(start, at)
    if (!literal.includes('\\') || !isFollowedByColon(text, at)) continue
    // Of a string alone, which V8 reads right.
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

/** As {@link parseJson}, for a document that comes from afar: not deeper than 1000 levels. */
export function parseJsonDocument(text: string): unknown {
  return outline(text).depth > MAX_DOCUMENT_DEPTH ? undefined : parseJson(text)
}

/**
 * Whether some object in a JSON text, at whatever level, has a member twice.
 *
 * @param text What {@link parseJsonObject} has read as `value`.
 */
export function repeatsMember(text: string, value: JsonObject): boolean {
  return outline(text).allMembers !== membersOf(value)
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

/** An own member that is a text. */
export function textMember(object: JsonObject, name: string): string | undefined {
  const value = member(object, name)
  return typeof value === 'string' ? value : undefined
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

/** The depth of a valid JSON text, and how many members its outermost object and all objects spell out: duplicates included. */
function outline(text: string): { depth: number; members: number; allMembers: number } {
  let level = 0
  let depth = 0
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
      if (level > depth) depth = level
    } else if (character === CLOSE_BRACE || character === CLOSE_BRACKET) level--
  }
  return { depth, members, allMembers }
}

/** Where the closing quote is; behind the text if there is none. */
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

/**
 * Freezes a JSON value, and answers whether it is harmless: `JSON.parse` reads 1e309 as Infinity, and makes an own
 * member of `__proto__`, which changes any object that the value is assigned to.
 */
function freeze(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || value === null) return true
  Object.freeze(value)
  return !Object.hasOwn(value, '__proto__') && Object.values(value).every(freeze)
}

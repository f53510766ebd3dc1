import { isUtf8 } from 'node:buffer'

export type JsonObject = Readonly<Record<string, unknown>>

const MAX_DEPTH = 32

/**
 * Reads octets as one JSON object, or answers `undefined`.
 *
 * Stricter than `JSON.parse`, because two parsers that read one text differently are an attack: valid UTF-8 without a
 * byte order mark, no duplicate member at the top level, no member named `__proto__`, no number too large for a
 * double, at most 32 levels. What it returns is frozen to the last of them.
 *
 * @see RFC 7515 section 4; RFC 7519 section 7.2; RFC 8259 section 8.1
 */
export function parseJsonObject(octets: Buffer): JsonObject | undefined {
  if (!isUtf8(octets)) return undefined
  const text = octets.toString('utf8')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isJsonObject(value)) return undefined
  const { depth, members } = outline(text)
  if (depth > MAX_DEPTH || members !== Object.keys(value).length) return undefined
  return freeze(value) ? value : undefined
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An own member. What an object inherits was never in the text. */
export function member(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d

/** The depth of a valid JSON text, and how many members its outermost object spells out: duplicates included. */
function outline(text: string): { depth: number; members: number } {
  let level = 0
  let depth = 0
  let members = 0
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at)
        break
      case COLON:
        if (level === 1) members++
        break
      case OPEN_BRACE:
      case OPEN_BRACKET:
        level++
        if (level > depth) depth = level
        break
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        level--
        break
      default:
    }
  }
  return { depth, members }
}

function endOfString(text: string, start: number): number {
  let at = start + 1
  while (text.charCodeAt(at) !== QUOTE) {
    at += text.charCodeAt(at) === BACKSLASH ? 2 : 1
  }
  return at
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

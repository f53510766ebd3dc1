// How sentences for developers show what somebody else wrote. All that comes from a request, a token or a document becomes
// part of a text here, and nowhere else.

/** One sentence for developers, made when it is asked for. It keeps the few values that it needs, and no token. */
export type Detail = () => string

/**
 * The same for refusals that numbers tell apart, such as times: the sentence is one of few, so that lines of a log can be grouped by it,
 * and the numbers stand beside it.
 */
export type NumberedDetail = () => Numbered

interface Numbered {
  readonly text: string
  /** By the name of the claim, or of what was measured. Seconds, octets or a count. */
  readonly numbers: Readonly<Record<string, number>>
}

const MAX_VALUE = 64
const MAX_LISTED = 3
/** What a JWS begins with, since its header is a JSON object. */
const TOKEN = /(?:eyJ[\w-]{8,}|e[wy][\w-]{14,}\.)[\w.-]*/g
/** Seconds. Later than any sensible time, and earlier than any sensible time in milliseconds. */
const EARLIEST_MILLISECONDS = 1e11

/** Cut, without tokens, all escaped but printable ASCII: controls, marks of direction, lone surrogates, letters that look like others. */
export function printable(text: string, max: number): string {
  const cut = text.length > max ? `${text.slice(0, max)}...` : text
  return cut.replaceAll(TOKEN, '(a token)').replaceAll(/[^ -~]/g, escaped)
}

function escaped(character: string): string {
  return String.raw`\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** A value as far as it may be shown: a text in quotes, of anything else what kind it is. */
export function shown(value: unknown): string {
  return typeof value === 'string' ? quoted(value, MAX_VALUE) : kindOf(value)
}

function quoted(text: string, max: number): string {
  const cut = text.length > max ? `${text.slice(0, max)}...` : text
  return `"${printable(cut.replaceAll(/["\\]/g, String.raw`\$&`), cut.length * 2)}"`
}

export function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  switch (typeof value) {
    case 'undefined':
      return 'undefined'
    case 'object':
      return isThenable(value) ? 'a promise' : 'an object'
    default:
      return `a ${typeof value}`
  }
}

function isThenable(value: object): boolean {
  try {
    return typeof Reflect.get(value, 'then') === 'function'
  } catch {
    // A getter or a proxy of the caller's.
  }
  return false
}

/** The first three values, and how many others there are. @param max Characters of each: names of issuers may differ late. */
export function listed(
  values: readonly unknown[],
  count: number = values.length,
  max: number = MAX_VALUE,
): string {
  if (count === 0) return 'an empty list'
  const first = values
    .slice(0, MAX_LISTED)
    .map((each) => (typeof each === 'string' ? quoted(each, max) : kindOf(each)))
  const others = count - first.length
  return [...first, ...(others > 0 ? [`${counted(others)} more`] : [])].join(', ')
}

/** With a comma between thousands. Not by `Intl`: its first use holds up a process for longer than thousands of refusals. */
export function counted(count: number): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')
}

/** @param word In the singular. */
export function numberOf(count: number, word: string): string {
  return `${counted(count)} ${word}${count === 1 ? '' : 's'}`
}

export function duration(seconds: number): string {
  if (!(Math.abs(seconds) < 1e12)) return `${seconds} s`
  const parts = Math.abs(seconds) < 10 ? 10 : 1
  return `${counted(Math.round(seconds * parts) / parts)} s`
}

/** A moment, from seconds since 1970-01-01T00:00:00Z. */
export function moment(seconds: number): string {
  const date = new Date(seconds * 1000)
  return Number.isNaN(date.getTime())
    ? `${seconds} (no date)`
    : date.toISOString().replace('.000Z', 'Z')
}

export function looksLikeMilliseconds(seconds: number): boolean {
  return seconds > EARLIEST_MILLISECONDS
}

/** What `parseJsonObject` refuses, after "is not". */
export const JSON_OBJECT =
  'a JSON object in UTF-8 of at most 32 levels, or it has a member twice, one named __proto__, a name that needs an escape, or a number that is too large'

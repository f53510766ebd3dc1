import type { FetchResponse } from './exchange.ts'

// What the header fields `Cache-Control`, `Age`, `Date` and `Retry-After` say. Seconds everywhere.

/** What a larger number of seconds counts as. RFC 9111 section 1.2.2. */
const MAX_DELTA_SECONDS = 2 ** 31

/**
 * Seconds: `max-age` less `Age`; `undefined` if the answer does not say. RFC 9111 sections 4.2.1, 5.1 and 5.2.2
 *
 * What forbids reuse, contradicts itself or cannot be read is 0: a mistake makes us ask more often, and never keeps a withdrawn key.
 */
export function freshnessLifetime(
  cacheControl: string | null,
  age: string | null,
): number | undefined {
  if (cacheControl === null) return undefined
  const directives = parseDirectives(cacheControl)
  if (directives === undefined) return 0
  if (directives.some(({ name }) => name === 'no-store' || name === 'no-cache')) return 0
  const announced = directives.filter(({ name }) => name === 'max-age')
  const [lifetime, ...others] = new Set(announced.map(({ argument }) => deltaSeconds(argument)))
  if (announced.length === 0) return undefined
  if (lifetime === undefined || others.length > 0) return 0
  return Math.max(0, lifetime - ageOf(age))
}

/**
 * Seconds, 0 to 2^31, that an answer asks to wait; `undefined` for anything but a number or a date to come. RFC 9110 section 10.2.3
 *
 * A date is compared with `Date`, which the same clock wrote; without one with `wallNow`, which may be wrong: whoever uses it has a limit.
 */
export function retryAfter(headers: FetchResponse['headers'], wallNow: number): number | undefined {
  const text = textOf(headers, 'retry-after')?.trim()
  if (text === undefined) return undefined
  const seconds = deltaSeconds(text)
  if (seconds !== undefined) return seconds
  const writtenAt = httpDate(textOf(headers, 'date'))
  const pause = httpDate(text) - (Number.isNaN(writtenAt) ? wallNow : writtenAt)
  return pause >= 0 ? Math.min(pause, MAX_DELTA_SECONDS) : undefined
}

/** Whatever an injected `fetch` makes of a header. */
export function textOf(headers: FetchResponse['headers'], name: string): string | null {
  const value: unknown = headers.get(name)
  return typeof value === 'string' ? value : null
}

interface Directive {
  readonly name: string
  readonly argument: string | undefined
}

/** One member of the list, and the comma behind it. RFC 9110 sections 5.6.1, 5.6.2 and 5.6.4; RFC 9111 section 5.2. */
const DIRECTIVE =
  /[ \t]*(?:(?<name>[\w!#$%&'*+.^`|~-]+)(?:=(?:(?<token>[\w!#$%&'*+.^`|~-]+)|"(?<quoted>(?:[^"\\]|\\.)*)"))?[ \t]*)?(?:,|$)/y

/** `undefined` if the whole is no list of directives: what a part of it means cannot be told then. */
function parseDirectives(text: string): readonly Directive[] | undefined {
  const directives: Directive[] = []
  DIRECTIVE.lastIndex = 0
  while (DIRECTIVE.lastIndex < text.length) {
    const groups = DIRECTIVE.exec(text)?.groups
    if (groups === undefined) return undefined
    const { name, token, quoted } = groups
    // A list may have empty members.
    if (name === undefined) continue
    directives.push({ name: name.toLowerCase(), argument: token ?? quoted })
  }
  return directives
}

/** A list, which two fields make, counts by its first member; what is no number is no age. RFC 9111 section 5.1. */
function ageOf(header: string | null): number {
  return deltaSeconds(header?.split(',')[0]?.trim()) ?? 0
}

/** Digits alone, so neither a sign, a fraction nor a list. RFC 9111 section 1.2.2 */
export function deltaSeconds(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text)
    ? Math.min(Number(text), MAX_DELTA_SECONDS)
    : undefined
}

/**
 * Seconds, or `NaN`. An IMF-fixdate alone (RFC 9110 section 5.6.7): `Date.parse` guesses, and takes what has no zone for local time. The
 * obsolete forms are ignored: servers no longer write them, and one has a year of two digits.
 */
export function httpDate(text: string | null | undefined): number {
  const trimmed = text?.trim() ?? ''
  const date = new Date(trimmed)
  return date.toUTCString() === trimmed ? date.getTime() / 1000 : NaN
}

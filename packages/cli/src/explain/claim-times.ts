import { describeTime } from '@portcullis/core/explain'

import { printableJson } from '../surroundings/printable.ts'

// Says beside each time of a token, which is a number of seconds, what date that is and how far from now.

/** @see RFC 7519 section 4.1; OpenID Connect Core 1.0 sections 2 and 5.1 */
const TIMES: ReadonlySet<string> = new Set(['exp', 'nbf', 'iat', 'auth_time', 'updated_at'])
/** Seconds. What is later counts milliseconds. */
const EARLIEST_MILLISECONDS = 1e11

/** `2026-11-25T22:59:17Z, in 4 min 59 s`; `undefined` for a claim that is no time. */
export function timeOf(name: string, value: unknown, now: number): string | undefined {
  if (!TIMES.has(name) || typeof value !== 'number') return undefined
  return Math.abs(value) > EARLIEST_MILLISECONDS ? 'not in seconds' : describeTime(value, now)
}

export function claimsText(claims: unknown, now: number): string {
  const text = printableJson(claims, 2)
  if (typeof claims !== 'object' || claims === null || Array.isArray(claims)) return text
  const values: Readonly<Record<string, unknown>> = { ...claims }
  return text
    .split('\n')
    .map((line) => {
      // Two spaces: a member of the claims themselves. A line break in a text is escaped.
      const [, name = ''] = /^ {2}"(\w+)": /.exec(line) ?? []
      const time = timeOf(name, values[name], now)
      return time === undefined ? line : `${line} // ${time}`
    })
    .join('\n')
}

export function timeLines(claims: unknown, now: number): readonly string[] {
  if (typeof claims !== 'object' || claims === null) return []
  return Object.entries(claims).flatMap(([name, value]) => {
    const time = timeOf(name, value, now)
    return time === undefined ? [] : [`${name} ${String(value)}: ${time}`]
  })
}

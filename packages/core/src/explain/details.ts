import { type JsonObject, member } from '@portcullis/kit/json'

import {
  duration,
  listed,
  looksLikeMilliseconds,
  moment,
  printable,
  shown,
} from '../refusal/text.ts'

// What an explanation says of a token beyond what refusals say. It is for whoever has the token, so it shows claims.

/**
 * A time of a token for people: `2026-11-25T22:59:17Z, in 4 min 59 s`, or `..., 2 h ago`.
 *
 * Does not say whether a verifier accepts it.
 *
 * @param at A NumericDate: seconds since 1970-01-01T00:00:00Z.
 * @param now The same, of the clock that it is compared with.
 * @see RFC 7519 section 2
 */
export function describeTime(at: number, now: number): string {
  return withDate(at, distanceOf(at, now, undefined))
}

/** @param distance What {@link distanceOf} says of the same time. */
export function withDate(at: number, distance: string): string {
  return `${moment(at)}, ${distance}`
}

/** How far a time is from now, for people: of no value that would have to be kept from a ticket. */
export function distanceOf(at: number, now: number, tolerance: number | undefined): string {
  // A clock of the user's may show anything.
  if (!Number.isFinite(now)) return 'and this clock shows no time'
  const distance = Math.abs(at - now)
  const side = at <= now ? `${span(distance)} ago` : `in ${span(distance)}`
  return tolerance === undefined ? side : `${side} (tolerance ${duration(tolerance)})`
}

const UNITS: readonly (readonly [name: string, seconds: number])[] = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
]

/** In the largest unit that there are two of, and the rest in the next one. */
function span(seconds: number): string {
  if (!(seconds < 1e12)) return duration(seconds)
  const rounded = Math.round(seconds)
  for (const [at, [name, size]] of UNITS.entries()) {
    if (rounded < size) continue
    const whole = Math.floor(rounded / size)
    const [smaller, smallerSize] = UNITS[at + 1] ?? ['s', 1]
    const rest = Math.floor((rounded % size) / smallerSize)
    return rest === 0 || whole >= 10 ? `${whole} ${name}` : `${whole} ${name} ${rest} ${smaller}`
  }
  return `${rounded} s`
}

export function issuerText(claims: JsonObject): string {
  const iss = member(claims, 'iss')
  return iss === undefined ? 'there is no iss' : `iss is ${shown(iss)}`
}

export function audienceText(claims: JsonObject): string {
  const aud = member(claims, 'aud')
  if (aud === undefined) return 'there is no aud'
  return `aud is ${Array.isArray(aud) ? listed(aud) : shown(aud)}`
}

export function inMilliseconds(claims: JsonObject): readonly string[] {
  return ['exp', 'nbf', 'iat'].filter((name) => {
    const value = member(claims, name)
    return typeof value === 'number' && looksLikeMilliseconds(value)
  })
}

/** What a token is bound to: of thumbprints the first characters, by which people tell keys apart. */
export function confirmedText(confirmed: {
  readonly jkt: string | undefined
  readonly x5tS256: string | undefined
}): string {
  const { jkt, x5tS256 } = confirmed
  const parts = [
    ...(jkt === undefined ? [] : [`the key ${printable(jkt, 8)} (cnf.jkt)`]),
    ...(x5tS256 === undefined
      ? []
      : [`the client certificate ${printable(x5tS256, 8)} (x5t#S256)`]),
  ]
  return parts.length === 0
    ? 'its cnf names nothing that can be confirmed'
    : `it is bound to ${parts.join(' and ')}`
}

import { member, textMember } from '@portcullis/kit/json'

import type { Claims } from '../claims/auth.ts'
import { nameOf } from './revocation-entries.ts'
import {
  copyPlace,
  endOf,
  entriesOf,
  type IssuerEntries,
  type Kind,
  put,
  type Table,
  TOLERANCE,
} from './revocation-table.ts'
import type { RevocationEntry } from './revocations.ts'

// The index of revocations: what is revoked, and when an entry is no longer needed. It is made for a million entries.

/** What has been revoked. Times are seconds since 1970-01-01T00:00:00Z. */
export interface RevocationList {
  /** All entries, or none if there is no room. @param now Entries that have lapsed by then are removed to make room. */
  add(entries: readonly RevocationEntry[], now: number): boolean
  hasRoomFor(entries: readonly RevocationEntry[], now: number): boolean
  /** With entries that have lapsed and are not removed yet. */
  readonly size: number
  /** @param digest Of the token. Without it, one that was revoked by it counts as valid. */
  isRevoked(claims: Claims, now: number, digest: string | undefined): boolean
  entries(): IterableIterator<RevocationEntry>
}

/** Entries. With fewer it is not worthwhile to look for those that have lapsed. */
const FEW = 1024

/** Of at most `max` entries; forgets those that have lapsed and no others. */
export function createRevocationList(max: number): RevocationList {
  const table: Table = new Map()
  let size = 0
  /** Nothing lapses earlier. A whole second: then a full list is looked through at most once a second. */
  let nextLapse = Infinity
  /** From this size on, what has lapsed is removed. It grows with the list, so that an addition costs the same on average. */
  let crowded = Math.min(FEW, max)

  function add(given: readonly RevocationEntry[], now: number): boolean {
    const entries = lasting(given, now)
    if (!fits(entries, now)) return false
    for (const entry of entries) {
      size += put(table, entry)
      nextLapse = Math.min(nextLapse, Math.ceil(endOf(entry)))
    }
    return true
  }

  /** What has lapsed takes no room: it is removed first, if need be. */
  function fits(entries: readonly RevocationEntry[], now: number): boolean {
    if (size + entries.length > crowded) removeLapsed(now)
    return size + entries.length <= max || size + growthBy(entries) <= max
  }

  /** How many entries more there would be. Some of them may replace others, or each other. */
  function growthBy(entries: readonly RevocationEntry[]): number {
    const copy: Table = new Map()
    let growth = 0
    for (const entry of entries) {
      copyPlace(table, copy, entry)
      growth += put(copy, entry)
    }
    return growth
  }

  function removeLapsed(now: number): void {
    if (!hasLapsed(nextLapse, now)) return
    nextLapse = Infinity
    for (const [iss, { tokens, digests, limits }] of table) {
      for (const names of [tokens, digests]) {
        for (const [name, exp] of names) {
          if (isKept(exp + TOLERANCE, now)) continue
          names.delete(name)
          size -= 1
        }
      }
      for (const [kind, each] of limits) {
        for (const [value, known] of each) {
          const left = known.filter(({ until }) => isKept(until, now))
          size -= known.length - left.length
          if (left.length === 0) each.delete(value)
          else each.set(value, left)
        }
        if (each.size === 0) limits.delete(kind)
      }
      if (tokens.size + digests.size + limits.size === 0) table.delete(iss)
    }
    crowded = Math.min(Math.max(FEW, 2 * size), max)
  }

  function isKept(end: number, now: number): boolean {
    if (hasLapsed(end, now)) return false
    nextLapse = Math.min(nextLapse, Math.ceil(end))
    return true
  }

  function isRevoked(claims: Claims, now: number, digest: string | undefined): boolean {
    const issuer = table.get(textMember(claims, 'iss'))
    if (issuer === undefined) return false
    const jti = nameOf(member(claims, 'jti'))
    if (isNamed(issuer.tokens, jti, now) || isNamed(issuer.digests, digest, now)) return true
    return issuer.limits.size > 0 && isIssuedBefore(issuer.limits, claims, now)
  }

  return {
    add,
    hasRoomFor: (entries, now) => fits(lasting(entries, now), now),
    get size() {
      return size
    },
    isRevoked,
    entries: () => entriesOf(table),
  }
}

function lasting(entries: readonly RevocationEntry[], now: number): readonly RevocationEntry[] {
  return entries.filter((entry) => !hasLapsed(endOf(entry), now))
}

/** Not if a clock shows no number. */
function hasLapsed(end: number, now: number): boolean {
  return now >= end
}

function isNamed(
  names: ReadonlyMap<string, number>,
  name: string | undefined,
  now: number,
): boolean {
  const exp = name === undefined ? undefined : names.get(name)
  return exp !== undefined && !hasLapsed(exp + TOLERANCE, now)
}

function isIssuedBefore(limits: IssuerEntries['limits'], claims: Claims, now: number): boolean {
  const iat = member(claims, 'iat')
  const isBefore = (kind: Kind, value: string | undefined) => {
    const known = value === undefined ? undefined : limits.get(kind)?.get(value)
    if (known === undefined) return false
    return known.some(
      ({ time, until }) => !hasLapsed(until, now) && !(typeof iat === 'number' && iat >= time),
    )
  }
  return (
    isBefore('all', '') ||
    isBefore('sub', nameOf(member(claims, 'sub'))) ||
    isBefore('client_id', nameOf(member(claims, 'client_id'))) ||
    isBefore('client_id', nameOf(member(claims, 'azp'))) ||
    isBefore('sid', nameOf(member(claims, 'sid')))
  )
}

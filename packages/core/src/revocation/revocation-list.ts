import type { Claims } from '../claims/auth.ts'
import { member, textMember } from '../ground/json.ts'
import { nameOf } from './revocation-entries.ts'
import type { RevocationEntry } from './revocations.ts'

// The index of revocations: what is revoked, and when an entry is no longer needed. It is made for a million entries.

/** What has been revoked. Times are seconds since 1970-01-01T00:00:00Z. */
export interface RevocationList {
  /**
   * Adds all entries, or none of them if there is no room; says which.
   *
   * @param now Entries that have lapsed by then are removed to make room.
   */
  add(entries: readonly RevocationEntry[], now: number): boolean
  /** Whether {@link add} would add them. */
  hasRoomFor(entries: readonly RevocationEntry[], now: number): boolean
  /** With entries that have lapsed and are not removed yet. */
  readonly size: number
  isRevoked(claims: Claims, now: number): boolean
  entries(): Iterable<RevocationEntry>
}

/** Seconds. The longest `clockTolerance` of a verifier: so long after its `exp` a token may still be accepted. */
const TOLERANCE = 600
/** Entries. With fewer it is not worthwhile to look for those that have lapsed. */
const FEW = 1024

type Kind = 'all' | 'sub' | 'client_id' | 'sid'

/** What was issued before `time` is revoked. The entry lapses at `until`. */
interface Limit {
  readonly time: number
  readonly until: number
}

/** Nested maps, since texts that are joined might be joined of other texts. */
interface IssuerEntries {
  /** The `exp` of each `jti`. Bare numbers: there may be a million. */
  readonly tokens: Map<string, number>
  /** Several of one owner, if the one with the later time lapses earlier. */
  readonly limits: Map<Kind, Map<string, readonly Limit[]>>
}

type Table = Map<string | undefined, IssuerEntries>

/** A list of at most `max` entries, which forgets those that have lapsed and no others. */
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
    for (const [iss, { tokens, limits }] of table) {
      for (const [jti, exp] of tokens) {
        if (isKept(exp + TOLERANCE, now)) continue
        tokens.delete(jti)
        size -= 1
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
      if (tokens.size === 0 && limits.size === 0) table.delete(iss)
    }
    crowded = Math.min(Math.max(FEW, 2 * size), max)
  }

  function isKept(end: number, now: number): boolean {
    if (hasLapsed(end, now)) return false
    nextLapse = Math.min(nextLapse, Math.ceil(end))
    return true
  }

  function isRevoked(claims: Claims, now: number): boolean {
    const issuer = table.get(textMember(claims, 'iss'))
    if (issuer === undefined) return false
    const jti = nameOf(member(claims, 'jti'))
    const exp = jti === undefined ? undefined : issuer.tokens.get(jti)
    if (exp !== undefined && !hasLapsed(exp + TOLERANCE, now)) return true
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

/** Those that have not lapsed. */
function lasting(entries: readonly RevocationEntry[], now: number): readonly RevocationEntry[] {
  return entries.filter((entry) => !hasLapsed(endOf(entry), now))
}

/** Not if a clock shows no number. */
function hasLapsed(end: number, now: number): boolean {
  return now >= end
}

function endOf(entry: RevocationEntry): number {
  return entry.type === 'token' ? (entry.exp ?? Infinity) + TOLERANCE : (entry.until ?? Infinity)
}

/** @returns How many entries more there are now. */
function put(table: Table, entry: RevocationEntry): number {
  const { tokens, limits } = made(table, entry.iss, noEntries)
  if (entry.type === 'token') {
    const { jti, exp = Infinity } = entry
    const known = tokens.get(jti)
    tokens.set(jti, Math.max(exp, known ?? exp))
    return known === undefined ? 1 : 0
  }
  const [kind, value] = ownerOf(entry)
  const each = made(limits, kind, noLimits)
  const known = each.get(value)
  const limit = { time: entry.time, until: endOf(entry) }
  const added = known === undefined ? [limit] : withLimit(known, limit)
  each.set(value, added)
  return added.length - (known?.length ?? 0)
}

/** What there is in the place of an entry, if it is not there already. */
function copyPlace(from: Table, to: Table, entry: RevocationEntry): void {
  const known = from.get(entry.iss)
  const { tokens, limits } = made(to, entry.iss, noEntries)
  if (entry.type === 'token') {
    const exp = known?.tokens.get(entry.jti)
    if (exp !== undefined && !tokens.has(entry.jti)) tokens.set(entry.jti, exp)
    return
  }
  const [kind, value] = ownerOf(entry)
  const limit = known?.limits.get(kind)?.get(value)
  const each = made(limits, kind, noLimits)
  if (limit !== undefined && !each.has(value)) each.set(value, limit)
}

/** Without those that say no more than another. So the order in which they come does not matter. */
function withLimit(known: readonly Limit[], added: Limit): readonly Limit[] {
  if (known.some((each) => covers(each, added))) return known
  return [...known.filter((each) => !covers(added, each)), added]
}

function covers(one: Limit, other: Limit): boolean {
  return one.time >= other.time && one.until >= other.until
}

type IssuedBeforeEntry = Extract<RevocationEntry, { type: 'issued_before' }>

function ownerOf({ sub, client_id, sid }: IssuedBeforeEntry): [kind: Kind, value: string] {
  if (sub !== undefined) return ['sub', sub]
  if (client_id !== undefined) return ['client_id', client_id]
  return sid === undefined ? ['all', ''] : ['sid', sid]
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

function* entriesOf(table: Table): Generator<RevocationEntry> {
  for (const [iss, { tokens, limits }] of table) {
    const issuer = iss === undefined ? {} : { iss }
    for (const [jti, exp] of tokens) {
      yield { type: 'token', ...issuer, jti, ...(exp === Infinity ? {} : { exp }) }
    }
    for (const [kind, each] of limits) {
      for (const [value, known] of each) {
        const owner = kind === 'all' ? {} : { [kind]: value }
        for (const { time, until } of known) {
          const end = until === Infinity ? {} : { until }
          yield { type: 'issued_before', ...issuer, ...owner, time, ...end }
        }
      }
    }
  }
}

function noEntries(): IssuerEntries {
  return { tokens: new Map(), limits: new Map() }
}

function noLimits(): Map<string, readonly Limit[]> {
  return new Map()
}

function made<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const value = make()
  map.set(key, value)
  return value
}

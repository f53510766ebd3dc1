import type { Claims } from './auth.ts'
import { member, textMember } from './json.ts'
import { ownMembers } from './options.ts'
import type { RevocationEntry } from './revocations.ts'

/** What has been revoked. Times are seconds since 1970-01-01T00:00:00Z. */
export interface RevocationList {
  /**
   * Adds all entries, or none of them if there is no room; says which.
   *
   * @param now Entries that have lapsed by then are removed to make room.
   */
  add(entries: readonly RevocationEntry[], now: number): boolean
  isRevoked(claims: Claims, now: number): boolean
  entries(): Iterable<RevocationEntry>
}

/** Seconds. The longest `clockTolerance` of a verifier: so long after its `exp` a token may still be accepted. */
const TOLERANCE = 600
/** Entries. With fewer it is not worthwhile to look for those that have lapsed. */
const FEW = 1024

const KINDS = ['all', 'sub', 'client_id', 'sid'] as const

type Kind = (typeof KINDS)[number]

/** What was issued before `time` is revoked. The entry lapses at `until`. */
interface Limit {
  time: number
  until: number
}

/** Nested maps, since texts that are joined might be joined of other texts. */
interface IssuerEntries {
  /** The `exp` of each `jti`. Bare numbers: there may be a million. */
  readonly tokens: Map<string, number>
  readonly limits: Map<Kind, Map<string, Limit>>
}

/** A list of at most `max` entries, which forgets those that have lapsed and no others. */
export function createRevocationList(max: number): RevocationList {
  const byIssuer = new Map<string | undefined, IssuerEntries>()
  let size = 0
  /** Nothing lapses earlier. A whole second: then a full list is looked through at most once a second. */
  let nextLapse = Infinity
  /** From this size on, what has lapsed is removed. It grows with the list, so that an addition costs the same on average. */
  let crowded = Math.min(FEW, max)

  function add(given: readonly RevocationEntry[], now: number): boolean {
    const entries = given.filter((entry) => !hasLapsed(endOf(entry), now))
    if (size + entries.length > crowded) removeLapsed(now)
    if (size + entries.length > max && size + countNew(entries, now) > max) return false
    for (const entry of entries) put(entry)
    return true
  }

  /** Each entry counts once, however often it is among them. */
  function countNew(entries: readonly RevocationEntry[], now: number): number {
    const apart = createRevocationList(Infinity)
    apart.add(entries, now)
    return [...apart.entries()].filter((entry) => !holds(ownMembers(entry))).length
  }

  function holds(entry: RevocationEntry): boolean {
    const issuer = byIssuer.get(entry.iss)
    if (entry.type === 'token') return issuer?.tokens.has(entry.jti) === true
    const [kind, value] = ownerOf(entry)
    return issuer?.limits.get(kind)?.has(value) === true
  }

  function put(entry: RevocationEntry): void {
    nextLapse = Math.min(nextLapse, Math.ceil(endOf(entry)))
    if (!holds(entry)) size += 1
    const { tokens, limits } = made(byIssuer, entry.iss, noEntries)
    if (entry.type === 'token') {
      const { jti, exp = Infinity } = entry
      tokens.set(jti, Math.max(exp, tokens.get(jti) ?? exp))
      return
    }
    const [kind, value] = ownerOf(entry)
    const limit = made(made(limits, kind, noLimits), value, noLimit)
    limit.time = Math.max(limit.time, entry.time)
    limit.until = Math.max(limit.until, endOf(entry))
  }

  function removeLapsed(now: number): void {
    if (!hasLapsed(nextLapse, now)) return
    nextLapse = Infinity
    for (const [iss, { tokens, limits }] of byIssuer) {
      removeFrom(tokens, (exp) => exp + TOLERANCE, now)
      for (const [kind, each] of limits) {
        removeFrom(each, ({ until }) => until, now)
        if (each.size === 0) limits.delete(kind)
      }
      if (tokens.size === 0 && limits.size === 0) byIssuer.delete(iss)
    }
    crowded = Math.min(Math.max(FEW, 2 * size), max)
  }

  function removeFrom<Value>(
    entries: Map<string, Value>,
    ending: (value: Value) => number,
    now: number,
  ): void {
    for (const [name, value] of entries) {
      const end = ending(value)
      if (!hasLapsed(end, now)) nextLapse = Math.min(nextLapse, Math.ceil(end))
      else if (entries.delete(name)) size -= 1
    }
  }

  function isRevoked(claims: Claims, now: number): boolean {
    const issuer = byIssuer.get(textMember(claims, 'iss'))
    if (issuer === undefined) return false
    const jti = textMember(claims, 'jti')
    const exp = jti === undefined ? undefined : issuer.tokens.get(jti)
    if (exp !== undefined && !hasLapsed(exp + TOLERANCE, now)) return true
    return issuer.limits.size > 0 && isIssuedBefore(issuer.limits, claims, now)
  }

  return { add, isRevoked, entries: () => entriesOf(byIssuer) }
}

/** Not if a clock shows no number. */
function hasLapsed(end: number, now: number): boolean {
  return now >= end
}

function endOf(entry: RevocationEntry): number {
  return entry.type === 'token' ? (entry.exp ?? Infinity) + TOLERANCE : (entry.until ?? Infinity)
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
    const limit = value === undefined ? undefined : limits.get(kind)?.get(value)
    if (limit === undefined || hasLapsed(limit.until, now)) return false
    return !(typeof iat === 'number' && iat >= limit.time)
  }
  return (
    isBefore('all', '') ||
    isBefore('sub', textMember(claims, 'sub')) ||
    isBefore('client_id', textMember(claims, 'client_id')) ||
    isBefore('client_id', textMember(claims, 'azp')) ||
    isBefore('sid', textMember(claims, 'sid'))
  )
}

function* entriesOf(
  byIssuer: ReadonlyMap<string | undefined, IssuerEntries>,
): Generator<RevocationEntry> {
  for (const [iss, { tokens, limits }] of byIssuer) {
    const issuer = iss === undefined ? {} : { iss }
    for (const [jti, exp] of tokens) {
      yield { type: 'token', ...issuer, jti, ...(exp === Infinity ? {} : { exp }) }
    }
    for (const [kind, each] of limits) {
      for (const [value, { time, until }] of each) {
        const owner = kind === 'all' ? {} : { [kind]: value }
        const end = until === Infinity ? {} : { until }
        yield { type: 'issued_before', ...issuer, ...owner, time, ...end }
      }
    }
  }
}

function noEntries(): IssuerEntries {
  return { tokens: new Map(), limits: new Map() }
}

function noLimits(): Map<string, Limit> {
  return new Map()
}

function noLimit(): Limit {
  return { time: -Infinity, until: -Infinity }
}

function made<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const value = make()
  map.set(key, value)
  return value
}

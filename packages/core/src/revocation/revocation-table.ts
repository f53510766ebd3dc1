import type { RevocationEntry } from './revocations.ts'

// How entries are held: nested maps, which take an entry, copy its place, and give all of them back.

/** Seconds. The longest `clockTolerance` of a verifier: so long after its `exp` a token may still be accepted. */
export const TOLERANCE = 600

type IssuedBeforeEntry = Extract<RevocationEntry, { type: 'issued_before' }>

export type Kind = 'all' | 'sub' | 'client_id' | 'sid'

/** What was issued before `time` is revoked. The entry lapses at `until`. */
interface Limit {
  readonly time: number
  readonly until: number
}

/** Nested maps, since texts that are joined might be joined of other texts. */
export interface IssuerEntries {
  /** The `exp` of each `jti`. Bare numbers: there may be a million. */
  readonly tokens: Map<string, number>
  /** The same of tokens without `jti`. */
  readonly digests: Map<string, number>
  /** Several of one owner, if the one with the later time lapses earlier. */
  readonly limits: Map<Kind, Map<string, readonly Limit[]>>
}

export type Table = Map<string | undefined, IssuerEntries>

export function endOf(entry: RevocationEntry): number {
  return entry.type === 'issued_before'
    ? (entry.until ?? Infinity)
    : (entry.exp ?? Infinity) + TOLERANCE
}

type NamedEntry = Exclude<RevocationEntry, IssuedBeforeEntry>

function namesFor({ tokens, digests }: IssuerEntries, { type }: NamedEntry): Map<string, number> {
  return type === 'token' ? tokens : digests
}

function nameIn(entry: NamedEntry): string {
  return entry.type === 'token' ? entry.jti : entry.digest
}

/** @returns How many entries more there are now. */
export function put(table: Table, entry: RevocationEntry): number {
  const issuer = made(table, entry.iss, noEntries)
  if (entry.type !== 'issued_before') {
    const [names, name] = [namesFor(issuer, entry), nameIn(entry)]
    const { exp = Infinity } = entry
    const known = names.get(name)
    names.set(name, Math.max(exp, known ?? exp))
    return known === undefined ? 1 : 0
  }
  const { limits } = issuer
  const [kind, value] = ownerOf(entry)
  const each = made(limits, kind, noLimits)
  const known = each.get(value)
  const limit = { time: entry.time, until: endOf(entry) }
  const added = known === undefined ? [limit] : withLimit(known, limit)
  each.set(value, added)
  return added.length - (known?.length ?? 0)
}

/** What there is in the place of an entry, if it is not there already. */
export function copyPlace(from: Table, to: Table, entry: RevocationEntry): void {
  const known = from.get(entry.iss)
  const issuer = made(to, entry.iss, noEntries)
  if (entry.type !== 'issued_before') {
    const [names, name] = [namesFor(issuer, entry), nameIn(entry)]
    const exp = known && namesFor(known, entry).get(name)
    if (exp !== undefined && !names.has(name)) names.set(name, exp)
    return
  }
  const { limits } = issuer
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

function ownerOf({ sub, client_id, sid }: IssuedBeforeEntry): [kind: Kind, value: string] {
  if (sub !== undefined) return ['sub', sub]
  if (client_id !== undefined) return ['client_id', client_id]
  return sid === undefined ? ['all', ''] : ['sid', sid]
}

export function* entriesOf(table: Table): Generator<RevocationEntry> {
  for (const [iss, { tokens, digests, limits }] of table) {
    const issuer = iss === undefined ? {} : { iss }
    for (const [jti, exp] of tokens) yield { type: 'token', ...issuer, jti, ...endAt(exp) }
    for (const [digest, exp] of digests) yield { type: 'digest', ...issuer, digest, ...endAt(exp) }
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

function endAt(exp: number): { readonly exp?: number } {
  return exp === Infinity ? {} : { exp }
}

function noEntries(): IssuerEntries {
  return { tokens: new Map(), digests: new Map(), limits: new Map() }
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

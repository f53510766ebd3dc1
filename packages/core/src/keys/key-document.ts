import { isJsonObject, member } from '@portcullis/kit/json'

import type { SkippedEntry } from '../report/diagnostics.ts'
import type { EntryRules } from './entry-rules.ts'
import { readJwk } from './jwk.ts'
import type { VerificationKey } from './key-source.ts'

// From a JWK or a JWK set to usable keys, and why the other entries are none. The number of both is bounded.

const MAX_KEYS = 100
/** Entries with a `kty`: one that cannot be used may cost as much as one that can, such as a point that is not on its curve. */
const MAX_CANDIDATES = 500
const MAX_EXPLAINED = 100
/** Characters. */
const MAX_KID = 64

export interface KeyDocument {
  readonly bare: boolean
  readonly keys: readonly VerificationKey[]
  readonly skipped: SkippedEntries
}

/** Entries that cannot be used or are too many. */
export interface SkippedEntries {
  readonly count: number
  /** Those of them that are explained: the first hundred. */
  readonly entries: readonly SkippedEntry[]
}

/** A bare JWK or a JWK set (RFC 7517 sections 4 and 5), else `undefined`. An entry that cannot be used is skipped and hides no other. */
export function readKeyDocument(
  document: unknown,
  entryRules?: EntryRules,
): KeyDocument | undefined {
  if (!isJsonObject(document)) return undefined
  const keys = member(document, 'keys')
  if (Array.isArray(keys)) return { bare: false, ...readEntries(keys, entryRules) }
  if (typeof member(document, 'kty') === 'string') {
    return { bare: true, ...readEntries([document], entryRules) }
  }
  return undefined
}

/** @returns Instead of a document with a usable key, what is wrong with it: in words, for developers. */
export function readUsableKeys(document: unknown, entryRules: EntryRules): KeyDocument | string {
  const read = readKeyDocument(document, entryRules)
  if (read === undefined) return `the document is neither a JWK nor a JWK set${pemHint(document)}`
  return read.keys.length === 0 ? explained('the document has no usable key', read) : read
}

/** As some issuers publish certificates, by the id of each key. */
function pemHint(document: unknown): string {
  const values = isJsonObject(document) ? Object.values(document) : []
  const hasPem = values.some((each) => typeof each === 'string' && each.startsWith('-----BEGIN '))
  return hasPem ? ': it has certificates or keys in PEM, which are not read' : ''
}

/** A complaint about a document without a usable key, with the reasons as far as there are any. For developers. */
export function explained(
  complaint: string,
  { bare, skipped: { count, entries } }: KeyDocument,
): string {
  const reasons = entries
    .slice(0, 3)
    .map(({ index, reason }) => (bare ? reason : `entry ${index}: ${reason}`))
  const others = count - reasons.length
  const more = others > 0 ? [`and ${others} more`] : []
  return reasons.length === 0 ? complaint : `${complaint}: ${[...reasons, ...more].join('; ')}`
}

function readEntries(
  entries: readonly unknown[],
  entryRules: EntryRules | undefined,
): { keys: VerificationKey[]; skipped: SkippedEntries } {
  const keys: VerificationKey[] = []
  const skipped: SkippedEntry[] = []
  let candidates = 0
  function read(entry: unknown): VerificationKey | string {
    // Without a look at more than this: there is room for half a million of them.
    if (!isJsonObject(entry)) return 'it is no object'
    const kty = member(entry, 'kty') ?? undefined
    if (typeof kty !== 'string') return kty === undefined ? 'kty is missing' : 'kty is not a text'
    if (candidates++ >= MAX_CANDIDATES) return `it is beyond the first ${MAX_CANDIDATES} entries`
    if (keys.length === MAX_KEYS) return `it is beyond the first ${MAX_KEYS} keys`
    return readJwk(entry, entryRules)
  }
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index]
    const key = read(entry)
    if (typeof key !== 'string') keys.push(key)
    else if (skipped.length < MAX_EXPLAINED) skipped.push({ index, kid: kidOf(entry), reason: key })
  }
  return { keys, skipped: { count: entries.length - keys.length, entries: skipped } }
}

function kidOf(entry: unknown): string | undefined {
  const kid = isJsonObject(entry) ? member(entry, 'kid') : undefined
  return typeof kid === 'string' ? kid.slice(0, MAX_KID) : undefined
}

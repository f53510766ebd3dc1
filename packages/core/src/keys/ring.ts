import { elapsed, type Instant } from '@portcullis/kit/time'

import { ALGORITHMS, purposesOf } from '../algorithms/algorithms.ts'
import type { SkippedEntries } from './key-document.ts'
import type { KeyRing, VerificationKey } from './key-source.ts'

// The ring: how it follows from a document and from the ring before, and what becomes of the keys that left. Times are seconds.

/** What a key document says. */
export interface RingDocument extends KeyRing {
  readonly maxAge: number
  /** What its headers said of that; `undefined` if they said nothing. */
  readonly freshnessLifetime: number | undefined
  readonly skipped: SkippedEntries
}

export interface FetchedRing extends RingDocument {
  /** The start of the attempt that brought it. */
  readonly fetchedAt: Instant
  /** Keys that the document lacks, trusted a little longer because of `overlap`, the one that left last in front. */
  readonly overlapping: readonly OverlappingKey[]
  /** It is of a snapshot: no attempt of this process has confirmed it. */
  readonly isSaved: boolean
}

interface MissingKey {
  readonly key: VerificationKey
  /** The start of the first attempt whose document lacked it. */
  readonly missingSince: Instant
  /** What its overlap counts from: that start, or when its ring could no longer be used without a fetch, if earlier. */
  readonly overlapFrom: Instant
}

interface OverlappingKey extends MissingKey {
  /** The ring once the overlap of this key is over. Made in advance: a ring that is the same is the same object. */
  readonly ringWithout: KeyRing
}

export interface RetiredKey {
  readonly key: VerificationKey
  /** The start of the first attempt whose document lacked it. */
  readonly missingSince: Instant
  /** How often its tokens have asked whether it is back, and the start of the attempt that answered last. */
  readonly questions: number
  readonly answeredAt: Instant | undefined
}

const MAX_RETIRED = 4
const MAX_OVERLAPPING = 8

/**
 * The ring that a document makes of the one before, and the keys that the document lacks.
 *
 * @param ringEnd When the ring before could no longer be used without a fetch, if that was before the attempt.
 */
export function nextRing(
  before: FetchedRing | undefined,
  document: RingDocument,
  { startedAt, settledAt }: { startedAt: Instant; settledAt: Instant },
  { ringEnd, overlap }: { ringEnd: Instant | undefined; overlap: number },
): { ring: FetchedRing; missing: readonly MissingKey[] } {
  const { bare, maxAge, freshnessLifetime, skipped } = document
  const known = before?.keys ?? []
  // The objects already in use, where they are the same.
  const keys = document.keys.map((key) => known.find((each) => isSame(each, key)) ?? key)
  const gone = known
    .filter((key) => !trusts(keys, key))
    .map((key) => missingKey(before, key) ?? newlyMissing(key, startedAt, ringEnd))
  const overlapping = gone
    .filter(({ overlapFrom }) => elapsed(overlapFrom, settledAt) < overlap)
    .slice(0, MAX_OVERLAPPING)
  const ring = withOverlap({ keys, bare }, overlapping)
  // If nothing has changed, `keys` stays the same array: whoever asks for news compares the two arrays alone. A change of `bare` counts,
  // since it decides which tokens a key is tried for.
  const isUnchanged = before?.bare === bare && isSameList(ring.keys, known)
  return {
    ring: {
      ...ring,
      keys: isUnchanged ? known : ring.keys,
      maxAge,
      freshnessLifetime,
      skipped,
      fetchedAt: startedAt,
      isSaved: false,
    },
    missing: gone,
  }
}

/** The keys of a ring, however old, without those whose overlap is over. */
export function withoutEndedOverlaps(
  ring: FetchedRing,
  now: Instant,
  { overlap }: { overlap: number },
): KeyRing {
  if (ring.overlapping.length === 0) return ring
  const ended = ring.overlapping.find(({ overlapFrom }) => elapsed(overlapFrom, now) >= overlap)
  return ended?.ringWithout ?? ring
}

/** The keys that left, those included whose overlap has ended since the last attempt. */
export function retiredKeys(
  ring: FetchedRing | undefined,
  retired: readonly RetiredKey[],
  now: Instant,
  policy: { overlap: number },
): readonly RetiredKey[] {
  if (ring === undefined || ring.overlapping.length === 0) return retired
  const { keys } = withoutEndedOverlaps(ring, now, policy)
  const ended = ring.overlapping.filter(({ key }) => !keys.includes(key))
  return [...ended.map(newlyRetired), ...retired]
}

/** The keys of a document, and behind them those whose overlap is not over, the one that left last in front. */
function withOverlap(
  { keys, bare }: KeyRing,
  left: readonly MissingKey[],
): KeyRing & Pick<FetchedRing, 'overlapping'> {
  const ringOf = (count: number): KeyRing => ({
    keys: count === 0 ? keys : [...keys, ...left.slice(0, count).map(({ key }) => key)],
    bare,
  })
  const overlapping = left.map((each, newer) => ({ ...each, ringWithout: ringOf(newer) }))
  return { ...ringOf(left.length), overlapping }
}

function isSameList(one: readonly VerificationKey[], other: readonly VerificationKey[]): boolean {
  return one.length === other.length && one.every((key, at) => key === other[at])
}

function isSame(one: VerificationKey, other: VerificationKey): boolean {
  return isSameTrust(one, other) && one.kid === other.kid && one.stated === other.stated
}

/** One key may have several entries, each for tokens of another issuer. */
function isSameTrust(one: VerificationKey, other: VerificationKey): boolean {
  return one.thumbprint === other.thumbprint && one.issuer === other.issuer
}

/** The rules that verifiers may have, as far as keys are concerned: the widest list, and none. */
const RULES = [[...ALGORITHMS.keys()], undefined]

/**
 * Trust is in a key for an algorithm and for the `issuer` of its entry: an entry that no longer permits one has left, for that one.
 * So has an entry whose `alg` has come or gone, if any verifier took it for something that it is not for now.
 */
function trusts(keys: readonly VerificationKey[], key: VerificationKey): boolean {
  const same = keys.filter((each) => isSameTrust(each, key))
  return RULES.every((accepted) => {
    const trusted = new Set(same.flatMap((each) => purposesOf(each, accepted)))
    return purposesOf(key, accepted).every((algorithm) => trusted.has(algorithm))
  })
}

function missingKey(ring: FetchedRing | undefined, key: VerificationKey): MissingKey | undefined {
  return ring?.overlapping.find((each) => each.key === key)
}

function newlyMissing(
  key: VerificationKey,
  startedAt: Instant,
  ringEnd: Instant | undefined,
): MissingKey {
  return { key, missingSince: startedAt, overlapFrom: ringEnd ?? startedAt }
}

/** The keys that left last, newest first, each once, without those that are trusted again. */
export function retire(
  retired: readonly RetiredKey[],
  left: readonly MissingKey[],
  trusted: readonly VerificationKey[],
): readonly RetiredKey[] {
  return [...left.map(newlyRetired), ...retired]
    .filter(({ key }) => !trusts(trusted, key))
    .filter(({ key }, at, all) => all.findIndex((other) => isSame(other.key, key)) === at)
    .slice(0, MAX_RETIRED)
}

function newlyRetired({ key, missingSince }: MissingKey): RetiredKey {
  return { key, missingSince, questions: 0, answeredAt: undefined }
}

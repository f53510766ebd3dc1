import type { LocalRevocations, RevocationEntry } from '@portcullis/core'

import type { Identity } from '../store/record.ts'
import type { StreamInfo } from '../store/stream-replies.ts'
import { hasSteppedBack } from './comparison.ts'
import type { LoadTrigger, RevocationsMessage } from './diagnostics.ts'
import type { Position, ReplicaState } from './following.ts'

// What a stream lacks after a loss or a fail-over, and who writes it back: pure functions. Entries only grow and the largest time counts,
// so to write back what is known brings nothing back to life. What can lie is that a stream has everything: only an operator says so.
// Times are seconds.

/**
 * What the stream may have lost when it was read from its beginning for one of these. Where entries were deleted that were never read, it
 * cannot be told whether others went with a former primary.
 */
const LOSSES: ReadonlySet<LoadTrigger> = new Set([
  'start',
  'identity',
  'step_back',
  'gap',
  'history',
])

export function isLossy(trigger: LoadTrigger): boolean {
  return LOSSES.has(trigger)
}

/**
 * Why the stream was read from its beginning, once it is read: since the report that led to it another one may have come in its place, or
 * one with less.
 */
export function causeOfLoad(
  trigger: LoadTrigger,
  position: Position | undefined,
  { identity, info }: { readonly identity: Identity | undefined; readonly info: StreamInfo },
): LoadTrigger {
  if (position === undefined || isLossy(trigger)) return trigger
  const { reported } = position
  if (reported.identity !== identity?.id) return 'identity'
  return hasSteppedBack(reported.info, info) ? 'step_back' : trigger
}

/**
 * Whether entries that this process knows may be missing in what was read.
 *
 * @param state Before that. @param knew Whether it knew entries before: also of a stream that it had not read to its end.
 */
export function mayLack(
  { freshAt }: Pick<ReplicaState, 'freshAt'>,
  trigger: LoadTrigger,
  knew: boolean,
): boolean {
  return (freshAt !== undefined || knew) && isLossy(trigger)
}

/**
 * In which state the followed stream was left, once it is found to be gone. @param word Of this moment.
 */
export function partedIn(
  { parted, store }: Pick<ReplicaState, 'parted' | 'store'>,
  word: RevocationsMessage['state'],
): ReplicaState['parted'] {
  return parted ?? (store === 'sound' ? word : undefined)
}

/**
 * Whether it is not known what was revoked until an operator has ended the restoration: for whoever never read the stream that was
 * lost, or not all of it.
 */
export function isHeldBack({
  isRestoring,
  former,
}: Pick<ReplicaState, 'isRestoring' | 'former'>): boolean {
  return isRestoring && former !== 'current'
}

/** Whether there may be something to write back, into a stream that is or replaces the one that was followed. */
export function isOwed({
  losses,
  settled,
  store,
  identity,
  position,
  isClosed,
}: Pick<
  ReplicaState,
  'losses' | 'settled' | 'store' | 'identity' | 'position' | 'isClosed'
>): boolean {
  const isOurs = store === 'sound' && position?.reported.identity === identity
  return losses > settled && isOurs && !isClosed
}

/** The longest `clockTolerance` of a verifier: so long after its `exp` a token may still be accepted. */
const TOLERANCE = 600
/** How far the clocks of machines may differ. */
export const CLOCK_DIFFERENCE = 300

/** From when on an entry revokes nothing any more. */
export function endOf(entry: RevocationEntry): number {
  return entry.type === 'issued_before'
    ? (entry.until ?? Infinity)
    : (entry.exp ?? Infinity) + TOLERANCE
}

/** By whatever clock. */
export function hasLapsed(entry: RevocationEntry, now: number): boolean {
  return endOf(entry) + CLOCK_DIFFERENCE < now
}

/** Whether others revoke all that an entry does, until its end. @param others What the stream is known to have. */
export function covers(
  others: Pick<LocalRevocations, 'statusOf'>,
  entry: RevocationEntry,
): boolean {
  // At the very last moment, since another one may lapse earlier.
  const last = before(Math.min(endOf(entry), Number.MAX_VALUE))
  const { iss } = entry
  const issuer = iss === undefined ? {} : { iss }
  if (entry.type === 'issued_before') {
    const { sub, client_id, sid, time } = entry
    const owner = { ...(sub === undefined ? {} : { sub }), ...(sid === undefined ? {} : { sid }) }
    const client = client_id === undefined ? {} : { client_id }
    const claims = { ...issuer, ...owner, ...client, iat: before(time) }
    return others.statusOf(claims, last) === 'revoked'
  }
  // Nothing that was issued before a time: when this token was, is not known.
  const iat = Infinity
  return entry.type === 'token'
    ? others.statusOf({ ...issuer, jti: entry.jti, iat }, last) === 'revoked'
    : others.statusOf({ ...issuer, iat }, last, entry.digest) === 'revoked'
}

/** Entries of a page that is appended. */
const WRITTEN = 500
/** Of those that are known, how many are read, or looked at, in one turn of the event loop. */
export const SLICE = 20_000

/** The next page of what the stream lacks. @param at Where to look on. @returns Where to look on after it. */
export function lackingFrom(
  known: readonly RevocationEntry[],
  at: number,
  seen: Pick<LocalRevocations, 'statusOf'>,
  now: number,
): { readonly page: readonly RevocationEntry[]; readonly next: number } {
  const page: RevocationEntry[] = []
  let next = at
  // No further than the page is full: the same ones would be looked at again for each page.
  for (const each of known.slice(at, at + SLICE)) {
    if (page.length === WRITTEN) break
    if (!hasLapsed(each, now) && !covers(seen, each)) page.push(each)
    next += 1
  }
  return { page, next }
}

/** A number that is hardly smaller. */
function before(time: number): number {
  return time - Math.max(Math.abs(time) * Number.EPSILON, Number.MIN_VALUE)
}

/** What a process says of itself in the name of its connection, for the operator who ends a restoration. */
export interface Standing {
  readonly process: string
  /** Of the stream that it follows. */
  readonly identity: string
  /**
   * `follows`: it has not noticed that anything was lost. `lost`: it has not seen the stream yet that replaces its own. `writing`: it has still to write back. `written`, `failed`: so did it
   * end. `joined`: it has nothing to write back, since it did not follow the stream that was lost.
   */
  readonly word: 'follows' | 'lost' | 'writing' | 'written' | 'failed' | 'joined'
  /** In which state it was when it last followed the former stream. */
  readonly former: string
  /** Its option: by that it is told how long it may take. */
  readonly maxStaleness: number
}

const NAME = 'portcullis-revocations'

/**
 * Said all the time, not only after a loss: whoever has not noticed it yet must not be overlooked. `undefined`: it knows no stream.
 */
export function standingOf(
  process: string,
  state: Pick<
    ReplicaState,
    'isRestoring' | 'former' | 'parted' | 'identity' | 'losses' | 'settled' | 'writeFailure'
  >,
  maxStaleness: number,
): Standing | undefined {
  const { isRestoring, parted, identity, losses, settled, writeFailure } = state
  if (identity === undefined) return undefined
  const known = { process, identity, maxStaleness }
  if (parted !== undefined) return { ...known, word: 'lost', former: parted }
  const former = state.former ?? 'none'
  if (!isRestoring) return { ...known, word: 'follows', former }
  if (losses === settled) {
    return { ...known, word: state.former === undefined ? 'joined' : 'written', former }
  }
  return { ...known, word: writeFailure === undefined ? 'writing' : 'failed', former }
}

/** Without spaces, as a name of a connection must be. */
export function nameOf({ process, identity, word, former, maxStaleness }: Standing): string {
  return [NAME, process, encodeURIComponent(identity), word, former, maxStaleness].join(':')
}

export function standingIn(name: string): Standing | undefined {
  const [kind, process, identity, word, former, seconds] = name.split(':')
  if (kind !== NAME || !process || identity === undefined || !former) return undefined
  if (word === undefined || !WORDS.has(word)) return undefined
  const maxStaleness = Number(seconds)
  if (!(maxStaleness > 0)) return undefined
  try {
    const standing = { process, identity: decodeURIComponent(identity), former, maxStaleness }
    return { ...standing, word: word as Standing['word'] } // one of them
  } catch {
    return undefined
  }
}

const WORDS: ReadonlySet<string> = new Set([
  'follows',
  'lost',
  'writing',
  'written',
  'failed',
  'joined',
] satisfies Standing['word'][])

import { isJsonObject, member } from '@portcullis/kit/json'
import {
  checkArgument,
  checkOptions,
  countUpTo,
  isClock,
  isFunction,
  type OptionCheck,
  ownMembers,
} from '@portcullis/kit/options'
import { createListeners } from '@portcullis/kit/report'
import { type Clock, instant, systemClock } from '@portcullis/kit/time'

import type { Claims } from '../claims/auth.ts'
import { marked } from '../ground/copy.ts'
import { issuedBeforeEntry, readRevocationEntry, revokedTokenEntry } from './revocation-entries.ts'
import { createRevocationList } from './revocation-list.ts'
import type {
  RevocationEntry,
  Revocations,
  RevocationsSnapshot,
  RevocationWriter,
} from './revocations.ts'

// Revocations in the memory of one process: checks what users pass in, and tells listeners. The list itself is in `revocation-list.ts`.

export interface LocalRevocationsOptions {
  /**
   * The greatest number of entries, at most 10000000. When it is reached, `revoke` rejects, and no entry is dropped.
   * @default 1_000_000
   */
  max?: number | undefined
  /** What `toSnapshot` has returned before. */
  snapshot?: RevocationsSnapshot | undefined
  /** The clock that decides when an entry can be removed. By default the system's. */
  clock?: Clock | undefined
}

/**
 * The revocations of one process. They do NOT reach other processes, and are lost when the process ends, unless you save
 * them.
 */
export interface LocalRevocations extends Revocations, RevocationWriter {
  statusOf(claims: Claims, now: number, digest?: string): 'valid' | 'revoked'
  subscribe(listener: () => void): () => void
  /**
   * Adds all entries, or none of them.
   *
   * @throws RangeError if there is no room for them; TypeError for a value that is not an entry.
   */
  load(entries: Iterable<RevocationEntry>): void
  /**
   * Whether {@link load} has room for these entries now. Ask before you store them elsewhere. Adds none of them.
   *
   * @throws TypeError for a value that is not an entry.
   */
  hasRoomFor(entries: Iterable<RevocationEntry>): boolean
  /** The number of entries. Entries that are no longer needed count until they are removed. */
  readonly size: number
  /**
   * All entries, one after the other, each made when it is asked for: so many can be read without holding up the event loop. Those that
   * are there from beginning to end come; what is added or removed meanwhile may come or not.
   */
  entries(): IterableIterator<RevocationEntry>
  /**
   * All entries, as JSON: for the option `snapshot` of the next process. Made at once, for the end of a process: a million of them hold up
   * the event loop for some tenths of a second. Where requests are answered meanwhile, read {@link entries} in slices.
   */
  toSnapshot(): RevocationsSnapshot
}

/**
 * Revocations kept in this process: for one process, for tests, and as the index of a replica.
 *
 * An entry for a token is removed 600 seconds after its `exp`, one for what was issued before a time at its `until`.
 *
 * @throws TypeError for a wrong or misspelt option; RangeError if the snapshot does not fit.
 */
export function localRevocations(options: LocalRevocationsOptions = {}): LocalRevocations {
  checkOptions('localRevocations', options, { max: isMax, snapshot: isSnapshot, clock: isClock })
  const { max = 1_000_000, snapshot, clock = systemClock } = ownMembers(options)
  const list = createRevocationList(max)
  const listeners = createListeners()
  const started = instant(clock)
  /** Then a token that is revoked by its digest may still be accepted, by whoever asks so. */
  let isAskedWithoutDigest = false

  /** The earlier one of two clocks: one that is set forward and back again must not make anything be forgotten. */
  function certainTime(): number {
    return Math.min(clock.now(), started.wall + clock.monotonic() - started.monotonic)
  }

  function add(caller: string, entries: readonly RevocationEntry[]): void {
    if (!list.add(entries, certainTime())) {
      throw new RangeError(`${caller}: no room for more than ${max} entries (option max)`)
    }
    listeners.notify()
  }

  if (snapshot !== undefined) {
    add('localRevocations', readEntries('localRevocations', snapshot.entries))
  }
  return marked({
    statusOf(claims, now, digest) {
      if (typeof digest !== 'string') isAskedWithoutDigest = true
      return list.isRevoked(claims, now, digest) ? 'revoked' : 'valid'
    },
    subscribe(listener) {
      if (isFunction(listener) !== undefined) {
        // Mistake `subscribe: the listener must be a function`: `revocations.subscribe(listener)`.
        throw new TypeError('subscribe: the listener must be a function')
      }
      return listeners.subscribe(listener)
    },
    async revoke(token) {
      const entry = revokedTokenEntry('revoke', token)
      if (entry.type === 'digest' && isAskedWithoutDigest) throw new TypeError(WITHOUT_DIGEST)
      add('revoke', [entry])
    },
    async revokeBefore(whose, given = {}) {
      add('revokeBefore', [issuedBeforeEntry('revokeBefore', whose, given, clock.now())])
    },
    load: (entries) => add('load', readEntries('load', entries)),
    hasRoomFor: (entries) => list.hasRoomFor(readEntries('hasRoomFor', entries), certainTime()),
    get size() {
      return list.size
    },
    entries: () => list.entries(),
    toSnapshot: () => ({ version: 1, entries: [...list.entries()] }),
  })
}

const WITHOUT_DIGEST =
  'revoke: the token has no jti, and statusOf is called without its digest, the third argument: pass it on, or see revokeBefore'

function readEntries(caller: string, entries: Iterable<unknown>): readonly RevocationEntry[] {
  const isIterable = isFunction(Reflect.get(Object(entries), Symbol.iterator)) === undefined
  checkArgument(caller, 'the argument', isIterable ? undefined : 'must be a list of entries')
  return Array.from(entries, (entry) => readRevocationEntry(caller, entry))
}

/** A map of the platform holds no more than 16 million. */
const isMax = countUpTo(10_000_000, 'entries')

const isSnapshot: OptionCheck = (value) =>
  isJsonObject(value) && member(value, 'version') === 1 && Array.isArray(member(value, 'entries'))
    ? undefined
    : 'must be what toSnapshot has returned: { version: 1, entries }'

import { channel } from 'node:diagnostics_channel'

import type { KeysMessage } from '@portcullis/core'
import { LONGEST_PAUSE } from '@portcullis/kit/pace'
import type { ManualClock } from '@portcullis/testing'

import type { RemoteKeys } from '../../../packages/core/src/keys/key-cache.ts'
import type { Connection } from './endpoint.ts'
import { type KeyName, provenBy, type Signer } from './keys.ts'

/** Seconds. */
export const TIMEOUT = 5
/** As long as a failure counts, and as long as an attempt may take that began while it did. */
const OUTAGE = LONGEST_PAUSE + TIMEOUT + TIMEOUT

/** Of a ring. */
const SHORTEST_LIFETIME = 60

/** What a process has begun with. */
export interface Begun {
  readonly keys: readonly KeyName[]
  /** Seconds of the wall clock. */
  readonly fetchedAt: number
}

/** What verifiers of one kind trust in one process, and why that may be wrong. */
export interface Trust {
  /** What is wrong with accepting a token of this key now, in words. */
  readonly objections: (signer: Signer) => string[]
  /** Whether its tokens must be accepted now, though no document has its key any longer. */
  readonly isOverlapping: (signer: Signer) => boolean
  /** The wall clock was set: overlaps may have ended. */
  readonly stepped: () => void
  readonly close: () => void
}

/** What the answers of the endpoint have proven: whose tokens may be accepted now, by another reckoning than the cache's. */
export function createTrust(
  clock: ManualClock,
  connection: Connection,
  keys: RemoteKeys,
  {
    overlap,
    begun,
    isListed,
  }: { readonly overlap: number; readonly begun: Begun | undefined; readonly isListed: boolean },
): Trust {
  let current: readonly Signer[] = []
  /** Until the answer has been carried to everybody who waits for it, what the one before it said still counts. */
  let before: readonly Signer[] = []
  const lastSeen = new Map<Signer, { at: number; endpointUp: number; endpointDown: number }>()
  const missingSince = new Map<Signer, number>()
  let failedAt = -Infinity
  let steppedAt = -Infinity

  // Only wall clocks know how old a snapshot is, and of one from the future nothing is believed.
  const ageOfBegun = begun === undefined ? -1 : clock.now() - begun.fetchedAt
  if (begun !== undefined && ageOfBegun >= 0) {
    current = signersOf(begun.keys)
    see(current, clock.monotonic() - ageOfBegun)
  }

  function signersOf(names: readonly KeyName[]): readonly Signer[] {
    return names.flatMap((name) => provenBy(name, isListed))
  }

  function see(seen: readonly Signer[], at: number): void {
    const { endpointUp = 0, endpointDown = 0 } = keys.status().withdrawnKeyTrust ?? {}
    for (const signer of seen) {
      lastSeen.set(signer, { at, endpointUp, endpointDown })
      missingSince.delete(signer)
    }
  }

  function settled(message: unknown): void {
    const { source, trigger, outcome } = message as KeysMessage
    // What a process begins with is known already.
    if (source !== keys || trigger === 'snapshot') return
    if (outcome !== 'success') {
      failedAt = clock.monotonic()
      return
    }
    const { keys: document, askedAt } = connection.lastAnswer()
    before = current
    current = signersOf(document)
    for (const each of before) if (!current.includes(each)) missingSince.set(each, askedAt)
    see(current, askedAt)
    setImmediate(() => {
      before = []
    })
  }
  channel('portcullis:keys').subscribe(settled)

  /** What is wrong with accepting a token of this key now. */
  function objections(signer: Signer): string[] {
    const now = clock.monotonic()
    const since = (time: number | undefined) => now - (time ?? -Infinity)
    const inOverlap = since(missingSince.get(signer)) < overlap
    const isServed = [...current, ...before].includes(signer)
    const { at, endpointUp = 0, endpointDown = 0 } = lastSeen.get(signer) ?? {}
    const age = since(at)
    return [
      ...(connection.requests.length === 0 ? ['accepted without ever asking for keys'] : []),
      ...(isServed || inOverlap ? [] : [`accepted a token of ${signer} after it had left`]),
      ...(age > endpointDown ? [`trusted ${signer} for ${age} s`] : []),
      ...(age > endpointUp && since(failedAt) > OUTAGE
        ? [`trusted ${signer} for ${age} s with the endpoint up`]
        : []),
    ]
  }

  function isOverlapping(signer: Signer): boolean {
    const { at = -Infinity } = lastSeen.get(signer) ?? {}
    const missing = missingSince.get(signer) ?? Infinity
    // Had the ring ended before the attempt, the overlap would count from there.
    const wasUsable = missing - at < SHORTEST_LIFETIME
    return at > steppedAt && wasUsable && clock.monotonic() - missing < overlap
  }

  function stepped(): void {
    steppedAt = clock.monotonic()
  }

  return {
    objections,
    isOverlapping,
    stepped,
    close: () => channel('portcullis:keys').unsubscribe(settled),
  }
}

import { channel } from 'node:diagnostics_channel'

import { AuthError, createVerifier, type KeysMessage, type Verifier } from '@portcullis/core'
import { type ManualClock, manualClock } from '@portcullis/testing'

import { fetchKeys } from '../../packages/core/src/keys/fetch-keys.ts'
import { followKeys, type RemoteKeys } from '../../packages/core/src/keys/key-cache.ts'
import { LONGEST_PAUSE } from '../../packages/core/src/keys/pace.ts'
import { seededRandom } from '../bench/random.ts'
import { createEndpoint, type Endpoint } from './endpoint.ts'
import type { KeyName, Signer } from './keys.ts'

// One key source with several verifiers, an endpoint, a clock, and whatever contradicts what is promised of them.

/** What a sequence is played with. Seconds. */
export interface Setting {
  readonly overlap: number
  readonly maxAge: number | undefined
  readonly staleWhileRevalidate: number
  readonly staleIfError: number
  readonly seed: number
}

export interface World {
  readonly clock: ManualClock
  readonly endpoint: Endpoint
  readonly keys: RemoteKeys
  readonly verifiers: readonly Verifier[]
  /** Hands a token to a verifier. The answer is the verdict: `accepted`, or the reason; it is watched as well. */
  readonly present: (
    verifier: number,
    token: string,
    signer: Signer,
    signal?: AbortSignal,
  ) => Promise<string>
  readonly refresh: () => void
  /** Sets the wall clock by so many seconds, forward or back. */
  readonly step: (seconds: number) => void
  /** The latest that the wall clock has ever shown: keys may have left at that time. */
  readonly latest: () => number
  /** How many calls have no answer yet. */
  readonly pending: () => number
  /** What contradicts a promise, in words. */
  readonly faults: string[]
  readonly close: () => void
}

export const TIMEOUT = 5
/** As long as a failure counts, and as long as an attempt may take that began while it did. */
const OUTAGE = LONGEST_PAUSE + TIMEOUT + TIMEOUT

export function createWorld({ seed, ...options }: Setting): World {
  const { overlap } = options
  const clock = manualClock()
  const endpoint = createEndpoint(clock)
  const keys = followKeys(
    async (signal) =>
      await fetchKeys(
        'https://auth.test/pubkey.json',
        { fetch: endpoint.fetch, signal, clock },
        new Map(),
      ),
    { ...options, timeout: TIMEOUT, clock },
    seededRandom(seed),
  )
  const common = { keys, issuer: null, audience: null, algorithms: ['ES256'] } as const
  const verifiers = [
    createVerifier(common),
    createVerifier(common),
    createVerifier({ ...common, remember: false }),
  ]
  const faults: string[] = []
  const trust = createTrust(clock, endpoint, keys, overlap)
  let pending = 0
  let latest = clock.now()

  async function present(
    verifier: number,
    token: string,
    signer: Signer,
    signal?: AbortSignal,
  ): Promise<string> {
    pending++
    try {
      await verifiers[verifier % verifiers.length]?.verify(token, { signal })
      faults.push(...trust.objections(signer))
      return 'accepted'
    } catch (error) {
      if (error instanceof AuthError) return error.reason
      if (signal?.aborted !== true || error !== signal.reason) faults.push(`threw ${String(error)}`)
      return 'aborted'
    } finally {
      pending--
    }
  }

  return {
    clock,
    endpoint,
    keys,
    verifiers,
    present,
    refresh() {
      pending++
      void keys
        .refresh()
        .catch((error: unknown) => {
          if (!(error instanceof AuthError)) faults.push(`refresh threw ${String(error)}`)
        })
        .finally(() => pending--)
    },
    step(seconds) {
      latest = Math.max(latest, clock.now())
      clock.set(clock.now() + seconds)
    },
    latest: () => Math.max(latest, clock.now()),
    pending: () => pending,
    faults,
    close: trust.close,
  }
}

/** What the answers of the endpoint have proven: which keys may be trusted now, by another reckoning than the cache's. */
function createTrust(clock: ManualClock, endpoint: Endpoint, keys: RemoteKeys, overlap: number) {
  let current: readonly KeyName[] = []
  /** Until the answer has been carried to everybody who waits for it, what the one before it said still counts. */
  let before: readonly KeyName[] = []
  const lastSeen = new Map<Signer, { at: number; endpointUp: number; endpointDown: number }>()
  const missingSince = new Map<Signer, number>()
  let failedAt = -Infinity

  function settled(message: unknown): void {
    const { source, outcome } = message as KeysMessage
    if (source !== keys) return
    if (outcome !== 'success') {
      failedAt = clock.monotonic()
      return
    }
    const { keys: document, askedAt } = endpoint.lastAnswer()
    before = current
    current = document
    for (const key of before) if (!current.includes(key)) missingSince.set(key, askedAt)
    const { endpointUp = 0, endpointDown = 0 } = keys.status().withdrawnKeyTrust ?? {}
    for (const key of current) {
      lastSeen.set(key, { at: askedAt, endpointUp, endpointDown })
      missingSince.delete(key)
    }
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
    const isServed = [...current, ...before].some((key) => key === signer)
    const { at, endpointUp = 0, endpointDown = 0 } = lastSeen.get(signer) ?? {}
    const age = since(at)
    return [
      ...(isServed || inOverlap ? [] : [`accepted a token of ${signer} after it had left`]),
      ...(age > endpointDown ? [`trusted ${signer} for ${age} s`] : []),
      ...(age > endpointUp && since(failedAt) > OUTAGE
        ? [`trusted ${signer} for ${age} s with the endpoint up`]
        : []),
    ]
  }

  return { objections, close: () => channel('portcullis:keys').unsubscribe(settled) }
}

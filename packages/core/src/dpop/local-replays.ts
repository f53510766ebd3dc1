import { checkOptions, countUpTo, ownMembers } from '@portcullis/kit/options'

import type { DpopProof, ReplayAnswer, ReplayMemory } from './proof-check.ts'

// The memory of used DPoP proofs of one process.

export interface LocalReplaysOptions {
  /**
   * The greatest number of proofs, at most 10000000. When it is reached, new proofs are refused, and none is dropped.
   * @default 200_000
   */
  max?: number | undefined
  /**
   * The greatest number of proofs of one key.
   * @default 50_000, or `max` if that is less
   */
  maxPerKey?: number | undefined
}

/** The proofs that one process has seen. They do NOT reach other processes: each process would accept a proof once. */
export interface LocalReplays extends ReplayMemory {
  remember(proof: DpopProof, now: number): ReplayAnswer
  /** How many proofs are remembered. They are forgotten up to 16 seconds after they have expired. */
  readonly size: number
}

/** Proofs that expire in the same 16 seconds, which are forgotten together. */
interface Period {
  /** By the thumbprint of their key. */
  readonly keys: Map<string, Set<string>>
  size: number
}

/** Seconds. Shorter ones make more periods to look into, longer ones keep proofs for longer. */
const PERIOD_LENGTH = 16

/**
 * Remembers DPoP proofs in this process, for one process and for tests.
 *
 * A proof that is remembered is forgotten when it has expired by the time that callers state, and never before: there is no
 * eviction, since an evicted proof could be used again. Not with lru-cache, which has no other way to stay within its bound.
 *
 * A clock may be set forward, so that proofs are forgotten, and back again, so that they would be good once more. Nobody could
 * tell such a proof from a new one, so what expires no later than anything forgotten is `unavailable`.
 *
 * @throws TypeError for a wrong or misspelt option.
 */
export function localReplays(options: LocalReplaysOptions = {}): LocalReplays {
  checkOptions('localReplays', options, { max: isCount, maxPerKey: isCount })
  const { max = 200_000, maxPerKey = Math.min(50_000, max) } = ownMembers(options)
  /** By the time when the last proof in them expires. There are as many as a window is long: a handful. */
  const periods = new Map<number, Period>()
  let size = 0
  let forgottenUntil = -Infinity

  /** Whole periods, so that it costs the same however many proofs are in them. */
  function forgetExpired(now: number): void {
    for (const [end, period] of periods) {
      if (!(now > end)) continue
      periods.delete(end)
      size -= period.size
      forgottenUntil = Math.max(forgottenUntil, end)
    }
  }

  function periodAt(end: number): Period {
    const known = periods.get(end)
    if (known !== undefined) return known
    const period: Period = { keys: new Map(), size: 0 }
    periods.set(end, period)
    return period
  }

  return {
    remember({ jkt, jti, expires }, now) {
      forgetExpired(now)
      const end = Math.ceil(expires / PERIOD_LENGTH) * PERIOD_LENGTH
      // Also of a time that is no number.
      if (!(end > forgottenUntil)) return 'unavailable'
      let count = 0
      // In each period: a proof with a used `jti` may expire at another time.
      for (const { keys } of periods.values()) {
        const known = keys.get(jkt)
        if (known?.has(jti) === true) return 'replayed'
        count += known?.size ?? 0
      }
      if (size >= max || count >= maxPerKey) return 'full'
      const period = periodAt(end)
      const known = period.keys.get(jkt)
      if (known === undefined) period.keys.set(jkt, new Set([jti]))
      else known.add(jti)
      period.size++
      size++
      return 'new'
    },
    get size() {
      return size
    },
  }
}

/** A map of the platform holds no more than 16 million. */
const isCount = countUpTo(10_000_000, 'proofs')

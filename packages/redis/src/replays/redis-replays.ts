import type { DpopProof, ReplayAnswer, ReplayMemory } from '@portcullis/core'

import type { Connect } from '../store/connection.ts'
import { sentinelPacing } from '../store/pacing.ts'
import { redisTransport } from '../store/redis-transport.ts'
import { checkRuntime } from '../store/runtime.ts'
import { whileWaiting } from '../store/time.ts'
import { logReplay, publishReplays } from './diagnostics.ts'
import type { ReplayStoreError } from './errors.ts'
import {
  checkRedisReplaysOptions,
  type RedisReplaysOptions,
  type RedisReplaysSettings,
} from './options.ts'
import { scriptArguments } from './script.ts'
import { createReplayStore, PACE } from './store.ts'

// The memory of used DPoP proofs that several processes share. When the store fails, the option `whenUnreachable` decides.

/** The used proofs of all processes that share one store. */
export interface RedisReplays extends ReplayMemory {
  remember(proof: DpopProof, now: number): Promise<ReplayAnswer>
  /**
   * Resolves when the store answers and does not evict keys.
   *
   * @throws ReplayStoreError
   */
  ready(): Promise<void>
  /** Ends the connection. From then on no proof can be looked up. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * A memory of used DPoP proofs for all processes, for `dpopProofs({ replays })`. It connects when it is first asked, costs
 * each request a round trip, and does not keep the process alive.
 *
 * Does NOT wait for replicas of the store: a proof that a fail-over loses can be used again until it expires.
 *
 * @throws TypeError for a wrong or misspelt option, and on Cloudflare Workers.
 */
export function redisReplays(options: RedisReplaysOptions): RedisReplays {
  checkRuntime(
    'redisReplays',
    'a memory of your own, whose remember asks a Durable Object at each request',
  )
  const settings = checkRedisReplaysOptions(options)
  const { source, clock, timeout } = settings
  return sharedReplays(
    settings,
    redisTransport(source, { clock, ...sentinelPacing(PACE, timeout) }),
  )
}

export function sharedReplays(
  settings: Omit<RedisReplaysSettings, 'source'>,
  connect: Connect,
  random: () => number = Math.random,
): RedisReplays {
  const { clock, timeout, whenUnreachable } = settings
  const store = createReplayStore(connect, clock, timeout, random)

  async function remember(proof: DpopProof, now: number): Promise<ReplayAnswer> {
    const words = scriptArguments(proof, now, settings)
    if (words === undefined) return 'unavailable'
    try {
      return (await store.ask(words)) ?? 'unavailable'
    } catch (error) {
      const { reason, message } = error as ReplayStoreError // the only error that a store throws
      publishReplays(() => ({ source: replays, reason, detail: message }))
      logReplay(reason, message)
      // That is no outage: whoever fills the memory or the queue must not open the door for replays.
      if (reason === 'out_of_memory' || reason === 'busy') return 'full'
      return whenUnreachable === 'accept' && reason !== 'closed' ? 'new' : 'unavailable'
    }
  }

  async function close(): Promise<void> {
    store.close()
  }

  const replays: RedisReplays = {
    remember,
    async ready() {
      await whileWaiting(store.ask())
    },
    close,
    [Symbol.asyncDispose]: close,
  }
  return replays
}

import type { Clock } from '@portcullis/core'
import { isJsonObject, member } from '@portcullis/kit/json'
import {
  checkOptions,
  countUpTo,
  isClock,
  isText,
  oneOf,
  type OptionCheck,
  ownMembers,
  seconds,
} from '@portcullis/kit/options'
import { backgroundClock } from '@portcullis/kit/time'

import type { RedisClient, RedisSentinels, RedisSource } from '../store/redis-transport.ts'
import { SOURCE_CHECKS, sourceOf } from '../store/source-options.ts'

// The options of `redisRevocations`: their types, checks and defaults.

export interface RedisRevocationsOptions {
  /** `redis://` or `rediss://` (TLS), with a user name, a password and a database number if needed. State this or `client`. */
  url?: string | URL | undefined
  /**
   * What `createClient` of `@redis/client` 6 or `redis` 6 returns, for example with your own certificates or a password that
   * changes. Only its options are used, for other connections; it need not be connected.
   */
  client?: RedisClient | undefined
  /**
   * `{ primary, urls }`: the name of the primary, and the sentinels that know it. Then host and port are what they say, and the rest is of `url` or `client`: credentials,
   * database, and whether it is TLS.
   */
  sentinel?: RedisSentinels | undefined
  /**
   * The key of the stream in Redis.
   * @default 'portcullis:revocations'
   */
  stream?: string | undefined
  /**
   * The identity of the stream, which `create` prints. With it a stream that is neither that one nor replaces it is `replaced`, also in a
   * process that has read nothing yet. Without it a process follows the stream that it finds first.
   */
  identity?: string | undefined
  /**
   * How old the copy may be. Seconds, from 1 to 3600. The store is asked four times in that time.
   * @default 10
   */
  maxStaleness?: number | undefined
  /**
   * `{ replicas: 1 }`: `revoke` resolves only when so many replicas of the store have the revocation, too, and rejects after 2 s. That costs
   * a round trip to a replica each time; without a replica nothing can be revoked. By default it does not wait, and a fail-over may lose
   * what was acknowledged right before, until a process that knows it writes it back.
   */
  acknowledge?: { readonly replicas: number } | undefined
  /**
   * What happens, in every state except `current`, to tokens that are not known to be revoked: `'refuse'` (503) or `'accept'`.
   * Such a state is that the copy is too old, or that there is no stream.
   * @default 'refuse'
   */
  whenStale?: 'refuse' | 'accept' | undefined
  /**
   * The greatest number of entries, the same in all processes. When it is reached, `revoke` rejects. If the stream has more,
   * it is not known whether a token was revoked. No entry is dropped.
   * @default 1_000_000
   */
  max?: number | undefined
  /** The clock, for tests. By default the system's. */
  clock?: Clock | undefined
}

type Own = Exclude<keyof RedisRevocationsOptions, 'url' | 'client' | 'sentinel'>

export type RedisRevocationsSettings = {
  readonly [Name in Exclude<Own, 'identity' | 'acknowledge'>]: NonNullable<
    RedisRevocationsOptions[Name]
  >
} & Pick<RedisRevocationsOptions, 'identity' | 'acknowledge'> & { readonly source: RedisSource }

export const DEFAULT_STREAM = 'portcullis:revocations'

const CHECKS: Readonly<Record<keyof RedisRevocationsOptions, OptionCheck>> = {
  ...SOURCE_CHECKS,
  stream: isText,
  identity: isText,
  maxStaleness: seconds(1, 3600),
  acknowledge: acknowledgeComplaint,
  whenStale: oneOf('refuse', 'accept'),
  max: countUpTo(10_000_000, 'entries'),
  clock: isClock,
}

/** @throws TypeError that names the option and, since it may hold a password, not its value. */
export function checkRedisRevocationsOptions(
  options: RedisRevocationsOptions,
): RedisRevocationsSettings {
  checkOptions('redisRevocations', options, CHECKS)
  const own = ownMembers(options)
  const {
    stream = DEFAULT_STREAM,
    maxStaleness = 10,
    whenStale = 'refuse',
    max = 1_000_000,
    clock = backgroundClock,
    identity,
    acknowledge,
  } = own
  const source = sourceOf('redisRevocations', own)
  return { source, stream, identity, maxStaleness, acknowledge, whenStale, max, clock }
}

const areReplicas = countUpTo(16, 'replicas')

function acknowledgeComplaint(value: unknown): string | undefined {
  const isObject = isJsonObject(value) && Object.keys(value).every((name) => name === 'replicas')
  return isObject ? areReplicas(member(value, 'replicas')) : 'must be { replicas }'
}

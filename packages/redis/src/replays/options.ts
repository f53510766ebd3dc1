import type { Clock } from '@portcullis/core'
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

// The options of `redisReplays`: their types, checks and defaults.

export interface RedisReplaysOptions {
  /** `redis://` or `rediss://` (TLS), with a user name, a password and a database number if needed. State this or `client`. */
  url?: string | URL | undefined
  /** What `createClient` of `@redis/client` 6 or `redis` 6 returns. Only its options are used, not its connection. */
  client?: RedisClient | undefined
  /**
   * `{ primary, urls }`: the name of the primary, and the sentinels that know it. Then host and port are what they say, and the rest is of `url` or `client`: credentials,
   * database, and whether it is TLS.
   */
  sentinel?: RedisSentinels | undefined
  /**
   * What the names of all its keys begin with, in braces there. The same in all processes of an API.
   * @default 'portcullis:replays'
   */
  prefix?: string | undefined
  /**
   * How long an answer may take. Seconds, from 0.01 to 10. A guard waits one second in all.
   * @default 0.5
   */
  timeout?: number | undefined
  /**
   * What happens to a proof that cannot be looked up: `'refuse'` (503), or `'accept'`, also if it was used before.
   * @default 'refuse'
   */
  whenUnreachable?: 'refuse' | 'accept' | undefined
  /**
   * The greatest number of proofs in all. When it is reached, proofs are refused (503), and none is dropped.
   * @default 1_000_000
   */
  max?: number | undefined
  /**
   * The greatest number of proofs of one key. A client with 100 requests a second needs about 12,500 with the default `maxAge` of
   * proofs, and 15,500 if its clock is 30 s ahead.
   * @default 20_000
   */
  maxPerKey?: number | undefined
  /** The clock, for tests. By default the system's. */
  clock?: Clock | undefined
}

type Own = Exclude<keyof RedisReplaysOptions, 'url' | 'client' | 'sentinel'>

export type RedisReplaysSettings = {
  readonly [Name in Own]: NonNullable<RedisReplaysOptions[Name]>
} & { readonly source: RedisSource }

const isCount = countUpTo(10_000_000, 'proofs')

const CHECKS: Readonly<Record<keyof RedisReplaysOptions, OptionCheck>> = {
  ...SOURCE_CHECKS,
  prefix: isText,
  timeout: seconds(0.01, 10),
  whenUnreachable: oneOf('refuse', 'accept'),
  max: isCount,
  maxPerKey: isCount,
  clock: isClock,
}

/** @throws TypeError that names the option and, since it may hold a password, not its value. */
export function checkRedisReplaysOptions(options: RedisReplaysOptions): RedisReplaysSettings {
  checkOptions('redisReplays', options, CHECKS)
  const own = ownMembers(options)
  const {
    prefix = 'portcullis:replays',
    timeout = 0.5,
    whenUnreachable = 'refuse',
    max = 1_000_000,
    maxPerKey = 20_000,
    clock = backgroundClock,
  } = own
  const source = sourceOf('redisReplays', own)
  return { source, prefix, timeout, whenUnreachable, max, maxPerKey, clock }
}

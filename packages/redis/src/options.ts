import type { Clock } from '@portcullis/core'
import {
  checkOptions,
  countUpTo,
  isClock,
  isText,
  mustBe,
  oneOf,
  type OptionCheck,
  ownMembers,
  seconds,
} from '@portcullis/kit/options'

import type { RedisClient, RedisSentinels, RedisSource } from './redis-transport.ts'
import { systemClock } from './time.ts'

// The options of `redisRevocations`, with the checks that `redisReplays` uses as well. No message repeats a URL, since it may hold a
// password.

export interface RedisRevocationsOptions {
  /** `redis://` or `rediss://` (TLS), with a user name, a password and a database number if needed. State this or `client`. */
  url?: string | URL | undefined
  /**
   * What `createClient` of `@redis/client` 6 or `redis` 6 returns, for example with your own certificates or a password that
   * changes. Only its options are used, for other connections; it need not be connected.
   */
  client?: RedisClient | undefined
  /**
   * Sentinels that know the primary. Then host and port are what they say, and the rest is of `url` or `client`: credentials,
   * database, and whether it is TLS.
   */
  sentinel?: RedisSentinels | undefined
  /** @default 'portcullis:revocations' */
  stream?: string | undefined
  /**
   * How old the copy may be. Seconds, from 1 to 3600. The store is asked four times in that time.
   * @default 10
   */
  maxStaleness?: number | undefined
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
  clock?: Clock | undefined
}

/** What a replica works with. */
export interface RedisRevocationsSettings {
  readonly source: RedisSource
  readonly stream: string
  readonly maxStaleness: number
  readonly whenStale: 'refuse' | 'accept'
  readonly max: number
  readonly clock: Clock
}

export const DEFAULT_STREAM = 'portcullis:revocations'

/** Those that every factory takes. */
export const SOURCE_CHECKS: Readonly<Record<'url' | 'client' | 'sentinel' | 'clock', OptionCheck>> =
  {
    url: (value) => urlComplaint(value),
    client: mustBe('what createClient returns', isClient),
    sentinel: (value) => sentinelComplaint(value),
    clock: isClock,
  }

const CHECKS: Readonly<Record<keyof RedisRevocationsOptions, OptionCheck>> = {
  url: SOURCE_CHECKS.url,
  client: SOURCE_CHECKS.client,
  sentinel: SOURCE_CHECKS.sentinel,
  stream: isText,
  maxStaleness: seconds(1, 3600),
  whenStale: oneOf('refuse', 'accept'),
  max: countUpTo(10_000_000, 'entries'),
  clock: SOURCE_CHECKS.clock,
}

/**
 * Checks the options at start-up and fills in the defaults.
 *
 * @throws TypeError that names the option and, since it may hold a password, not its value.
 */
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
    clock = systemClock,
  } = own
  return { source: sourceOf('redisRevocations', own), stream, maxStaleness, whenStale, max, clock }
}

type SourceOptions = Pick<RedisRevocationsOptions, 'url' | 'client' | 'sentinel'>

/** @throws TypeError unless either a URL or a client is stated. */
export function sourceOf(factory: string, { url, client, sentinel }: SourceOptions): RedisSource {
  if (url !== undefined && client === undefined) return { url: String(url), sentinel }
  if (url === undefined && client !== undefined) return { client, sentinel }
  const hint = url === undefined ? ': is an environment variable unset?' : ', not both'
  throw new TypeError(`${factory}: either url or client must be stated${hint}`)
}

/** What is wrong with the URL of a store, without repeating it. */
export function urlComplaint(value: unknown): string | undefined {
  const text = typeof value === 'string' || value instanceof URL ? String(value) : ''
  const url = URL.canParse(text) ? new URL(text) : undefined
  // A template writes "undefined" for a variable that is not set.
  if (url === undefined || url.hostname === '' || url.hostname === 'undefined') {
    return 'is not an absolute URL: is an environment variable unset?'
  }
  if (url.protocol !== 'redis:' && url.protocol !== 'rediss:') {
    return 'must begin with redis: or rediss:'
  }
  if (!/^\/?\d{0,9}$/.test(url.pathname)) return 'must have no path but the number of a database'
  try {
    decodeURIComponent(`${url.username}${url.password}`)
    return undefined
  } catch {
    return 'has a % in its user name or password that must be written as %25'
  }
}

/** More than anybody runs for one primary. */
const MOST_SENTINELS = 32

/** What is wrong with what is said of sentinels, without repeating a URL. */
export function sentinelComplaint(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return 'must be { primary, urls }'
  const wrong = Object.keys(value).find((name) => name !== 'primary' && name !== 'urls')
  if (wrong !== undefined) return `has an unknown member ${wrong}, known are primary, urls`
  const { primary, urls } = value as Partial<Record<string, unknown>>
  if (typeof primary !== 'string' || primary === '') {
    return 'must have the name of the primary as `primary`'
  }
  if (!Array.isArray(urls) || urls.length === 0 || urls.length > MOST_SENTINELS) {
    return `must have \`urls\`, a list of 1 to ${MOST_SENTINELS} sentinels`
  }
  const complaint = urls.map((url) => urlComplaint(url)).find((each) => each !== undefined)
  if (complaint !== undefined) return `has a URL that ${complaint}`
  const hasDatabase = urls.some((url) => new URL(String(url)).pathname.length > 1)
  return hasDatabase ? 'has a URL with a database: sentinels have none' : undefined
}

/** One of a class, or a function. */
function isClient(value: unknown): boolean {
  return typeof Reflect.get(Object(value), 'duplicate') === 'function'
}

import { hasMethods, mustBe, type OptionCheck } from '@portcullis/kit/options'

import type { RedisClient, RedisSentinels, RedisSource } from './redis-transport.ts'

// The options that say where the store is: a URL or a client, and sentinels. No message repeats a URL, since it may hold a password.

interface SourceOptions {
  readonly url?: string | URL | undefined
  readonly client?: RedisClient | undefined
  readonly sentinel?: RedisSentinels | undefined
}

export const SOURCE_CHECKS: Readonly<Record<keyof SourceOptions, OptionCheck>> = {
  url: urlComplaint,
  // One of a class, or a function.
  client: mustBe('what createClient returns', (value) => hasMethods(value, 'duplicate')),
  sentinel: sentinelComplaint,
}

/** @throws TypeError unless either a URL or a client is stated. */
export function sourceOf(factory: string, { url, client, sentinel }: SourceOptions): RedisSource {
  if (url !== undefined && client === undefined) return { url: String(url), sentinel }
  if (url === undefined && client !== undefined) return { client, sentinel }
  const hint = url === undefined ? ': is an environment variable unset?' : ', not both'
  // Mistake `…: either url or client must be stated`: State one of them. If you did state `url`, its environment variable is not
  // set.
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

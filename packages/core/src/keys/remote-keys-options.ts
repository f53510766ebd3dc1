import {
  createExchange,
  createRetry,
  type Exchange,
  type Fetch,
  platformFetch,
} from '@portcullis/kit/http'
import {
  checkOptions,
  hasMethods,
  isBoolean,
  isClock,
  isFunction,
  type OptionCheck,
  ownMembers,
  seconds,
} from '@portcullis/kit/options'
import { type Clock, systemClock } from '@portcullis/kit/time'

import { algorithmNamesOf, isAlgorithmNames } from '../algorithms/accepted-algorithms.ts'
import type { Algorithm } from '../algorithms/algorithms.ts'
import { type EntryRules, isIfStated, isKeyUse, statedRulesOf } from './entry-rules.ts'
import type { CacheOptions } from './key-cache.ts'
import { type KeysSnapshot, readSnapshot } from './snapshot.ts'

// The options of `remoteKeys` and `discoverKeys`, checked at start-up, and the requests that are made with them.

/** Options of `remoteKeys` and `discoverKeys`. All times are seconds. */
export interface RemoteKeysOptions {
  /**
   * How long fetched keys are used without asking again. Seconds, as all times here. Each process changes it by up to 10 %, so that not all ask at the
   * same time.
   * @default 300, or the document's `Cache-Control: max-age` minus `Age`, between 60 and 3600. The document can only shorten
   *   a value that you state.
   */
  maxAge?: number | undefined
  /**
   * How much longer keys are used while new ones are fetched in the background.
   * @default 300
   * @see RFC 5861 section 3
   */
  staleWhileRevalidate?: number | undefined
  /**
   * How much longer than `maxAge` they are used while the key endpoint is down. The sum is the longest that a
   * withdrawn key stays trusted.
   * @default 3600
   * @see RFC 5861 section 4
   */
  staleIfError?: number | undefined
  /**
   * How long a key stays trusted after it was removed from the document. For services that cannot publish two keys, and for
   * balancers in front of servers with different keys.
   * @default 0
   */
  overlap?: number | undefined
  /**
   * The deadline of one attempt, headers and body together. Also how long a caller waits.
   * @default 5
   */
  timeout?: number | undefined
  /**
   * Other names of algorithms that the keys state, such as `{ RSA512: 'RS512' }`. For the headers of tokens there is the
   * same option of the verifier.
   */
  algorithmNames?: Readonly<Record<string, Algorithm>> | undefined
  /**
   * What an entry must state as `use`: `sig`, or nothing. With `jwt-svid`, as bundles of SPIFFE have it, exactly that: keys of other
   * uses are ignored, also `sig` and those that state none.
   * @default 'sig'
   * @see RFC 7517 section 4.2; SPIFFE JWT-SVID section 6.2
   */
  use?: 'sig' | 'jwt-svid' | undefined
  /**
   * What members of an entry must be where it states them, such as `{ cloud_instance_name: 'microsoftonline.com' }`: an entry that says
   * something else is ignored. A list has several values, any of which is good.
   */
  ifStated?: Readonly<Record<string, string | readonly string[]>> | undefined
  /**
   * Permits `http:` to other machines. Somebody who controls the network then controls the keys.
   * @default false
   */
  allowInsecure?: boolean | undefined
  /**
   * What `keys.toSnapshot()` returned, in this process or an earlier one: the keys to start with. Their age counts from the
   * fetch that the snapshot records. The first request starts a fetch. It waits for that only if the keys are older than
   * `maxAge` and `staleWhileRevalidate` together. A snapshot that is too old, from the future, of another URL or other `ifStated`, or damaged is
   * ignored; `status().snapshot` and `portcullis:keys` say so.
   */
  snapshot?: KeysSnapshot | null | undefined
  /**
   * Your own, for a proxy, a certificate or a test.
   * @default globalThis.fetch
   */
  fetch?: Fetch | undefined
  /** The clock, for tests. By default the system's. */
  clock?: Clock | undefined
}

interface CheckedOptions {
  readonly allowInsecure: boolean
  readonly entryRules: EntryRules
  readonly exchange: (signal: AbortSignal) => Exchange
  /** The options of the cache whose keys come from this key URL or issuer. */
  readonly cacheOf: (url: string) => CacheOptions
}

/** The options with their defaults. @param without Those that have no meaning there. @throws TypeError */
export function checkRemoteKeysOptions(
  factory: string,
  options: RemoteKeysOptions,
  without: readonly string[] = [],
): CheckedOptions {
  const checks: Readonly<Record<keyof RemoteKeysOptions, OptionCheck>> = {
    maxAge: seconds(1, 86_400),
    staleWhileRevalidate: seconds(0, 86_400),
    staleIfError: seconds(0, 604_800),
    overlap: seconds(0, 86_400),
    timeout: seconds(0.1, 60),
    algorithmNames: isAlgorithmNames,
    use: isKeyUse,
    ifStated: isIfStated,
    allowInsecure: isBoolean,
    snapshot: isSnapshot,
    fetch: isFunction,
    clock: isClock,
  }
  const known = Object.entries(checks).filter(([name]) => !without.includes(name))
  checkOptions(factory, options, Object.fromEntries(known))
  const {
    maxAge,
    staleWhileRevalidate = 300,
    staleIfError = 3600,
    overlap = 0,
    timeout = 5,
    allowInsecure = false,
    fetch = platformFetch,
    clock = systemClock,
    algorithmNames,
    use = 'sig',
    ifStated,
    snapshot,
  } = ownMembers(options)
  const cache = { maxAge, staleWhileRevalidate, staleIfError, overlap, timeout, clock }
  const entryRules = {
    algorithmNames: algorithmNamesOf(algorithmNames),
    use,
    ifStated: statedRulesOf(ifStated),
  }
  const retry = createRetry()
  return {
    allowInsecure,
    entryRules,
    exchange: (signal) => createExchange({ fetch, retry, clock, headers: HEADERS }, signal),
    // `null` is what JSON has for nothing.
    cacheOf: (url) => ({
      ...cache,
      url,
      use,
      ifStated: entryRules.ifStated,
      saved: snapshot ? readSnapshot(snapshot, url, entryRules) : undefined,
    }),
  }
}

const HEADERS = {
  accept: 'application/jwk+json, application/jwk-set+json, application/json',
  // No validators either: a rotated key document often has the size and date of the old one.
  'cache-control': 'no-cache',
  'user-agent': 'portcullis',
}

/** What a file may hold is judged later, and never thrown at. A text or a promise is a mistake of the program. */
const isSnapshot: OptionCheck = (value) => {
  if (typeof value === 'string') return 'must be an object: pass JSON.parse(text)'
  if (typeof value !== 'object') return 'must be an object'
  return hasMethods(value, 'then')
    ? 'must be an object: it is a promise, so an `await` is missing'
    : undefined
}

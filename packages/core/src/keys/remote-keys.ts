import {
  type AlgorithmNames,
  algorithmNamesOf,
  isAlgorithmNames,
} from '../algorithms/accepted-algorithms.ts'
import type { Algorithm } from '../algorithms/algorithms.ts'
import {
  checkOptions,
  hasMethods,
  isBoolean,
  isClock,
  isFunction,
  type OptionCheck,
  ownMembers,
  seconds,
} from '../ground/options.ts'
import { type Clock, systemClock } from '../ground/time.ts'
import { type Fetch } from './fetch-json.ts'
import { fetchKeys } from './fetch-keys.ts'
import { type CacheOptions, followKeys, type RemoteKeys } from './key-cache.ts'
import { checkKeyUrl } from './key-url.ts'
import { type KeysSnapshot, readSnapshot } from './snapshot.ts'

/** Options of `remoteKeys` and `discoverKeys`. All times are seconds. */
export interface RemoteKeysOptions {
  /**
   * How long fetched keys are used without asking again. Each process changes it by up to 10 %, so that not all ask at the
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
   * Permits `http:` to other machines. Somebody who controls the network then controls the keys.
   * @default false
   */
  allowInsecure?: boolean | undefined
  /**
   * What `keys.toSnapshot()` returned, in this process or an earlier one: the keys to start with. Their age counts from the
   * fetch that the snapshot records. The first request starts a fetch. It waits for that only if the keys are older than
   * `maxAge` and `staleWhileRevalidate` together. A snapshot that is too old, from the future, of another URL or damaged is
   * ignored; `status().snapshot` and `portcullis:keys` say so.
   */
  snapshot?: KeysSnapshot | null | undefined
  /** @default globalThis.fetch */
  fetch?: Fetch | undefined
  clock?: Clock | undefined
}

/**
 * Public keys behind a URL that serves a single JSON Web Key or a JWK set. They are cached, and fetched again when they are
 * old or when a token suggests that a key was replaced.
 *
 * Nothing is fetched before the first use, and there is nothing to close. A document without a usable key is a failed fetch:
 * it revokes nothing.
 *
 * @throws TypeError for a URL that is neither https nor on this machine, and for a wrong option.
 * @see RFC 7517 sections 4 and 5
 */
export function remoteKeys(url: string | URL, options: RemoteKeysOptions = {}): RemoteKeys {
  const checked = checkRemoteKeysOptions('remoteKeys', options)
  const { fetch, allowInsecure, algorithmNames, snapshot, cache } = checked
  const href = checkKeyUrl('remoteKeys', url, allowInsecure)
  const saved = snapshot && readSnapshot(snapshot, href, algorithmNames)
  const { clock } = cache
  return followKeys(
    async (signal) => await fetchKeys(href, { fetch, signal, clock }, algorithmNames),
    { ...cache, url: href, saved },
  )
}

interface CheckedOptions {
  readonly fetch: Fetch
  readonly allowInsecure: boolean
  readonly algorithmNames: AlgorithmNames
  /** `null`, which is what JSON has for nothing, is `undefined` here. */
  readonly snapshot: KeysSnapshot | undefined
  readonly cache: Omit<CacheOptions, 'url' | 'saved'>
}

const lateBoundFetch: Fetch = async (url, init) => await globalThis.fetch(url, init)

/**
 * The options with their defaults.
 *
 * @throws TypeError
 */
export function checkRemoteKeysOptions(
  factory: string,
  options: RemoteKeysOptions,
): CheckedOptions {
  checkOptions(factory, options, {
    maxAge: seconds(1, 86_400),
    staleWhileRevalidate: seconds(0, 86_400),
    staleIfError: seconds(0, 604_800),
    overlap: seconds(0, 86_400),
    timeout: seconds(0.1, 60),
    algorithmNames: isAlgorithmNames,
    allowInsecure: isBoolean,
    snapshot: isSnapshot,
    fetch: isFunction,
    clock: isClock,
  })
  const {
    maxAge,
    staleWhileRevalidate = 300,
    staleIfError = 3600,
    overlap = 0,
    timeout = 5,
    allowInsecure = false,
    fetch = lateBoundFetch,
    clock = systemClock,
    algorithmNames,
    snapshot,
  } = ownMembers(options)
  const cache = { maxAge, staleWhileRevalidate, staleIfError, overlap, timeout, clock }
  const names = algorithmNamesOf(algorithmNames)
  return { fetch, allowInsecure, algorithmNames: names, snapshot: snapshot ?? undefined, cache }
}

/** What a file may hold is judged later, and never thrown at. A text or a promise is a mistake of the program. */
const isSnapshot: OptionCheck = (value) => {
  if (typeof value === 'string') return 'must be an object: pass JSON.parse(text)'
  if (typeof value !== 'object') return 'must be an object'
  return hasMethods(value, 'then')
    ? 'must be an object: it is a promise, so an `await` is missing'
    : undefined
}

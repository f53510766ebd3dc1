import { type Exchange, type FetchFailure, within } from '@portcullis/kit/http'
import { checkIssuer, findUrl, firstWanted, type Issuer } from '@portcullis/kit/metadata'
import { elapsed, type Instant, instant } from '@portcullis/kit/time'

import type { EntryRules } from './entry-rules.ts'
import { type FetchedKeys, fetchKeys } from './fetch-keys.ts'
import { followKeys, type RemoteKeys } from './key-cache.ts'
import { checkRemoteKeysOptions, type RemoteKeysOptions } from './remote-keys-options.ts'

// Keys of an issuer that publishes metadata: what one attempt reads, and when. The cache does the rest.

interface KnownUrl {
  readonly keyUrl: string
  readonly readAt: Instant
  /** Seconds. */
  readonly maxAge: number
}

const METADATA_MAX_AGE = 86_400
/** When metadata that were due could not be had: an attempt that waits for them in vain is a slow one. */
const METADATA_RETRY = 3600

/** Of an attempt's deadline: key URL, two metadata documents, another key URL; the last is kept, so that it has its own outcome. */
const SHARES = 5

/**
 * Public keys of an issuer that publishes metadata: OpenID Connect Discovery first, then RFC 8414. The metadata are read
 * again once a day, and when the key URL fails.
 *
 * Metadata and keys are read in one attempt with one deadline. Each read has a part of that time; then the next read starts
 * as well. While the known key URL has keys, it does not matter if the metadata fail, hang or name a URL without keys.
 *
 * Does NOT check `iss` in tokens: state `issuer` in the verifier as well.
 *
 * @param issuer The issuer, exactly as its metadata and its tokens write it.
 * @throws TypeError for an issuer that is neither https nor on this machine, and for a wrong option.
 * @see RFC 8414 section 3; OpenID Connect Discovery 1.0 section 4
 */
export function discoverKeys(issuer: string, options: RemoteKeysOptions = {}): RemoteKeys {
  const checked = checkRemoteKeysOptions('discoverKeys', options)
  const { exchange, allowInsecure, entryRules, cacheOf } = checked
  const discovered = checkIssuer(issuer, allowInsecure)
  const cache = cacheOf(issuer)
  const load = createDiscovery(discovered, entryRules, cache.timeout / SHARES)
  return followKeys(async (signal) => await load(exchange(signal)), cache)
}

/** Loads the keys of an issuer, and remembers where they were. @param share Seconds. */
function createDiscovery(
  issuer: Issuer,
  entryRules: EntryRules,
  share: number,
): (exchange: Exchange) => Promise<FetchedKeys | FetchFailure> {
  let known: KnownUrl | undefined

  async function load(exchange: Exchange): Promise<FetchedKeys | FetchFailure> {
    if (known === undefined) return await fetchFirst(exchange)
    const { keyUrl, readAt, maxAge } = known
    const startedAt = instant(exchange.clock)
    if (elapsed(readAt, startedAt) < maxAge) return await fetchKnown(keyUrl, exchange)
    known = { keyUrl, readAt: startedAt, maxAge: METADATA_RETRY }
    return await fetchAnew(keyUrl, exchange)
  }

  async function fetchFirst(exchange: Exchange): Promise<FetchedKeys | FetchFailure> {
    const found = await findUrl(issuer, exchange, share)
    if (typeof found !== 'string') return found
    learn(found, exchange)
    return await fetchKeys(found, exchange, entryRules)
  }

  /** The known key URL first. */
  async function fetchKnown(
    keyUrl: string,
    exchange: Exchange,
  ): Promise<FetchedKeys | FetchFailure> {
    const ofKnown = fetchKeys(keyUrl, exchange, entryRules)
    const keys = await within(share, ofKnown, exchange)
    if (isFetched(keys)) return keys
    return await either(ofKnown, within(3 * share, fetchOther(keyUrl, exchange), exchange))
  }

  /** The metadata first: keys may have moved while the old place still has those of yesterday. */
  async function fetchAnew(
    keyUrl: string,
    exchange: Exchange,
  ): Promise<FetchedKeys | FetchFailure> {
    const ofOther = fetchOther(keyUrl, exchange)
    const keys = await within(2 * share, ofOther, exchange)
    if (isFetched(keys)) return keys
    return await either(
      fetchKeys(keyUrl, exchange, entryRules),
      within(2 * share, ofOther, exchange),
    )
  }

  /** The keys at another URL, if the metadata name one. It becomes the known one when it has brought keys. */
  async function fetchOther(
    keyUrl: string,
    exchange: Exchange,
  ): Promise<FetchedKeys | FetchFailure | undefined> {
    const found = await findUrl(issuer, exchange, share)
    if (typeof found !== 'string') return undefined
    if (found === keyUrl) {
      learn(found, exchange)
      return undefined
    }
    const keys = await fetchKeys(found, exchange, entryRules)
    if (isFetched(keys)) learn(found, exchange)
    return keys
  }

  function learn(keyUrl: string, { signal, clock }: Exchange): void {
    // What comes after the attempt is over may be older than what is known by then.
    if (!signal.aborted) known = { keyUrl, readAt: instant(clock), maxAge: METADATA_MAX_AGE }
  }

  return load
}

/** Keys of whichever has them first; if neither has, why the known key URL has not. */
async function either(
  ofKnown: Promise<FetchedKeys | FetchFailure>,
  ofOther: Promise<FetchedKeys | FetchFailure | undefined>,
): Promise<FetchedKeys | FetchFailure> {
  return (await firstWanted([ofKnown, ofOther], isFetched)) ?? (await ofKnown)
}

function isFetched(outcome: FetchedKeys | FetchFailure | undefined): outcome is FetchedKeys {
  return outcome !== undefined && outcome.failure === undefined
}

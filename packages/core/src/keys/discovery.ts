import { isJsonObject, type JsonObject, member } from '../json.ts'
import { elapsed, type Instant, instant } from '../time.ts'
import { badDocument, type FetchFailure, fetchJson, type JsonDocument } from './fetch-json.ts'
import { followKeys, type RemoteKeys } from './key-cache.ts'
import { checkRemoteKeysOptions, type RemoteKeysOptions, urlComplaint } from './remote-keys.ts'

/** Where the metadata said that the keys are, and when. */
interface KnownUrl {
  readonly keyUrl: string
  readonly readAt: Instant
}

const METADATA_MAX_AGE = 86_400
const NO_METADATA: FetchFailure = {
  failure: 'unreachable',
  detail: 'there are no metadata',
  retryAfter: undefined,
}

/**
 * Public keys of an issuer that publishes metadata: OpenID Connect Discovery first, then RFC 8414. The metadata is read
 * again daily, and when the key URL fails. Metadata and keys are one attempt under one deadline.
 *
 * Does NOT check `iss` in tokens: state `issuer` at the verifier as well.
 *
 * @param issuer The issuer identifier, exactly as its metadata and its tokens spell it.
 * @throws TypeError for an issuer that is neither https nor loopback, and for a wrong option.
 * @see RFC 8414 section 3; OpenID Connect Discovery 1.0 section 4
 */
export function discoverKeys(issuer: string, options: RemoteKeysOptions = {}): RemoteKeys {
  const { fetch, allowInsecure, cache } = checkRemoteKeysOptions('discoverKeys', options)
  const metadataUrls = metadataUrlsOf(issuer, allowInsecure)
  let known: KnownUrl | undefined

  async function load(signal: AbortSignal): Promise<JsonDocument | FetchFailure> {
    const now = instant(cache.clock)
    const before = known
    const isDue = before === undefined || elapsed(before.readAt, now) >= METADATA_MAX_AGE
    const keys = isDue
      ? undefined
      : await fetchJson(before.keyUrl, { fetch, signal, clock: cache.clock })
    if (keys !== undefined && keys.failure === undefined) return keys
    const found = await discover(signal)
    if (typeof found === 'string') {
      known = { keyUrl: found, readAt: now }
      // Where the same place has just failed, once is enough.
      return keys !== undefined && found === before?.keyUrl
        ? keys
        : await fetchJson(found, { fetch, signal, clock: cache.clock })
    }
    if (keys !== undefined) return keys
    // Metadata that cannot be had any more are no reason to do without keys.
    return before === undefined
      ? found
      : await fetchJson(before.keyUrl, { fetch, signal, clock: cache.clock })
  }

  /** The key URL of the first metadata document that there is. */
  async function discover(signal: AbortSignal): Promise<string | FetchFailure> {
    let failure: FetchFailure = NO_METADATA
    for (const url of metadataUrls) {
      const metadata = await fetchJson(url, { fetch, signal, clock: cache.clock })
      const found =
        metadata.failure === undefined ? keyUrlOf(metadata.value, issuer, allowInsecure) : metadata
      if (typeof found === 'string') return found
      // Of two failures, metadata that say something else tell more than none.
      if (failure.failure !== 'bad_document') failure = found
    }
    return failure
  }

  return followKeys(load, cache)
}

function metadataUrlsOf(issuer: string, allowInsecure: boolean): readonly string[] {
  const complaint = typeof issuer === 'string' ? urlComplaint(issuer, allowInsecure) : 'is missing'
  if (complaint !== undefined) throw new TypeError(`discoverKeys: the issuer ${complaint}`)
  const { origin, pathname, search, hash } = new URL(issuer)
  if (search !== '' || hash !== '') {
    throw new TypeError('discoverKeys: the issuer must have neither a query nor a fragment')
  }
  const path = pathname.replace(/\/$/, '')
  return [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
  ]
}

function keyUrlOf(
  metadata: unknown,
  issuer: string,
  allowInsecure: boolean,
): string | FetchFailure {
  const document: JsonObject = isJsonObject(metadata) ? metadata : {}
  // Exactly: metadata that speak for another issuer would bring that one's keys.
  if (member(document, 'issuer') !== issuer) {
    return badDocument('the metadata are of another issuer')
  }
  const keyUrl = member(document, 'jwks_uri')
  if (typeof keyUrl !== 'string' || urlComplaint(keyUrl, allowInsecure) !== undefined) {
    return badDocument('the metadata name no usable key URL')
  }
  const parsed = new URL(keyUrl)
  // Nobody elsewhere may name a service of this machine.
  if (new URL(issuer).protocol === 'https:' && parsed.protocol !== 'https:' && !allowInsecure) {
    return badDocument('the metadata of an https issuer name a key URL that is not')
  }
  parsed.hash = ''
  return parsed.href
}

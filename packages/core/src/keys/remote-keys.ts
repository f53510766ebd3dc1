import { urlComplaint } from '@portcullis/kit/options'

import { fetchKeys } from './fetch-keys.ts'
import { followKeys, type RemoteKeys } from './key-cache.ts'
import { checkRemoteKeysOptions, type RemoteKeysOptions } from './remote-keys-options.ts'

// Keys behind a URL: the options with their defaults, for `discoverKeys` as well. The cache does the rest.

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
  const { exchange, allowInsecure, entryRules, cacheOf } = checked
  const href = checkKeyUrl('remoteKeys', url, allowInsecure)
  const load = async (signal: AbortSignal) => await fetchKeys(href, exchange(signal), entryRules)
  return followKeys(load, cacheOf(href))
}

/** As `fetch` will see it. @throws TypeError, without the URL: it may hold credentials. */
function checkKeyUrl(factory: string, url: string | URL, allowInsecure: boolean): string {
  const complaint = urlComplaint(String(url), allowInsecure)
  // Mistake `…: the key URL …`: It must be absolute, and https beyond this machine. `undefined` in it: an environment variable is
  // not set.
  if (complaint !== undefined) throw new TypeError(`${factory}: the key URL ${complaint}`)
  const parsed = new URL(url)
  parsed.hash = ''
  return parsed.href
}

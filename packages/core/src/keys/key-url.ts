import { secureUrl } from '@portcullis/kit/options'

// Which URLs keys and metadata may come from: https, or this machine.

/**
 * The URL of a key document, as `fetch` will see it.
 *
 * @throws TypeError, without the URL: it may hold credentials.
 */
export function checkKeyUrl(factory: string, url: string | URL, allowInsecure: boolean): string {
  const parsed = secureUrl(factory, 'the key URL', url, allowInsecure)
  parsed.hash = ''
  return parsed.href
}

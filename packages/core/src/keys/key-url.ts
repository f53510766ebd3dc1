import { isLoopback } from '../ground/loopback.ts'
import { isAbsoluteUrl } from '../ground/options.ts'

// Which URLs keys and metadata may come from: https, or this machine.

/**
 * The URL of a key document, as `fetch` will see it.
 *
 * @throws TypeError, without the URL: it may hold credentials.
 */
export function checkKeyUrl(factory: string, url: string | URL, allowInsecure: boolean): string {
  const complaint = urlComplaint(String(url), allowInsecure)
  if (complaint !== undefined) throw new TypeError(`${factory}: the key URL ${complaint}`)
  const parsed = new URL(url)
  parsed.hash = ''
  return parsed.href
}

/**
 * What is wrong with a URL that keys or their metadata should come from.
 *
 * @param allowInsecure `undefined` where the caller has no such option: then the complaint must not name it.
 */
export function urlComplaint(url: string, allowInsecure?: boolean): string | undefined {
  const complaint = isAbsoluteUrl(url)
  if (complaint !== undefined) return complaint
  const { protocol, hostname, username, password } = new URL(url)
  if (username !== '' || password !== '') return 'must not contain credentials'
  if (protocol === 'https:') return undefined
  if (protocol !== 'http:') return 'must begin with https:'
  if (isLoopback(hostname) || allowInsecure === true) return undefined
  return allowInsecure === undefined
    ? 'must begin with https: (http: is for the loopback alone)'
    : 'must begin with https: (allowInsecure: true permits http: beyond the loopback)'
}

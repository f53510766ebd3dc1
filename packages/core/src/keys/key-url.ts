import { urlComplaint } from '@portcullis/kit/options'

// Which URLs keys and metadata may come from: https, or this machine.

/** As `fetch` will see it. @throws TypeError, without the URL: it may hold credentials. */
export function checkKeyUrl(factory: string, url: string | URL, allowInsecure: boolean): string {
  const complaint = urlComplaint(String(url), allowInsecure)
  // Mistake `…: the key URL …`: It must be absolute, and https beyond this machine. `undefined` in it: an environment variable is
  // not set.
  if (complaint !== undefined) throw new TypeError(`${factory}: the key URL ${complaint}`)
  const parsed = new URL(url)
  parsed.hash = ''
  return parsed.href
}

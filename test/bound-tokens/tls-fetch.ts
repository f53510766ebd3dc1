import { Agent, fetch as undiciFetch } from 'undici'

export type Fetch = (url: string, init?: RequestInit) => Promise<Response>

interface KeyPair {
  readonly cert: string
  readonly key: string
}

/**
 * A `fetch` that trusts one server, and shows a certificate of its own if it has one.
 *
 * @param allowH2 Speaks HTTP/2 with a server that does.
 */
export function fetchWith(server: KeyPair, own?: KeyPair, allowH2 = false): Fetch {
  const connect = { ca: server.cert, ...(own && { cert: own.cert, key: own.key }) }
  const dispatcher = new Agent({ connect, allowH2 })
  // undici's own, since the platform's takes no dispatcher of another version.
  const fetch = async (url: string, init: object = {}) =>
    await undiciFetch(url, { ...init, dispatcher })
  return fetch as unknown as Fetch
}

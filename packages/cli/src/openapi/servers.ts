import { memberOf } from '../input/unread-json.ts'

// Finds below which path the operations of a description are, and never another origin than that of the user.

/** How many servers are looked at. */
const MOST_SERVERS = 20
/** Characters. */
const LONGEST_URL = 2000
const LONGEST_VARIABLE = 200

/** The path of the first server at the origin of the user; `undefined` if none is there. Without servers it is `/`. */
export function pathAtOrigin(servers: unknown, { origin }: URL): string | undefined {
  if (!Array.isArray(servers) || servers.length === 0) return '/'
  const urls = servers.slice(0, MOST_SERVERS).map((server) => urlOf(server, origin))
  return urls.find((url) => url?.origin === origin)?.pathname
}

function urlOf(server: unknown, origin: string): URL | undefined {
  const written = memberOf(server, 'url')
  if (typeof written !== 'string' || written.length > LONGEST_URL) return undefined
  const text = written.replaceAll(/\{([^{}]*)\}/g, (whole, name: string) => {
    const value = memberOf(memberOf(memberOf(server, 'variables'), name), 'default')
    return typeof value === 'string' && value.length <= LONGEST_VARIABLE ? value : whole
  })
  return text.length <= LONGEST_URL && URL.canParse(text, origin)
    ? new URL(text, origin)
    : undefined
}

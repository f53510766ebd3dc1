import { isAbsoluteUrl, type OptionCheck } from '@portcullis/kit/options'

// Whether a DPoP proof was made for the URL of this request, however each of them spells it.

/** Whether the `htu` of a proof is the URL of a request. Neither has been checked before. */
export type UrlCheck = (htu: unknown, target: unknown) => boolean

interface PublicOrigin {
  /** Scheme, host and port. */
  readonly server: string
  /** The path that a proxy takes off before requests come here. Without a slash at its end. */
  readonly prefix: string
}

/**
 * RFC 9449 section 4.3, after the normalization of RFC 3986 sections 6.2.2 and 6.2.3; query and fragment do not count.
 * `Host` is not looked at: it is the client's word.
 */
export function createUrlCheck(origins: readonly string[]): UrlCheck {
  const known = origins.map(originOf).filter((origin) => origin !== undefined)
  return (htu, target) => {
    const asked = pathOfTarget(target)
    const stated = typeof htu === 'string' ? readUrl(htu) : undefined
    if (asked === undefined || stated === undefined) return false
    return known.some(
      ({ server, prefix }) =>
        stated.server === server &&
        // A proxy makes one of `/api` and `/api/`.
        (stated.path === `${prefix}${asked}` || (asked === '/' && stated.path === prefix)),
    )
  }
}

/** One value of the option `origin`. The complaint does not repeat it: it may hold credentials. */
export const isOrigin: OptionCheck = (value) => {
  if (typeof value !== 'string') return 'must be a URL such as https://api.example.com'
  return (
    isAbsoluteUrl(value) ??
    (originOf(value) === undefined
      ? 'must be an http or https URL without credentials, query and fragment'
      : undefined)
  )
}

function originOf(text: string): PublicOrigin | undefined {
  const { protocol, username, password, origin, pathname } = new URL(text)
  const isPlain = username === '' && password === '' && !/[?#\\]/.test(text)
  if (!isPlain || !(protocol === 'https:' || protocol === 'http:')) return undefined
  const read = readUrl(`${origin}${pathname}`)
  return read && { server: read.server, prefix: read.path.replace(/\/$/, '') }
}

/** Scheme, name or address of the host, port and path. Not by names: each request would make an object of them. */
const URL_FORM =
  /^(https?):\/\/(?:([^/?#@:[\]\\]+)|(\[[\d.:a-f]+\]))(?::(\d*))?(\/[^?#]*)?(?:[?#]|$)/i

const DEFAULT_PORTS: ReadonlyMap<string, string> = new Map([
  ['http', '80'],
  ['https', '443'],
])

/** In one spelling. Not by `URL`, which is lenient: it takes `\` for `/`, leaves out tabs, and knows spellings that no client writes. */
function readUrl(text: string): { readonly server: string; readonly path: string } | undefined {
  const [, scheme = '', name, address, port = '', stated = '/'] = URL_FORM.exec(text) ?? []
  const path = normalPath(stated)
  const host = address === undefined ? normalName(name) : normalAddress(address)
  if (path === undefined || host === undefined) return undefined
  const protocol = scheme.toLowerCase()
  const isDefault = port === '' || port === DEFAULT_PORTS.get(protocol)
  return { server: `${protocol}://${host}${isDefault ? '' : `:${port}`}`, path }
}

/** ASCII alone, so that no letter becomes one of ASCII by the change of case: names of other scripts are written `xn--`. */
function normalName(host: string | undefined): string | undefined {
  return host !== undefined && PATH.test(host) ? normalOctets(host).toLowerCase() : undefined
}

function normalAddress(address: string): string | undefined {
  const url = `http://${address}`
  return URL.canParse(url) ? new URL(url).hostname : undefined
}

/**
 * The path of a request target, also of an absolute one; `*` and the target of `CONNECT` have none. RFC 9112 section 3.2
 *
 * One with dot segments has none either: routers take them for names, so `/a/../b` may not be `/b`. Clients resolve them before.
 */
function pathOfTarget(target: unknown): string | undefined {
  if (typeof target !== 'string') return undefined
  const [asked = ''] = target.split('?', 1)
  const path = asked.startsWith('/') ? asked : pathOfAbsolute(asked)
  if (path === undefined) return undefined
  const resolved = normalPath(path)
  return resolved === normalOctets(path) ? resolved : undefined
}

function pathOfAbsolute(asked: string): string | undefined {
  const parts = /^[a-z][\d+.a-z-]*:\/\/[^/\\]+(?<path>\/.*)?$/i.exec(asked)?.groups
  return parts && (parts['path'] ?? '/')
}

/** Printable ASCII without `#`, `?` and `\`, and with two digits behind each `%`. */
const PATH = /^(?:[!"$&->@-[\]-~]|%[\da-f]{2})*$/i

function normalPath(path: string): string | undefined {
  return PATH.test(path) ? withoutDotSegments(normalOctets(path)) : undefined
}

/** @see RFC 3986 sections 6.2.2.1 and 6.2.2.2 */
function normalOctets(text: string): string {
  if (!text.includes('%')) return text
  return text.replaceAll(/%[\da-f]{2}/gi, (octet) => {
    const character = String.fromCharCode(Number.parseInt(octet.slice(1), 16))
    return /[\w.~-]/.test(character) ? character : octet.toUpperCase()
  })
}

/** @see RFC 3986 section 5.2.4 */
function withoutDotSegments(path: string): string {
  if (!path.includes('/.')) return path
  const segments = path.slice(1).split('/')
  const kept: string[] = []
  for (const segment of segments) {
    if (segment === '..') kept.pop()
    else if (segment !== '.') kept.push(segment)
  }
  const last = segments.at(-1)
  if (last === '.' || last === '..') kept.push('')
  return `/${kept.join('/')}`
}

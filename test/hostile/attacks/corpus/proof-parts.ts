// What hostile proofs are made of.

/** The points of Ed25519 with which anybody can sign, in hexadecimal. */
export const SMALL_ORDER: readonly string[] = [
  `01${'00'.repeat(31)}`,
  `ec${'ff'.repeat(30)}7f`,
  '00'.repeat(32),
  `${'00'.repeat(31)}80`,
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
  `ed${'ff'.repeat(30)}7f`,
  `ee${'ff'.repeat(30)}7f`,
  `ee${'ff'.repeat(30)}ff`,
]

/** Other spellings of a URL, as RFC 3986 sees it. */
export function sameUrls(url: string): readonly string[] {
  const { protocol, hostname, pathname, port } = new URL(url)
  const origin = `${protocol}//${hostname}`
  const stated = port === '' ? (protocol === 'https:' ? ':443' : ':80') : `:${port}`
  const escaped = pathname.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`)
  return [
    `${protocol.toUpperCase()}//${hostname.toUpperCase()}${stated}${pathname}`,
    `${origin}${stated}${pathname}`,
    `${origin}${stated}${escaped}`,
    `${origin}${stated}/.${pathname}`,
    `${origin}${stated}/x/..${pathname}`,
    `${origin}${stated}/%2E%2e${pathname}`,
    `${origin}${stated}${pathname}?a=b`,
    `${origin}${stated}${pathname}#a`,
  ]
}

/** Texts that some reader of URLs takes for the same, and RFC 3986 does not. */
export function otherUrls(url: string): readonly string[] {
  const { protocol, host, hostname, pathname } = new URL(url)
  const otherScheme = protocol === 'https:' ? 'http:' : 'https:'
  return [
    `${otherScheme}//${host}${pathname}`,
    `//${host}${pathname}`,
    pathname,
    `${protocol}${host}${pathname}`,
    `${protocol}/${host}${pathname}`,
    `${protocol}///${host}${pathname}`,
    `${protocol}\\\\${host}${pathname}`,
    `${protocol}//${host}${pathname.replaceAll('/', '\\')}`,
    `${protocol}//user@${host}${pathname}`,
    `${protocol}//@${host}${pathname}`,
    `${protocol}//${host}@evil.test${pathname}`,
    `${protocol}//${hostname}.:8999${pathname}`,
    `${protocol}//${hostname}.evil.test${pathname}`,
    `${protocol}//evil.test/${host}${pathname}`,
    `${protocol}//${host}${pathname}/`,
    `${protocol}//${host}/${pathname}`,
    `${protocol}//${host}${pathname}x`,
    `${protocol}//${host}${pathname.toUpperCase()}`,
    `${protocol}//${host}${pathname.replaceAll('/', '%2F')}`,
    `${protocol}//${host}${pathname}%00`,
    `${protocol}//${host}${pathname}%`,
    `${protocol}//${host}${pathname}%2561`,
    `${protocol}//${host}${pathname}\0`,
    `${protocol}//${host}${pathname} `,
    `${protocol}//${host}/\t${pathname.slice(1)}`,
    ` ${protocol}//${host}${pathname}`,
    `${protocol}//${host}${pathname}\u00E4`,
    `${protocol}//${host}\uFF0F${pathname.slice(1)}`,
    `${protocol}//${host}/..;${pathname}`,
    `blob:${url}`,
    `view-source:${url}`,
  ]
}

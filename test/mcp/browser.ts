// A browser of a user: follows the redirects of an authorization server, with its cookies, until it comes back to the client.

/**
 * Opens the page that a client sends its user to.
 *
 * @returns The query with which the browser comes back to the client.
 */
export async function visit(
  start: URL,
  redirectUri: string,
  fetch: typeof globalThis.fetch = globalThis.fetch,
): Promise<URLSearchParams> {
  const cookies = new Map<string, string>()
  let url = start
  for (let hops = 0; hops < 20; hops++) {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: headerOf(cookies) },
    })
    for (const each of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(each) ?? []
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    const location = response.headers.get('location')
    if (location === null) {
      throw new Error(`the browser has got ${response.status}: ${await response.text()}`)
    }
    url = new URL(location, url)
    if (url.href.startsWith(redirectUri)) return url.searchParams
  }
  throw new Error('the browser is sent around in a circle')
}

function headerOf(cookies: ReadonlyMap<string, string>): string {
  return Array.from(cookies, ([name, value]) => `${name}=${value}`).join('; ')
}

// Under which URL a service was asked, on a port as in the process.

/** As the client sees it: a service on a port is asked under the name in `host`. */
export function urlAsked({ url, headers }: Request): URL {
  const asked = new URL(url)
  asked.host = headers.get('host') ?? asked.host
  return asked
}

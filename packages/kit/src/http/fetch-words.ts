// What to say of a `fetch` that failed, and of one that gave something else than an answer. Nothing of a message is shown, since it
// may name hosts or quote what was sent.

const WHAT_TO_GIVE =
  'it must give a Response, or an object with status, url, headers and body as a Response has them'

/** What is missing in something that a `fetch` has given as an answer; `undefined` if it is one. */
export function whatIsMissing(answer: unknown): string | undefined {
  if (typeof answer !== 'object' || answer === null) {
    return `fetch gave ${answer === null ? 'null' : typeof answer}: ${WHAT_TO_GIVE}`
  }
  const of = (name: string): unknown => Reflect.get(answer, name)
  const missing = [
    ...(typeof of('status') === 'number' ? [] : ['a status']),
    ...(typeof of('url') === 'string' ? [] : ['a url']),
    ...(isFunction(of('headers'), 'get') ? [] : ['headers.get']),
    ...(isBody(of('body')) ? [] : ['a body that is a stream or null']),
  ]
  return missing.length === 0
    ? undefined
    : `fetch gave an object without ${missing.join(', ')}: ${WHAT_TO_GIVE}`
}

/** Octets that come one after the other, by an iterator or by a reader. */
function isBody(body: unknown): boolean {
  return body === null || isFunction(body, Symbol.asyncIterator) || isFunction(body, 'getReader')
}

function isFunction(holder: unknown, name: string | symbol): boolean {
  if (typeof holder !== 'object' || holder === null) return false
  return typeof Reflect.get(holder, name) === 'function'
}

/** In words behind `name`, if an answer is of another URL than was asked. A constructed `Response` has an empty one. */
export function whereItIsFrom(
  { redirected, url }: { readonly redirected: boolean; readonly url: string },
  asked: string,
  name: string,
): string | undefined {
  if (redirected) return `${name} answered with a redirect, which is not followed`
  return url === '' || url === asked
    ? undefined
    : `the answer of ${name} has another url than was asked for: a fetch must follow no redirect, and one that asks elsewhere must give an answer whose url is empty`
}

/** What platforms and their proxies say where there is no code. */
const KNOWN: readonly (readonly [RegExp, string])[] = [
  [/^bad port$|^Fetch failed: Requests to port \d+ are blocked$/, 'fetch refuses this port'],
  [/^Proxy response \((?<status>\d{3})\)/, 'the proxy answered'],
  [
    /^The 'cache' field on /,
    "this runtime has no cache: 'no-store', which Cloudflare Workers have without the flag cache_option_disabled",
  ],
]

/** What platforms throw by themselves, without a cause. */
const OF_PLATFORM = /^(?:fetch failed|terminated|Failed to fetch|Load failed|NetworkError)/i

/** What a request failed by, behind words that say that it did: what the innermost cause is, as far as it is known. */
export function whyFailed(error: unknown): string {
  const causes = causesOf(error)
  for (const { message } of causes) {
    for (const [pattern, words] of KNOWN) {
      const match = pattern.exec(message)
      const status = match?.groups?.['status']
      if (match !== null) return `: ${words}${status === undefined ? '' : ` ${status}`}`
    }
  }
  const code = platformCode(error)
  if (code !== undefined) return ` (${code})`
  const [outermost] = causes
  const isMistake = causes.length === 1 && isProgramError(outermost)
  return isMistake ? `: fetch threw a ${outermost.name}, as a mistake in its code does` : ''
}

function isProgramError(error: Error | undefined): error is Error {
  if (!(error instanceof TypeError || error instanceof ReferenceError)) return false
  return !OF_PLATFORM.test(error.message)
}

/** The innermost code of a platform, such as ECONNREFUSED. */
export function platformCode(error: unknown): string | undefined {
  return causesOf(error)
    .map((each): unknown => Reflect.get(each, 'code'))
    .filter((code) => typeof code === 'string')
    .findLast((code) => /^[A-Z][A-Z\d_]{2,40}$/.test(code))
}

const DEEPEST = 8

/** The errors from the outermost to the innermost; of several that were tried at once, the first. */
function causesOf(error: unknown): readonly Error[] {
  const causes: Error[] = []
  let each = error
  while (each instanceof Error && causes.length < DEEPEST) {
    causes.push(each)
    const tried: unknown = each instanceof AggregateError ? each.errors[0] : undefined
    each = each.cause ?? tried
  }
  return causes
}

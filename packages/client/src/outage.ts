import { TokenClientError } from './errors.ts'

// What `fetch` or the stream of a body fails with: an outage. Nothing of a message is shown, since it may name hosts or quote what was
// sent.

/** Everything that a step fails with counts as an outage. */
export async function reach<Result>(step: () => Promise<Result>): Promise<Result> {
  try {
    return await step()
  } catch (error) {
    throw outageOf(error)
  }
}

export function outageOf(error: unknown): TokenClientError {
  if (error instanceof TokenClientError) return error
  const message = `the token service could not be reached${whyFailed(error)}`
  return new TokenClientError('service_unavailable', message)
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
function whyFailed(error: unknown): string {
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

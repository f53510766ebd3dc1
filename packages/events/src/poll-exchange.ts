import { isUtf8 } from 'node:buffer'

import {
  discardBody,
  readBody,
  REQUEST_SETTINGS,
  type Retry,
  retryAfter,
  whatIsMissing,
  whereItIsFrom,
  whyFailed,
} from '@portcullis/kit/http'
import { isJsonObject, member, parseJson } from '@portcullis/kit/json'

// One poll over the network: what counts as an answer.

/** Events by their names, as they came; or why there are none, in words without an address. */
export type PollAnswer =
  | { readonly failure: undefined; readonly sets: ReadonlyMap<string, unknown> }
  | { readonly failure: string; readonly retryAfter: number | undefined }

/** Octets. */
const MAX_ANSWER = 1024 * 1024

export interface PollSettings {
  /** As `fetch` writes it. */
  readonly endpoint: string
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  /** A poll that is sent twice acknowledges no more than one that is sent once. */
  readonly retry: Retry
  /** What a date in `Retry-After` is compared with. */
  readonly wallNow: () => number
}

/** What some versions of the types of Node leave out. */
type PollInit = RequestInit & { readonly cache: 'no-store' }

/** Sends one poll. Never rejects. RFC 8936 sections 2.2 to 2.5 */
export async function exchange(
  { endpoint, fetch, retry, wallNow }: PollSettings,
  body: string,
  signal: AbortSignal,
): Promise<PollAnswer> {
  const init: PollInit = {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body,
    // Events come from the endpoint that was configured, and from nowhere else.
    ...REQUEST_SETTINGS,
    signal,
  }
  try {
    const response = await retry(async () => await fetch(endpoint, init), signal)
    const missing = whatIsMissing(response)
    if (missing !== undefined) return failed(missing)
    // An injected `fetch` may follow redirects all the same.
    const elsewhere = whereItIsFrom(response, endpoint, 'the endpoint')
    if (elsewhere !== undefined) {
      discardBody(response)
      return failed(elsewhere)
    }
    if (response.status === 204) {
      discardBody(response)
      return NO_EVENTS
    }
    if (response.status !== 200) {
      const pause = retryAfter(response.headers, wallNow())
      discardBody(response)
      return failed(`the endpoint answered ${response.status}`, pause)
    }
    const octets = await readBody(response.body, signal, MAX_ANSWER)
    if (octets === undefined) return failed(`the answer has more than ${MAX_ANSWER} bytes`)
    const answer = isUtf8(octets) ? parseJson(octets.toString()) : undefined
    return setsIn(answer)
  } catch (error) {
    return failed(`the connection to the endpoint failed${whyFailed(error)}`)
  }
}

const NO_EVENTS: PollAnswer = { failure: undefined, sets: new Map() }

/** Some transmitters leave an empty `sets` out, or write it as languages do whose maps are lists. */
function setsIn(answer: unknown): PollAnswer {
  if (!isJsonObject(answer)) return failed(NO_SETS)
  const sets = member(answer, 'sets') ?? undefined
  if (isJsonObject(sets)) return { failure: undefined, sets: new Map(Object.entries(sets)) }
  const isEmpty =
    sets === undefined
      ? Object.keys(answer).every((name) => name === 'sets' || name === 'moreAvailable')
      : Array.isArray(sets) && sets.length === 0
  return isEmpty ? NO_EVENTS : failed(NO_SETS)
}

const NO_SETS = 'the answer is no JSON object with sets'

export function failed(failure: string, pause?: number): PollAnswer {
  return { failure, retryAfter: pause }
}

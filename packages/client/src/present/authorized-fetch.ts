import { discardBody } from '@portcullis/kit/http'
import type { Clock } from '@portcullis/kit/time'

import { TokenClientError } from '../answer/errors.ts'
import type { Dpop } from '../dpop/dpop.ts'
import type { ClientFetch } from '../request/token-request.ts'
import { raceAbort } from '../waiting/abort.ts'
import { bearing, isRepeatable, type Presented, proving } from './present-token.ts'

// The `fetch` of a client: decides which requests get the token, and repeats one after a 401.

/** Like the platform's `fetch`. */
export type AuthorizedFetch = (
  input: string | URL | Request,
  init?: RequestInit,
) => Promise<Response>

export interface Authorization {
  /** The origins that may get the token. */
  readonly origins: ReadonlySet<string>
  readonly fetch: ClientFetch
  readonly clock: Clock
  readonly get: (options: { signal: AbortSignal | undefined }) => Promise<string>
  /** Called for each answer to a request with the token, except for the 401 that invalidates it. */
  readonly onAnswer: (token: string, origin: string, isAccepted: boolean) => void
  readonly invalidate: (token: string, origin: string) => void
  /** For tokens that are bound to a key. */
  readonly dpop: Dpop | undefined
}

/** Repeats a request once with another token after a 401, and before that with a better proof, if the proof was refused. */
export function authorizedFetch({
  origins,
  fetch: given,
  clock,
  get,
  onAnswer,
  invalidate,
  dpop,
}: Authorization): AuthorizedFetch {
  const fetch = endingWithSignal(given)
  return async (input, init) => {
    const { url, ...request } = requestOf(input, init)
    const { origin, protocol, username, password } = new URL(url)
    // A `blob:` URL has the origin of the page that made it. A URL with credentials would fail in `fetch`, after a login.
    if (!/^https?:$/.test(protocol) || username !== '' || password !== '') {
      throw new TokenClientError(
        'origin_not_allowed',
        'the token goes to http and https URLs without credentials alone',
      )
    }
    if (!origins.has(origin)) {
      throw new TokenClientError(
        'origin_not_allowed',
        'the token is not for the origin of this URL',
      )
    }

    async function getToken(): Promise<string> {
      try {
        return await get({ signal: request.signal ?? undefined })
      } catch (error) {
        // The reason of the signal, as the platform's `fetch` rejects.
        request.signal?.throwIfAborted()
        throw error
      }
    }

    const presented = { url, origin, request }
    const send =
      dpop === undefined ? bearing(fetch, presented) : proving(fetch, dpop, clock, presented)

    function answered({ response, isAboutToken }: Presented, token: string): Response {
      if (isAboutToken) onAnswer(token, origin, response.status !== 401)
      return response
    }

    const token = await getToken()
    const first = await send(token)
    if (!first.needsLogin) return answered(first, token)
    const { response } = first
    invalidate(token, origin)
    if (!isRepeatable(request.body)) return response
    const next = await getToken().catch((error: unknown) => {
      discardBody(response)
      throw error
    })
    if (next === token) return response
    discardBody(response)
    return answered(await send(next), next)
  }
}

/** The same, but its wait ends with the signal of the request: an injected `fetch` may ignore that. */
function endingWithSignal(fetch: ClientFetch): ClientFetch {
  return async (url, init) => {
    const signal = init.signal ?? undefined
    signal?.throwIfAborted()
    const response = fetch(url, init)
    try {
      return await raceAbort(response, signal)
    } catch (error) {
      // Nobody reads what comes now.
      if (signal?.aborted === true) response.then(discardBody, () => undefined)
      signal?.throwIfAborted()
      throw error
    }
  }
}

/** The standard's `RequestInit` has `duplex`, that of Deno has not. */
type RequestParts = RequestInit & { readonly url: string; readonly duplex?: 'half' }

/** Keeps each `Request` as long as its signal: once it was garbage-collected, the caller's abort is not passed on. */
const followed = new WeakMap<AbortSignal, readonly Request[]>()

/** The URL becomes a string, which cannot change between the check of its origin and the request. An injected `fetch` may know no `Request`. */
function requestOf(input: string | URL | Request, init: RequestInit | undefined): RequestParts {
  if (!(input instanceof Request)) return { ...init, url: new URL(input).href }
  const request = new Request(input, init)
  followed.set(request.signal, [input, request])
  const { url, method, headers, body, signal, redirect, integrity } = request
  const own: RequestInit = { method, headers, body, signal, redirect, integrity }
  // `init` may have members that only an injected `fetch` knows, such as `dispatcher`.
  return { ...init, ...own, duplex: 'half', url }
}

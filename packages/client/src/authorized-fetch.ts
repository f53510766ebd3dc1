import { TokenClientError } from './errors.ts'
import { discardBody } from './http-answer.ts'
import type { Fetch } from './token-request.ts'

/** As the platform's `fetch`. */
export type AuthorizedFetch = (
  input: string | URL | Request,
  init?: RequestInit,
) => Promise<Response>

export interface Authorization {
  /** The origins that may get the token. */
  readonly origins: ReadonlySet<string>
  readonly fetch: Fetch
  readonly get: (options: { signal: AbortSignal | undefined }) => Promise<string>
  /** Told of each answer to the token, but for the 401 that invalidates it. */
  readonly onAnswer: (token: string, origin: string, isAccepted: boolean) => void
  readonly invalidate: (token: string, origin: string) => void
}

/** Adds the token to requests, and repeats one that was refused with another token. */
export function authorizedFetch({
  origins,
  fetch,
  get,
  onAnswer,
  invalidate,
}: Authorization): AuthorizedFetch {
  return async (input, init) => {
    const { url, ...request } = requestOf(input, init)
    const { origin, protocol, username, password } = new URL(url)
    // `blob:` has the origin of what made it. With credentials `fetch` itself would fail, but only after a login.
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
        // As `fetch` itself does.
        request.signal?.throwIfAborted()
        throw error
      }
    }

    async function send(token: string): Promise<Response> {
      const headers = new Headers(request.headers)
      headers.set('authorization', `Bearer ${token}`)
      return await fetch(url, { ...request, headers })
    }

    function answered(response: Response, token: string): Response {
      if (!isFromElsewhere(response, origin)) onAnswer(token, origin, response.status !== 401)
      return response
    }

    const token = await getToken()
    const response = await send(token)
    if (response.status !== 401 || isFromElsewhere(response, origin))
      return answered(response, token)
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

/** The signal of a `Request` follows the one it was given only as long as the garbage collector leaves the `Request`. */
const followed = new WeakMap<AbortSignal, readonly Request[]>()

/**
 * The URL as a text of its own, so that it is still the one whose origin was checked when the token has come, and an
 * injected `fetch` need not know the platform's `Request`.
 */
function requestOf(
  input: string | URL | Request,
  init: RequestInit | undefined,
): RequestInit & { url: string } {
  if (!(input instanceof Request)) return { ...init, url: new URL(input).href }
  const request = new Request(input, init)
  followed.set(request.signal, [input, request])
  const { url, method, headers, body, signal, redirect, integrity } = request
  const own: RequestInit = { method, headers, body, signal, redirect, integrity }
  // What only an injected `fetch` knows, such as a `dispatcher`, is in `init` alone.
  return { ...init, ...own, duplex: 'half', url }
}

/** After a redirect to another origin, which has not seen the token. */
function isFromElsewhere({ url }: Response, origin: string): boolean {
  return url !== '' && new URL(url).origin !== origin
}

/** A stream has been read by now, and a `Request` holds any body as one. */
function isRepeatable(body: unknown): boolean {
  return (
    body === undefined ||
    body === null ||
    typeof body === 'string' ||
    body instanceof URLSearchParams ||
    body instanceof FormData ||
    body instanceof Blob ||
    body instanceof ArrayBuffer ||
    ArrayBuffer.isView(body)
  )
}

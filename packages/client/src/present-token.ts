import type { Dpop } from './dpop.ts'
import { discardBody } from './http-answer.ts'
import type { Fetch } from './token-request.ts'

/** A request to an origin that may get the token. */
export interface PresentedRequest {
  readonly url: string
  readonly origin: string
  readonly request: RequestInit
}

/** Sends a request with a token. */
export type Present = (token: string) => Promise<Response>

export function bearing(fetch: Fetch, { url, request }: PresentedRequest): Present {
  return async (token) => {
    const headers = new Headers(request.headers)
    headers.set('authorization', `Bearer ${token}`)
    return await fetch(url, { ...request, headers })
  }
}

/** The same with a proof for each request, which is repeated once if the server wants a nonce in it. */
export function proving(
  fetch: Fetch,
  dpop: Dpop,
  { url, origin, request }: PresentedRequest,
): Present {
  async function send(token: string, nonce?: string): Promise<Response> {
    const headers = new Headers(request.headers)
    const method = methodOf(request)
    headers.set('authorization', `DPoP ${token}`)
    headers.set('dpop', await dpop.proof(origin, { method, url, token }, nonce))
    // An injected `fetch` may ignore its signal.
    request.signal?.throwIfAborted()
    // A proof is for one URL, and the platform would take it along to another origin.
    const redirect = request.redirect === 'error' ? 'error' : 'manual'
    return await fetch(url, { ...request, headers, redirect })
  }

  function learnNonce(response: Response): string | undefined {
    return isFromElsewhere(response, origin) ? undefined : dpop.learnNonce(origin, response.headers)
  }

  return async (token) => {
    const response = await send(token)
    const nonce = learnNonce(response)
    const isAsked = nonce !== undefined && refusalOfProof(response) === 'use_dpop_nonce'
    if (!isAsked || !isRepeatable(request.body)) return response
    discardBody(response)
    // With the nonce of this answer: an answer to another request may have brought an older one meanwhile.
    const repeated = await send(token, nonce)
    learnNonce(repeated)
    return repeated
  }
}

/** Whether the answer came from another origin after a redirect: that one has not seen the token. */
export function isFromElsewhere({ url }: Response, origin: string): boolean {
  return url !== '' && new URL(url).origin !== origin
}

/** A quoted text, whatever is in it, or the error of a challenge that is about a proof. RFC 9110 sections 5.6.4 and 11.2. */
const PROOF_ERROR =
  /"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)|(?:^|[\s,])error[\t ]*=[\t ]*(?:"(?<quoted>use_dpop_nonce|invalid_dpop_proof)"|(?<bare>use_dpop_nonce|invalid_dpop_proof)(?=[\s,]|$))/gis

/** What a 401 says of the proof, not of the token: another token would not help. `undefined` for any other answer. */
export function refusalOfProof({ status, headers }: Response): string | undefined {
  if (status !== 401) return undefined
  for (const { groups } of (headers.get('www-authenticate') ?? '').matchAll(PROOF_ERROR)) {
    const error = groups?.['quoted'] ?? groups?.['bare']
    if (error !== undefined) return error.toLowerCase()
  }
  return undefined
}

/** Whether the body can be sent twice: a stream cannot, and the body of a `Request` is always one. */
export function isRepeatable(body: unknown): boolean {
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

/** As `fetch` sends it: it writes these methods in upper case, and no other. */
function methodOf({ method = 'GET' }: RequestInit): string {
  return /^(?:delete|get|head|options|post|put)$/i.test(method) ? method.toUpperCase() : method
}

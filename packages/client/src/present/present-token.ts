import { discardBody } from '@portcullis/kit/http'
import { type Clock, instant } from '@portcullis/kit/time'

import { clockSkewOf } from '../answer/http-time.ts'
import type { Dpop } from '../dpop/dpop.ts'
import type { ClientFetch } from '../request/token-request.ts'

// Sends one request with a token, with a proof or without, and says whether the answer is about the token.

export interface PresentedRequest {
  readonly url: string
  readonly origin: string
  readonly request: RequestInit
}

export interface Presented {
  readonly response: Response
  /** Whether its status says something of the token: not if it is about the proof, or comes from elsewhere. */
  readonly isAboutToken: boolean
  /** Whether another login may help: the token was refused, or its proof, and no other proof is better. */
  readonly needsLogin: boolean
}

export type Present = (token: string) => Promise<Presented>

export function bearing(fetch: ClientFetch, { url, origin, request }: PresentedRequest): Present {
  return async (token) => {
    const headers = new Headers(request.headers)
    headers.set('authorization', `Bearer ${token}`)
    const response = await fetch(url, { ...request, headers })
    const isAboutToken =
      !isFromElsewhere(response, origin) && refusalOfProof(response) === undefined
    return { response, isAboutToken, needsLogin: isAboutToken && response.status === 401 }
  }
}

/** With a proof for each request: repeated once for the nonce that the server wants, and once if its time may have been wrong. */
export function proving(
  fetch: ClientFetch,
  dpop: Dpop,
  clock: Clock,
  { url, origin, request }: PresentedRequest,
): Present {
  async function send(token: string, nonce: string | undefined) {
    const headers = new Headers(request.headers)
    const method = methodOf(request)
    const proof = await dpop.proof(origin, { method, url, token }, nonce)
    headers.set('authorization', `DPoP ${token}`)
    headers.set('dpop', proof.text)
    // An injected `fetch` may ignore its signal.
    request.signal?.throwIfAborted()
    // A proof is for one URL, and the platform would take it along to another origin.
    const redirect = request.redirect === 'error' ? 'error' : 'manual'
    const sentAt = instant(clock)
    const response = await fetch(url, { ...request, headers, redirect })
    const clockSkew = clockSkewOf(response.headers, sentAt, instant(clock))
    return { response, proof, clockSkew }
  }

  return async (token) => {
    const mended = new Set<ProofRefusal>()
    let nonce: string | undefined
    for (;;) {
      const { response, proof, clockSkew } = await send(token, nonce)
      if (isFromElsewhere(response, origin))
        return { response, isAboutToken: false, needsLogin: false }
      // The next proof has the nonce of this answer: an answer to another request may have brought an older one meanwhile.
      nonce = dpop.learnNonce(origin, response.headers)
      const refusal = refusalOfProof(response)
      if (refusal === undefined) {
        return { response, isAboutToken: true, needsLogin: response.status === 401 }
      }
      let isMended = !mended.has(refusal)
      if (refusal === 'use_dpop_nonce') isMended &&= nonce !== undefined
      else {
        // Without a better one: by the clock of the token service, which a login measures again.
        const correction = isMended ? dpop.betterCorrection(proof, clockSkew) : undefined
        dpop.correct(origin, correction)
        isMended = correction !== undefined
      }
      const needsLogin = !isMended && refusal === 'invalid_dpop_proof'
      if (!isMended || !isRepeatable(request.body)) {
        return { response, isAboutToken: false, needsLogin }
      }
      mended.add(refusal)
      discardBody(response)
    }
  }
}

function isFromElsewhere({ url }: Response, origin: string): boolean {
  return url !== '' && new URL(url).origin !== origin
}

/** A quoted text, whatever is in it, or the error of a challenge that is about a proof. RFC 9110 sections 5.6.4 and 11.2. */
const PROOF_ERROR =
  /"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)|(?:^|[\s,])error[\t ]*=[\t ]*(?:"(?<quoted>use_dpop_nonce|invalid_dpop_proof)"|(?<bare>use_dpop_nonce|invalid_dpop_proof)(?=[\s,]|$))/gis

type ProofRefusal = 'use_dpop_nonce' | 'invalid_dpop_proof'

function refusalOfProof({ status, headers }: Response): ProofRefusal | undefined {
  if (status !== 401) return undefined
  for (const { groups } of (headers.get('www-authenticate') ?? '').matchAll(PROOF_ERROR)) {
    const error = (groups?.['quoted'] ?? groups?.['bare'])?.toLowerCase()
    if (error === 'use_dpop_nonce' || error === 'invalid_dpop_proof') return error
  }
  return undefined
}

/** A stream cannot be sent twice, and the body of a `Request` is always one. */
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

import type { ProtectedResourceMetadata } from '@portcullis/core'
import { ownMembers } from '@portcullis/kit/options'

// The answers that an endpoint gives itself, apart from refusals: metadata, and what is wrong with a session or a body.

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
}

/** Pages of any site may read the metadata: they are public, and clients in browsers need them. */
const PUBLIC = { 'Access-Control-Allow-Origin': '*' }

/** @see RFC 9728 section 3.2 */
export function metadataAnswer(method: string, { body }: ProtectedResourceMetadata): Answer {
  if (method === 'GET' || method === 'HEAD') {
    const headers = ownMembers({ ...PUBLIC, 'Content-Type': 'application/json' })
    return { status: 200, headers, body }
  }
  const allowed = 'GET, HEAD, OPTIONS'
  if (method === 'OPTIONS') {
    const headers = ownMembers({
      ...PUBLIC,
      'Access-Control-Allow-Methods': allowed,
      'Access-Control-Allow-Headers': '*',
    })
    return { status: 204, headers }
  }
  return { status: 405, headers: ownMembers({ ...PUBLIC, Allow: allowed }) }
}

/** Methods that a `Request` of the platform cannot have, and that nothing of the protocol uses. */
const FORBIDDEN: ReadonlySet<string> = new Set(['CONNECT', 'TRACE', 'TRACK'])

/** https://fetch.spec.whatwg.org/#forbidden-method */
export function methodAnswer(method: string): Answer | undefined {
  if (!FORBIDDEN.has(method.toUpperCase())) return undefined
  return { status: 405, headers: ownMembers({ Allow: 'GET, POST, DELETE' }) }
}

/** The same for a session that nobody knows and for another user's, so that nobody learns which ids there are. */
export const NO_SESSION: Answer = rpcError(404, -32_001, 'Session not found')

/** Answers to bodies that cannot be judged. Nobody is there any more to get that to an unfinished one. */
export const BODY_FAULTS: Readonly<Record<'malformed' | 'unfinished' | 'too_large', Answer>> = {
  malformed: rpcError(400, -32_700, 'Parse error'),
  unfinished: rpcError(400, -32_700, 'Parse error'),
  too_large: rpcError(413, -32_000, 'Payload too large'),
}

/** @see https://www.jsonrpc.org/specification section 5.1 */
function rpcError(status: number, code: number, message: string): Answer {
  return {
    status,
    headers: ownMembers({ 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }),
    body: JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null }),
  }
}

import { refusalResponse, type Verifier, type WaitUntil, watchToken } from '@portcullis/core'
import { memberOf, ownMembers } from '@portcullis/kit/options'

import { type Answer, BODY_FAULTS, metadataAnswer, methodAnswer, NO_SESSION } from './answers.ts'
import type { AuthInfo } from './auth-info.ts'
import { readBody } from './call.ts'
import { type CheckedOptions, checkEndpointOptions } from './checked-options.ts'
import { type Admission, createEndpoint } from './endpoint.ts'
import { isEventStream, untilEnded } from './event-stream.ts'
import type { EndpointOptions } from './options.ts'

// The endpoint for the platform's `Request` and `Response`: Hono, Cloudflare Workers, Deno, Bun.

/** What the handler gets beside the request. */
export interface FetchContext {
  /** What the token proves. */
  authInfo: AuthInfo
  /** The body that the endpoint has read, with the option `tools`. */
  parsedBody?: unknown
}

/**
 * What serves an accepted request: `fetch` of what `createMcpHandler` returns, or a function that calls `handleRequest` of a
 * `WebStandardStreamableHTTPServerTransport`. The headers that carry the token are not in the request.
 */
export type FetchHandler = (request: Request, context: FetchContext) => Response | Promise<Response>

/**
 * The endpoint of a server of the Model Context Protocol, as a function from a `Request` to its `Response`: it serves the metadata of
 * the protected resource, lets requests reach the handler only with a token for this resource, and ends open streams with their token.
 * It answers 404 for other paths.
 *
 * As the `fetch` of Cloudflare Workers it gets the execution context as its third argument, and gives it what goes on behind the
 * response, such as a renewal of the keys. Hono's `mount` hands it on.
 *
 * @throws TypeError for a wrong, misspelt or missing option, and for a verifier with `audience: null`.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 */
export function fetchEndpoint(
  verifier: Verifier<unknown>,
  options: EndpointOptions<Request>,
  handler: FetchHandler,
): (
  request: Request,
  env?: unknown,
  context?: { waitUntil(work: Promise<unknown>): void },
) => Promise<Response> {
  const checked = checkEndpointOptions('fetchEndpoint', verifier, options, 'mcp-fetch')
  if (typeof handler !== 'function') {
    throw new TypeError('fetchEndpoint: the third argument must be a function')
  }
  const endpoint = createEndpoint(verifier, checked)

  async function serve(asked: Request, context: unknown): Promise<Response> {
    const sessionId = asked.headers.get('mcp-session-id') ?? undefined
    const bare = headersWithoutToken(asked)
    const isRead = asked.bodyUsed || asked.body?.locked === true
    const { signal } = asked
    const isWrittenAnew = checked.tools !== undefined && asked.method === 'POST'
    // Handlers and `onRefusal` know the request by this object. One that no handler gets follows no signal: that takes as long as half of the rest.
    const subject = requestOf(
      asked,
      bare,
      isRead ? null : asked.body,
      isWrittenAnew ? undefined : signal,
    )
    const admission = await endpoint.admit({
      request: asked,
      subject,
      sessionId,
      waitUntil: waitUntilOf(context),
    })
    if (admission === undefined) return responseOf(NO_SESSION)
    if (isRead) {
      // Mistake `the body of the request was read before fetchEndpoint`: Put middleware that reads bodies behind `fetchEndpoint`,
      // or let it read a clone of the request: a body can be read once.
      throw new TypeError(
        'the body of the request was read before fetchEndpoint: put middleware that reads bodies behind it, or let it read a clone of the request',
      )
    }
    const told: FetchContext = { authInfo: admission.info }
    let request = subject
    if (isWrittenAnew) {
      const read = await bodyOf(subject, checked)
      if (read.fault !== undefined) return responseOf(BODY_FAULTS[read.fault])
      await endpoint.authorize(subject, read.body)
      told.parsedBody = read.body
      // Written anew, so that whoever reads it reads what was judged.
      request = requestOf(asked, bare, JSON.stringify(read.body), signal)
    } else await endpoint.authorize(subject, undefined)
    const response = await handler(request, told)
    const begun = response.headers.get('mcp-session-id') ?? undefined
    const isEnded = asked.method === 'DELETE' && response.ok
    endpoint.answered(admission, { begun, ended: isEnded ? sessionId : undefined })
    const isOpen = response.body !== null && isEventStream(response.headers.get('content-type'))
    if (!isOpen) return response
    // What is only like a request of the platform may have none.
    const leaving = (signal as AbortSignal | null | undefined) ?? subject.signal
    return endingWithToken(response, admission, leaving)
  }

  function endingWithToken(
    response: Response,
    { auth }: Admission,
    leaving: AbortSignal,
  ): Response {
    const source = response.body as ReadableStream<Uint8Array> // it has one
    const body = untilEnded(source, (end) =>
      untilLeft(leaving, end, () => watchToken(verifier, auth, end, { clock: checked.clock })),
    )
    const { status, statusText, headers } = response
    return new Response(body, ownMembers({ status, statusText, headers }))
  }

  return async (request, _env, context) => {
    const { pathname, search } = new URL(request.url)
    const place = endpoint.placeOf(pathname, search)
    if (place === undefined) return new Response('Not Found', ownMembers({ status: 404 }))
    if (place === 'metadata') return responseOf(metadataAnswer(request.method, checked.metadata))
    const refused = methodAnswer(request.method)
    if (refused !== undefined) return responseOf(refused)
    try {
      return await serve(request, context)
    } catch (error) {
      // This throws what is no refusal.
      return refusalResponse(error)
    }
  }
}

/** What a server of another platform gives has none: work is then done while a request waits. */
function waitUntilOf(context: unknown): WaitUntil | undefined {
  if (!isExecutionContext(context)) return undefined
  return (work) => {
    context.waitUntil(work)
  }
}

function isExecutionContext(value: unknown): value is { waitUntil(work: Promise<unknown>): void } {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof memberOf(value, 'waitUntil') === 'function'
  )
}

/** As long as the client is there: not every server cancels a stream that nobody reads any more, or that nobody has ever read. */
function untilLeft(leaving: AbortSignal, end: () => void, watch: () => () => void): () => void {
  // It would not abort a second time.
  if (leaving.aborted) {
    end()
    return () => {}
  }
  const stop = watch()
  const leave = () => {
    stop()
    end()
  }
  leaving.addEventListener('abort', leave)
  return () => {
    leaving.removeEventListener('abort', leave)
    stop()
  }
}

async function bodyOf(request: Request, { maxBodySize }: CheckedOptions) {
  return await readBody(request.body ?? NO_CHUNKS, maxBodySize)
}

const NO_CHUNKS: AsyncIterable<Uint8Array> = {
  async *[Symbol.asyncIterator]() {
    // There is no body.
  },
}

/** What carries the token or proves who sends it. Nothing behind the guard needs them, and a proxy would pass them on. */
function headersWithoutToken({ headers }: Request): Headers {
  const copy = new Headers(headers)
  copy.delete('authorization')
  copy.delete('dpop')
  return copy
}

/** Not made from the request itself, since that of some servers only looks like one of the platform. */
function requestOf(
  { url, method }: Request,
  headers: Headers,
  body: ReadableStream<Uint8Array> | string | null,
  signal: AbortSignal | undefined,
): Request {
  const hasBody = body !== null && method !== 'GET' && method !== 'HEAD'
  const init = { method, headers, signal, ...(hasBody ? { body, duplex: 'half' } : {}) }
  return new Request(url, ownMembers(init) as RequestInit)
}

function responseOf({ status, headers, body }: Answer): Response {
  return new Response(body ?? null, ownMembers({ status, headers }))
}

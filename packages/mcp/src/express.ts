import type { IncomingMessage, ServerResponse } from 'node:http'

import { refusal, type Verifier, watchToken } from '@portcullis/core'
import { targetOf } from '@portcullis/core/adapter'
import { closeUnread } from '@portcullis/kit/http'
import { own, ownMembers } from '@portcullis/kit/options'

import { type Answer, BODY_FAULTS, metadataAnswer, methodAnswer, NO_SESSION } from './answers.ts'
import type { AuthInfo } from './auth-info.ts'
import { bodyOf, copyOf, readBody } from './call.ts'
import { type CheckedOptions, checkEndpointOptions } from './checked-options.ts'
import { type Admission, createEndpoint } from './endpoint.ts'
import { isEventStream } from './event-stream.ts'
import type { EndpointOptions } from './options.ts'
import { hasLeft, watchHead } from './response-head.ts'

// The endpoint for Express 5 and 4, and for every server of `node:http`: how it is given a request, and how it answers.

/** What every request has behind the endpoint. */
export interface AcceptedRequest {
  readonly auth: AuthInfo
  readonly method: string
  readonly url: string
}

/**
 * What serves an accepted request: what `toNodeHandler` of the SDK returns, or a function that calls `handleRequest` of its transport
 * with these three. In `request.auth` is the {@link AuthInfo}; the headers that carry the token are gone.
 *
 * @param body The parsed body, if somebody has parsed it: the endpoint does with the option `tools`. The SDK must get it.
 */
export type NodeHandler<Request extends IncomingMessage, Response extends ServerResponse> = (
  request: Request & AcceptedRequest,
  response: Response,
  body: unknown,
) => unknown

/** Middleware of Express 5 and 4. It uses only types of `node:http`, so that the types of both versions accept it. */
export type Middleware<Request extends IncomingMessage, Response extends ServerResponse> = (
  request: Request,
  response: Response,
  next: (error?: unknown) => void,
) => void

/**
 * The endpoint of a server of the Model Context Protocol, as middleware of Express: it serves the metadata of the protected resource,
 * lets requests reach the handler only with a token for this resource, and ends open streams with their token. Requests for other paths
 * go on.
 *
 * The handler is nowhere else reachable: so no spelling of its path gets around the guard. Put `app.use(expressEndpoint(...))` at the
 * root of the application, since the metadata are there as well.
 *
 * @throws TypeError for a wrong, misspelt or missing option, and for a verifier with `audience: null`.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 */
export function expressEndpoint<
  Request extends IncomingMessage = IncomingMessage,
  Response extends ServerResponse = ServerResponse,
>(
  verifier: Verifier<unknown>,
  options: EndpointOptions<Request>,
  handler: NodeHandler<Request, Response>,
): Middleware<NoInfer<Request>, NoInfer<Response>> {
  const checked = checkEndpointOptions('expressEndpoint', verifier, options, 'mcp-express')
  if (typeof handler !== 'function') {
    throw new TypeError('expressEndpoint: the third argument must be a function')
  }
  const endpoint = createEndpoint(verifier, checked)

  async function serve(request: Request, response: Response): Promise<void> {
    const sessionId = headerOf(request, 'mcp-session-id')
    const admission = await endpoint.admit({ request, subject: request, sessionId })
    if (admission === undefined) {
      send(response, NO_SESSION)
      return
    }
    const read = await bodyFor(request, checked)
    if (read.fault !== undefined) {
      if (read.fault === 'unfinished') response.destroy()
      else {
        closeUnread(request, response)
        send(response, BODY_FAULTS[read.fault])
      }
      return
    }
    await endpoint.authorize(request, read.body)
    hideToken(request)
    const ending = request.method === 'DELETE' ? sessionId : undefined
    watchHead(response, ({ status, begun, contentType }) => {
      endpoint.answered(admission, { begun, ended: status < 300 ? ending : undefined })
      if (isEventStream(contentType)) endWithToken(response, admission)
    })
    // Handlers of Express read it there as well: it must be the one that was judged.
    if (read.body !== undefined && Object.hasOwn(request, 'body')) showBody(request, read.body)
    await handler(accepted(request, admission.info), response, read.body)
  }

  function endWithToken(response: Response, { auth }: Admission): void {
    if (hasLeft(response)) {
      // There will be no `close` any more that could end the watch.
      response.destroy()
      return
    }
    // Not `end()`: what the SDK writes after it would be an error that nobody handles, and a cut answer must not look like a whole one.
    const stop = watchToken(verifier, auth, () => response.destroy(), { clock: checked.clock })
    response.once('close', stop)
  }

  return (request, response, next) => {
    const [, path = '', query = ''] = TARGET.exec(targetOf(request, request)) ?? []
    const place = endpoint.placeOf(path, query)
    const method = request.method ?? ''
    const refused = methodAnswer(method)
    if (place === undefined) next()
    else if (place === 'metadata') send(response, metadataAnswer(method, checked.metadata))
    else if (refused !== undefined) send(response, refused)
    else {
      serve(request, response).catch((error: unknown) => {
        const answer = refusal(error)
        if (answer === undefined || response.headersSent) next(error)
        else send(response, answer)
      })
    }
  }
}

/** A path, and a query with its question mark. */
const TARGET = /^([^?]*)(.*)$/s

const NOT_READ = { body: undefined, fault: undefined } as const

/** Where calls of tools are judged, the body has to be known: what nobody has parsed yet is read here, whatever its type says it is. */
async function bodyFor(request: IncomingMessage, { tools, maxBodySize }: CheckedOptions) {
  const isParsed = request.readableEnded
  const parsed: unknown = isParsed ? own(request as { body?: unknown }, 'body') : undefined
  if (tools === undefined || request.method !== 'POST') {
    return parsed === undefined ? NOT_READ : bodyOf(parsed)
  }
  // Its rest is not read: whoever sends too much is answered at once.
  const chunks = request.iterator(ownMembers({ destroyOnReturn: false }))
  return isParsed
    ? copyOf(parsed)
    : await readBody(chunks as AsyncIterable<Uint8Array>, maxBodySize)
}

function showBody(request: IncomingMessage, body: object): void {
  const value = { value: body, writable: true, enumerable: true, configurable: true }
  Object.defineProperty(request, 'body', ownMembers(value))
}

/** What carries the token or proves who sends it. Nothing behind the guard needs them, and a proxy would pass them on. */
const CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'dpop'])

/** In place: Express and the SDK read `headers` and `rawHeaders` of this very object. */
function hideToken({ headers, rawHeaders }: IncomingMessage): void {
  for (const name of CREDENTIALS) Reflect.deleteProperty(headers, name)
  for (let at = rawHeaders.length - 2; at >= 0; at -= 2) {
    if (CREDENTIALS.has(rawHeaders[at]?.toLowerCase() ?? '')) rawHeaders.splice(at, 2)
  }
}

function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = own(headers, name)
  return Array.isArray(value) ? value.join(', ') : value
}

function send(response: ServerResponse, { status, headers, body }: Answer): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  response.statusCode = status
  response.end(body)
}

/** A property of the request itself: one that is assigned could end in a setter, or be hidden by a prototype. */
function accepted<Request extends object>(request: Request, value: AuthInfo) {
  const property = ownMembers({ value, writable: true, enumerable: true, configurable: true })
  // `node:http` gives every request of a server the other two.
  return Object.defineProperty(request, 'auth', property) as Request & AcceptedRequest
}

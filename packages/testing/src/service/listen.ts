import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isIPv6 } from 'node:net'

import { checkOptions, isFunction, isText } from '@portcullis/kit/options'

// Serves a handler of `Request` and `Response` over `node:http`, with limits for what clients send.

export interface ListenOptions {
  /**
   * The port to listen on; 0 takes a free one.
   * @default 0
   */
  port?: number | undefined
  /**
   * The address to listen on, or its name. With any but the loopback, other machines of the network can log in, too.
   * @default '127.0.0.1'
   */
  host?: string | undefined
  /** Called before the service answers. Its own answers are not in the log of requests, and no outage affects them. */
  routes?: Routes | undefined
}

/** A service over HTTP. */
export interface ListeningTokenService extends AsyncDisposable {
  /** Such as `http://127.0.0.1:49152`. If the host means all addresses, it has the loopback address. */
  readonly url: string
  /** Ends the server and every connection to it. */
  close(): Promise<void>
  readonly authUrl: string
  readonly keyUrl: string
}

/** The origin of every request that a handler gets: handlers look at the path alone. */
const ORIGIN = 'http://127.0.0.1'
const MAX_BODY_OCTETS = 1024 * 1024

/** Answers a request. The signal is aborted when the client closes the connection. */
export type Handler = (request: Request, signal: AbortSignal) => Promise<Response>

/**
 * Answers a request, or returns `undefined` to let the service answer. The URL of the request always has the host 127.0.0.1;
 * the host that the client asked for is in the header `host`. The signal is aborted when the client closes the connection. The
 * address is the client's, such as `127.0.0.1`.
 */
export type Routes = (
  request: Request,
  signal: AbortSignal,
  address: string,
) => Response | undefined | Promise<Response | undefined>

/**
 * Serves a WHATWG request handler over HTTP. A handler that fails ends the connection.
 *
 * @throws TypeError for a wrong or misspelt option.
 */
export async function listen(
  handle: Handler,
  options: ListenOptions = {},
): Promise<Omit<ListeningTokenService, 'authUrl' | 'keyUrl'>> {
  checkOptions('listen', options, {
    port: (value) =>
      Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65_535
        ? undefined
        : 'must be a port from 0 to 65535',
    host: isText,
    routes: isFunction,
  })
  const { port = 0, host = '127.0.0.1', routes } = options
  // Only here: not every runtime that a service can answer on has it.
  const { createServer } = await import('node:http')
  const server = createServer((request, response) => {
    const { socket } = request
    const { remoteAddress = '' } = socket
    const answer: Handler = async (...asked) =>
      (await routes?.(...asked, remoteAddress)) ?? (await handle(...asked))
    serve(answer, request, response).catch(() => {
      // A reset could discard what was sent but not yet read, so it is only for answers that have not begun.
      if (response.headersSent) response.destroy()
      else socket.resetAndDestroy()
    })
  })
  server.listen(port, host)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new TypeError('listen: not a port')

  let closed: Promise<unknown> | undefined
  async function close(): Promise<void> {
    if (closed === undefined) {
      closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
    }
    await closed
  }

  return { url: urlOf(host, address.port), close, [Symbol.asyncDispose]: close }
}

function urlOf(host: string, port: number): string {
  // All addresses: an address to listen on, but none to connect to.
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`
}

async function serve(handle: Handler, request: IncomingMessage, response: ServerResponse) {
  const controller = new AbortController()
  response.once('close', () => {
    controller.abort()
  })
  const { signal } = controller
  const { status, headers, body } = await handle(await toRequest(request), signal)
  response.writeHead(status, [...headers].flat())
  // Node would keep them until the body begins, and a stream of events may be silent for long.
  response.flushHeaders()
  // If the client leaves, the signal ends the body, which may be endless. If the body fails, all before it has been sent.
  await body?.pipeTo(new WritableStream({ write: sender(response) }), { signal })
  response.end()
}

function sender(response: ServerResponse): (chunk: Uint8Array) => Promise<void> {
  return async (chunk) => {
    await new Promise<void>((resolve, reject) => {
      response.write(chunk, (error) => {
        if (error) reject(error)
        else resolve()
      })
    })
  }
}

async function toRequest(message: IncomingMessage): Promise<Request> {
  const headers = new Headers()
  for (const [name, values] of Object.entries(message.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value)
  }
  const { method = 'GET', url: target = '/' } = message
  // Joined as text: resolved as a reference, a path that begins with `//` would name a host.
  const url = new URL(target.startsWith('/') ? `${ORIGIN}${target}` : target, ORIGIN)
  if (method === 'TRACE') {
    // `Request` forbids this method (Fetch Standard, section 2.2.1), but servers receive it.
    return Object.defineProperty(new Request(url, { headers }), 'method', { value: method })
  }
  const hasBody = method !== 'GET' && method !== 'HEAD'
  return new Request(url, { method, headers, body: hasBody ? await readBody(message) : null })
}

async function readBody(message: IncomingMessage): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of message as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BODY_OCTETS) throw new RangeError('the request body is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

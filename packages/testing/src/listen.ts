import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

export interface ListenOptions {
  /**
   * A port of 127.0.0.1; 0 takes any that is free.
   * @default 0
   */
  port?: number | undefined
}

export interface Listener extends AsyncDisposable {
  /** Such as `http://127.0.0.1:49152`. */
  readonly url: string
  /** Ends the server and every connection to it. */
  close(): Promise<void>
}

const MAX_BODY_OCTETS = 1024 * 1024

/** Serves a WHATWG request handler over HTTP on the loopback. */
export async function listen(
  handle: (request: Request) => Promise<Response>,
  { port = 0 }: ListenOptions = {},
): Promise<Listener> {
  const server = createServer((request, response) => {
    serve(handle, request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : undefined)
    })
  })
  server.listen(port, '127.0.0.1')
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

  return { url: `http://127.0.0.1:${address.port}`, close, [Symbol.asyncDispose]: close }
}

async function serve(
  handle: (request: Request) => Promise<Response>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { status, headers, body } = await handle(await toRequest(request))
  response.writeHead(status, [...headers].flat())
  // A client that leaves ends the body, which may have no end of its own.
  if (body === null) response.end()
  else await pipeline(Readable.fromWeb(body), response)
}

async function toRequest(message: IncomingMessage): Promise<Request> {
  const headers = new Headers()
  for (const [name, values] of Object.entries(message.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value)
  }
  const method = message.method ?? 'GET'
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const url = new URL(message.url ?? '/', 'http://127.0.0.1')
  return new Request(url, { method, headers, body: hasBody ? await readBody(message) : null })
}

async function readBody(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of message as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BODY_OCTETS) throw new RangeError('the request body is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

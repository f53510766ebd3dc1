import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

export interface TestServer extends AsyncDisposable {
  /** Such as `http://127.0.0.1:49152`. */
  readonly url: string
  /** The headers of the requests, in their order. */
  readonly requests: readonly IncomingMessage[]
}

/** Serves a handler on a free port of the loopback. */
export async function serve(
  handle: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<TestServer> {
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => {
    requests.push(request)
    handle(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new TypeError('not a port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

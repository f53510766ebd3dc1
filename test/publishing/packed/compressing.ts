import { once } from 'node:events'
import { createServer } from 'node:http'
import { gzipSync } from 'node:zlib'

/** What stands in front of a service, and compresses each answer, whatever the client wants: some networks for content do. */
export async function compressing(origin: string): Promise<AsyncDisposable & { url: string }> {
  const server = createServer((request, response) => {
    void (async () => {
      const answer = await fetch(new URL(request.url ?? '', origin))
      const body = gzipSync(Buffer.from(await answer.arrayBuffer()))
      const headers = {
        'content-type': answer.headers.get('content-type') ?? '',
        'content-encoding': 'gzip',
      }
      response.writeHead(answer.status, headers).end(body)
    })()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new TypeError('not a port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

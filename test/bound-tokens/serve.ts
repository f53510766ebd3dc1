import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'

import type { Certificate } from '../certificate.ts'

export interface Served extends AsyncDisposable {
  readonly url: string
}

/**
 * Serves something on a free port of 127.0.0.1.
 *
 * @param create Gets the URL, which guards and issuers must know.
 * @param certificate With it over TLS, where clients may show certificates of their own.
 */
export async function serve(
  create: (url: string) => RequestListener | Promise<RequestListener>,
  certificate?: Certificate,
): Promise<Served> {
  let handle: RequestListener | undefined
  const listener: RequestListener = (request, response) => handle?.(request, response)
  const server =
    certificate === undefined
      ? createServer(listener)
      : createTlsServer(
          {
            cert: certificate.cert,
            key: certificate.key,
            requestCert: true,
            // One that signs itself will do: a token is bound to this certificate and no other.
            rejectUnauthorized: false,
          },
          listener,
        )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it listens on a port
  const url = `${certificate === undefined ? 'http' : 'https'}://127.0.0.1:${port}`
  handle = await create(url)
  return {
    url,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

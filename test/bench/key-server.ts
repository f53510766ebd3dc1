import { once } from 'node:events'
import { createServer } from 'node:http'

import { claims, type PublicJwk } from './inputs.ts'

/** Where the key is: as a set at the well-known path, and bare as the token service serves it. */
export interface KeyUrls {
  /** What `get-jwks` calls a domain. */
  readonly domain: string
  readonly set: string
  readonly bare: string
  /** Answers every token as active. RFC 7662. */
  readonly introspection: string
}

/** A key endpoint on the loopback, in real time. */
export interface KeyServer {
  readonly urls: KeyUrls
  answerAfter(milliseconds: number): void
  /** From now on these keys are in the set. */
  publish(keys: readonly PublicJwk[]): void
  /** Requests that have no answer yet. */
  pending(): number
  close(): void
}

const SET_PATH = '/.well-known/jwks.json'
const BARE_PATH = '/tokenservice/pubkey.json'
const INTROSPECTION_PATH = '/introspect'

export async function listenForKeys(jwk: PublicJwk): Promise<KeyServer> {
  let set: readonly PublicJwk[] = [jwk]
  let [delay, pending] = [0, 0]
  const active = JSON.stringify({ active: true, token_type: 'Bearer', ...claims(0) })
  const server = createServer((request, response) => {
    const { url } = request
    if (url === INTROSPECTION_PATH) {
      request.resume().once('end', () => {
        response.writeHead(200, { 'content-type': 'application/json' }).end(active)
      })
      return
    }
    const document = JSON.stringify(url === SET_PATH ? { keys: set } : jwk)
    pending += 1
    setTimeout(() => {
      pending -= 1
      response.writeHead(200, { 'content-type': 'application/json' }).end(document)
    }, delay)
  })
  // A benchmark keeps the event loop from its turns for seconds: an idle connection has to outlive that.
  server.keepAliveTimeout = 0
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new TypeError('not a port')
  const domain = `http://127.0.0.1:${address.port}`
  return {
    urls: {
      domain,
      set: `${domain}${SET_PATH}`,
      bare: `${domain}${BARE_PATH}`,
      introspection: `${domain}${INTROSPECTION_PATH}`,
    },
    answerAfter(milliseconds) {
      delay = milliseconds
    },
    publish(keys) {
      set = keys
    },
    pending: () => pending,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

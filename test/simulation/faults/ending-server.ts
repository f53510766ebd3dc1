import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How a server ends a connection. */
export type Ending = 'FIN' | 'RST'

/** A server that keeps connections as a client expects, until it is told to end them. */
export interface EndingServer extends AsyncDisposable {
  /** Such as `http://127.0.0.1:49152`. */
  readonly url: string
  /** The bodies of requests that were answered, and of those that met the end of their connection. */
  readonly answered: readonly string[]
  readonly lost: readonly string[]
  /** Resolves with the next answer. */
  nextAnswer(): Promise<void>
  /**
   * Each connection that was used so far ends when a request comes on it. A client that has not yet heard of the end sees just that.
   *
   * @param ofNew Whether later connections end in the same way.
   * @returns How many have been used.
   */
  endConnections(how: Ending, ofNew?: boolean): number
}

export async function createEndingServer(
  answer: (request: IncomingMessage, response: ServerResponse, body: string) => void,
): Promise<EndingServer> {
  const events = new EventEmitter()
  const used = new Set<Socket>()
  const answered: string[] = []
  const lost: string[] = []
  let ending: { readonly how: Ending; readonly isOf: (socket: Socket) => boolean } | undefined

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request
    const body = (await request.setEncoding('utf8').toArray()).join('')
    if (ending?.isOf(socket) === true) {
      lost.push(body)
      if (ending.how === 'RST') socket.resetAndDestroy()
      else socket.destroy()
      return
    }
    used.add(socket)
    answered.push(body)
    answer(request, response, body)
    events.emit('answer')
  }

  const server = createServer((request, response) => void take(request, response))
  server.keepAliveTimeout = 0 // it ends connections when it is told to
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new TypeError('not a port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    answered,
    lost,
    async nextAnswer() {
      await once(events, 'answer')
    },
    endConnections(how, ofNew = false) {
      const ended = new Set(used)
      ending = { how, isOf: (socket) => ofNew || ended.has(socket) }
      return ended.size
    },
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

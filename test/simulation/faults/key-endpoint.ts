import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

import type { Clock, Fetch } from '@portcullis/core'
import { manualClock } from '@portcullis/testing'

/** What the endpoint does with one request. It may do so for as long as it likes, or never finish. */
export type Behaviour = (exchange: Exchange) => void | Promise<void>

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly socket: Socket
  /** The client has the status and the headers. */
  readonly heard: Promise<unknown>
  /** Takes its time: moves the clock that the client lives by. */
  readonly pass: (seconds: number) => Promise<void>
}

/** A real server on the loopback, over whose behaviour the test decides. */
export interface KeyEndpoint extends AsyncDisposable {
  readonly url: string
  /** How many requests it has seen. */
  readonly requests: number
  /** The time of everybody in the test, which only `pass` moves. */
  readonly clock: Clock
  /** The platform's own, which lets an exchange know when its answer has been heard. */
  readonly fetch: Fetch
  readonly pass: (seconds: number) => Promise<void>
  /** One behaviour for all requests from now on, or several in turn. */
  answerWith(first: Behaviour, ...others: readonly Behaviour[]): void
  /** Resolves when the connection of the latest request has closed, to how many octets had left on it. */
  closed(): Promise<number>
  /** How many octets of the latest answer's body the client has taken, after decoding. */
  readonly taken: number
}

export async function createKeyEndpoint(): Promise<KeyEndpoint> {
  const clock = manualClock()
  const events = new EventEmitter()
  let behaviours: readonly Behaviour[] = []
  let requests = 0
  let answered = 0
  const closings = new Map<Socket, Promise<number>>()
  let latest: Promise<number> | undefined
  let passing = Promise.resolve()
  let taken = 0

  // One after the other: a clock that two advance at once would go back.
  function pass(seconds: number): Promise<void> {
    passing = passing.then(async () => await clock.advance(seconds))
    return passing
  }

  const server = createServer((request, response) => {
    const { socket } = request
    const behave = behaviours[answered % behaviours.length]
    requests += 1
    answered += 1
    latest = closings.get(socket)
    void behave?.({ request, response, socket, heard: once(events, 'heard'), pass })
  })
  server.on('connection', (socket) => {
    const closed = new Promise<number>((resolve) => {
      socket.once('close', () => {
        resolve(socket.bytesWritten)
      })
    })
    closings.set(socket, closed)
  })
  server.keepAliveTimeout = 0 // it is the client who hangs up
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new TypeError('not a port')

  return {
    url: `http://127.0.0.1:${address.port}/keys.json`,
    clock,
    pass,
    get requests() {
      return requests
    },
    async fetch(url, init) {
      const response = await globalThis.fetch(url, init)
      taken = 0
      if (response.body !== null) countChunks(response.body, (octets) => (taken += octets))
      events.emit('heard')
      return response
    },
    get taken() {
      return taken
    },
    answerWith(...these) {
      behaviours = these
      answered = 0
    },
    async closed() {
      if (latest === undefined) throw new TypeError('closed: there has been no request')
      return await latest
    },
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

function countChunks(body: ReadableStream<Uint8Array>, count: (octets: number) => void): void {
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of body.values()) {
      count(chunk.length)
      yield chunk
    }
  }
  Object.defineProperty(body, Symbol.asyncIterator, { value: counted })
}

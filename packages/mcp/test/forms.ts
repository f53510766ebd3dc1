import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'

import { getRequestListener } from '@hono/node-server'
import type { Verifier } from '@portcullis/core'
import express from 'express'

import {
  type AuthInfo,
  type EndpointOptions,
  expressEndpoint,
  fetchEndpoint,
} from '../src/index.ts'

// Both forms of the endpoint on a port, with one handler that both call.

/** What the handler behind an endpoint sees of a request. */
export interface Seen {
  readonly method: string
  readonly authInfo: AuthInfo
  readonly body: unknown
  /** By name, in lower case. */
  readonly headers: ReadonlyMap<string, string>
}

/** What it answers with. */
export interface Reply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly stream?: ReadableStream<Uint8Array>
}

export type Handle = (seen: Seen) => Reply

export type Create = (
  verifier: Verifier<unknown>,
  options: EndpointOptions,
  handle: Handle,
) => RequestListener

async function answerOn(response: ServerResponse, reply: Reply): Promise<void> {
  response.writeHead(reply.status ?? 200, reply.headers ?? {})
  if (reply.stream === undefined) {
    response.end(reply.body ?? '')
    return
  }
  response.flushHeaders()
  for await (const chunk of reply.stream) response.write(chunk)
  response.end()
}

const node: Create = (verifier, options, handle) => {
  const app = express().set('env', 'test').disable('x-powered-by')
  const endpoint = expressEndpoint(verifier, options, async (request, response, body) => {
    const seen = {
      method: request.method,
      authInfo: request.auth,
      body,
      headers: headersOf(request.rawHeaders),
    }
    await answerOn(response, handle(seen))
  })
  return app.use(endpoint)
}

function headersOf(raw: readonly string[]): ReadonlyMap<string, string> {
  const headers = new Map<string, string>()
  for (let at = 0; at < raw.length; at += 2) {
    headers.set((raw[at] ?? '').toLowerCase(), raw[at + 1] ?? '')
  }
  return headers
}

const platform: Create = (verifier, options, handle) => {
  const endpoint = fetchEndpoint(verifier, options, (request, { authInfo, parsedBody }) => {
    const { method, headers } = request
    const reply = handle({ method, authInfo, body: parsedBody, headers: new Map(headers) })
    const { status = 200 } = reply
    return new Response(reply.stream ?? reply.body ?? '', { status, headers: reply.headers ?? {} })
  })
  const listener = getRequestListener(endpoint, { overrideGlobalObjects: false })
  return (request, response) => void listener(request, response)
}

export const FORMS: readonly (readonly [name: string, create: Create])[] = [
  ['expressEndpoint', node],
  ['fetchEndpoint', platform],
]

export interface Listening extends AsyncDisposable {
  readonly port: number
  readonly url: string
  /** How many clients are connected. */
  connections(): Promise<number>
}

export async function listening(listener: RequestListener): Promise<Listening> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it listens on a port
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    connections: async () => await promisify(server.getConnections.bind(server))(),
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

import { type IncomingMessage, request as requestOverHttp, type RequestListener } from 'node:http'

import { getRequestListener } from '@hono/node-server'
import { toNodeHandler } from '@modelcontextprotocol/node'
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  isLegacyRequest,
  localhostAllowedHostnames,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { createVerifier } from '@portcullis/core'
import { expressEndpoint, fetchEndpoint } from '@portcullis/mcp'
import { createTestIssuer } from '@portcullis/testing'
import express from 'express'

import { serve, type Served } from '../../bound-tokens/serve.ts'
import { everything } from './everything.ts'

// The same server four times: in both forms of the endpoint, and as it is without one.

const issuer = await createTestIssuer({ issuer: 'https://login.example.com', lifetime: 7200 })

/** With sessions for clients of earlier revisions, which are asked questions by their server. */
function createHandler(): (request: Request) => Promise<Response> {
  const modern = createMcpHandler(everything, { legacy: 'reject' })
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()
  return async (request) => {
    // Against DNS rebinding, as the SDK's own servers for one machine do.
    const stranger = hostHeaderValidationResponse(request, localhostAllowedHostnames())
    if (stranger !== undefined) return stranger
    if (!(await isLegacyRequest(request.clone()))) return await modern.fetch(request)
    const id = request.headers.get('mcp-session-id')
    if (id !== null) {
      const known = sessions.get(id)
      return (await known?.handleRequest(request)) ?? new Response(undefined, { status: 404 })
    }
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (begun) => void sessions.set(begun, transport),
      onsessionclosed: (closed) => void sessions.delete(closed),
    })
    await everything().connect(transport)
    return await transport.handleRequest(request)
  }
}

const listenerOf = (handle: (request: Request) => Promise<Response>): RequestListener => {
  const listener = getRequestListener(handle, { overrideGlobalObjects: false })
  return (request, response) => void listener(request, response)
}

type Kind = (resource: string) => RequestListener

interface Asked {
  readonly method: string
  readonly url: string
}

const guarding = (resource: string) => ({
  verifier: createVerifier({ ...issuer.verifierOptions, audience: resource }),
  options: { resource, authorizationServers: ['https://login.example.com'] },
})

/** By what the table calls them. */
export const SERVERS: Readonly<Record<string, { readonly bare: Kind; readonly guarded: Kind }>> = {
  expressEndpoint: {
    bare() {
      const handler = toNodeHandler({ fetch: createHandler() })
      return express().all('/mcp', (request: IncomingMessage, response) => {
        // Each request of a server has both.
        void handler(request as IncomingMessage & Asked, response)
      })
    },
    guarded(resource) {
      const { verifier, options } = guarding(resource)
      const handler = toNodeHandler({ fetch: createHandler() })
      return express().use(expressEndpoint(verifier, options, handler))
    },
  },
  fetchEndpoint: {
    bare: () => listenerOf(createHandler()),
    guarded(resource) {
      const { verifier, options } = guarding(resource)
      const endpoint = fetchEndpoint(verifier, options, createHandler())
      return listenerOf(async (request) => await endpoint(request))
    },
  },
}

export interface Suited extends AsyncDisposable {
  readonly url: string
}

/** @param isGuarded With a relay before it that adds a token: the suite has none. */
export async function startServer(kind: Kind, isGuarded: boolean): Promise<Suited> {
  const served = await serve((url) => kind(`${url}/mcp`))
  if (!isGuarded) return { ...served, url: `${served.url}/mcp` }
  const token = await issuer.token({ claims: { sub: 'suite', aud: `${served.url}/mcp` } })
  const relay = await relayTo(served, token)
  return {
    url: `${relay.url}/mcp`,
    async [Symbol.asyncDispose]() {
      await relay[Symbol.asyncDispose]()
      await served[Symbol.asyncDispose]()
    },
  }
}

/** Passes everything on as it is, but for the header with the token. */
async function relayTo({ url }: Served, token: string): Promise<Served> {
  return await serve(() => (request, response) => {
    const { method, headers, url: path } = request
    const sent = { ...headers, authorization: `Bearer ${token}` }
    const onward = requestOverHttp(`${url}${path}`, { method, headers: sent }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
      response.flushHeaders()
      answer.pipe(response)
      answer.on('error', () => response.destroy())
    })
    onward.on('error', () => response.destroy())
    response.on('close', () => onward.destroy())
    request.pipe(onward)
  })
}

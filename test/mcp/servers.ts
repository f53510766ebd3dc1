import { randomUUID } from 'node:crypto'
import type { RequestListener } from 'node:http'

import { getRequestListener } from '@hono/node-server'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { McpServer as McpServer1 } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { createMcpHandler, McpServer as McpServer2 } from '@modelcontextprotocol/server'
import type { Verifier } from '@portcullis/core'
import {
  type AuthInfo,
  type EndpointOptions,
  expressEndpoint,
  fetchEndpoint,
  type FetchHandler,
} from '@portcullis/mcp'
import express from 'express'
import express4 from 'express4'

import { serve, type Served } from '../bound-tokens/serve.ts'

// Servers of the Model Context Protocol with the same tools, in both forms of the endpoint and both majors of the SDK. Those of the first
// have sessions, those of the second have none.

/** What a tool sees: the claims, the scopes, and whether any header of the request has a token. */
export type Tool = (
  authInfo: AuthInfo | undefined,
  headers: Iterable<readonly [string, unknown]>,
) => unknown

type Tools = Readonly<Record<string, Tool>>

const TOOLS: Tools = {
  whoami: (authInfo, headers) => ({
    user: authInfo?.extra['sub'],
    clientId: authInfo?.clientId,
    scopes: authInfo?.scopes,
    resource: authInfo?.resource.href,
    hasToken: authInfo?.token !== undefined,
    headers: [...headers]
      .map(([name]) => name)
      .filter((each) => /^(?:authorization|dpop)$/i.test(each)),
  }),
  write: () => 'written',
}

export interface ServerKind {
  readonly name: string
  readonly major: 1 | 2
  readonly createListener: (
    verifier: Verifier,
    options: EndpointOptions,
    tools: Tools,
  ) => RequestListener
}

export interface McpServed extends Served {
  readonly resource: string
}

type Options = Omit<EndpointOptions, 'resource'>

export async function startServer(
  { createListener }: ServerKind,
  createVerifier: (resource: string) => Verifier,
  options: Options | ((url: string) => Options),
  tools: Tools = {},
): Promise<McpServed> {
  let resource = ''
  const served = await serve((url) => {
    resource = `${url}/mcp`
    const stated = typeof options === 'function' ? options(url) : options
    return createListener(createVerifier(resource), { ...stated, resource }, { ...TOOLS, ...tools })
  })
  return { ...served, resource, [Symbol.asyncDispose]: served[Symbol.asyncDispose] }
}

const text = (value: unknown) => ({
  content: [{ type: 'text' as const, text: JSON.stringify(value) }],
})

function createServer2(tools: Tools): McpServer2 {
  const server = new McpServer2({ name: 'example', version: '2.0.0' })
  for (const [name, tool] of Object.entries(tools)) {
    server.registerTool(name, { description: name }, async ({ http }) =>
      text(await tool(http?.authInfo as AuthInfo | undefined, http?.req?.headers ?? [])),
    )
  }
  // A tool that goes on telling how far it is, and never comes to an end.
  server.registerTool('endless', { description: 'endless' }, async ({ mcpReq }) => {
    const { _meta: meta } = mcpReq
    const progressToken = meta?.progressToken ?? 'none'
    await mcpReq.notify({
      method: 'notifications/progress',
      params: { progressToken, progress: 1 },
    })
    return await new Promise<never>(() => {})
  })
  return server
}

function createServer1(tools: Tools): McpServer1 {
  const server = new McpServer1({ name: 'example', version: '1.0.0' })
  for (const [name, tool] of Object.entries(tools)) {
    server.registerTool(name, { description: name }, async ({ authInfo, requestInfo }) =>
      text(
        await tool(authInfo as AuthInfo | undefined, Object.entries(requestInfo?.headers ?? {})),
      ),
    )
  }
  server.registerTool(
    'endless',
    { description: 'endless' },
    async ({ sendNotification, _meta }) => {
      const progressToken = _meta?.progressToken ?? 'none'
      await sendNotification({
        method: 'notifications/progress',
        params: { progressToken, progress: 1 },
      })
      return await new Promise<never>(() => {})
    },
  )
  return server
}

const listenerOf = (handle: (request: Request) => Promise<Response>): RequestListener => {
  const listener = getRequestListener(handle, { overrideGlobalObjects: false })
  return (request, response) => void listener(request, response)
}

/** As the examples of the first major keep their sessions: by id, in a map. */
function nodeSessions(tools: Tools) {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  return async (
    ...[request, response, body]: Parameters<StreamableHTTPServerTransport['handleRequest']>
  ) => {
    const id = request.headers['mcp-session-id']
    let transport = sessions.get(String(id))
    if (transport === undefined) {
      const created = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (begun) => void sessions.set(begun, created),
      })
      await createServer1(tools).connect(created)
      transport = created
    }
    await transport.handleRequest(request, response, body)
  }
}

function fetchSessions(tools: Tools): FetchHandler {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()
  return async (request, context) => {
    const id = request.headers.get('mcp-session-id')
    let transport = sessions.get(String(id))
    if (transport === undefined) {
      const created = new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (begun) => void sessions.set(begun, created),
      })
      await createServer1(tools).connect(created)
      transport = created
    }
    return await transport.handleRequest(request, context)
  }
}

export const SERVERS: readonly ServerKind[] = [
  {
    name: 'Express 5 with SDK 2',
    major: 2,
    createListener: (verifier, options, tools) =>
      express()
        .set('env', 'test')
        .use(
          expressEndpoint(
            verifier,
            options,
            toNodeHandler(createMcpHandler(() => createServer2(tools))),
          ),
        ),
  },
  {
    name: 'Request with SDK 2',
    major: 2,
    createListener: (verifier, options, tools) =>
      listenerOf(
        fetchEndpoint(verifier, options, createMcpHandler(() => createServer2(tools)).fetch),
      ),
  },
  {
    name: 'Express 4 with SDK 1 and a parser of bodies',
    major: 1,
    createListener: (verifier, options, tools) =>
      express4()
        .set('env', 'test')
        .use(
          express4.json(),
          expressEndpoint(verifier, options, nodeSessions(tools)),
        ) as RequestListener,
  },
  {
    name: 'Request with SDK 1',
    major: 1,
    createListener: (verifier, options, tools) =>
      listenerOf(fetchEndpoint(verifier, options, fetchSessions(tools))),
  },
]

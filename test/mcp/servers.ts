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
import * as zod3 from 'portcullis-test-zod3'
import * as zod4 from 'portcullis-test-zod4'

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

/** The resource is the URL where the server is, unless it is stated. */
type Options = Omit<EndpointOptions, 'resource'> & { readonly resource?: string }

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
    return createListener(createVerifier(resource), { resource, ...stated }, { ...TOOLS, ...tools })
  })
  return { ...served, resource, [Symbol.asyncDispose]: served[Symbol.asyncDispose] }
}

const text = (value: unknown) => ({
  content: [{ type: 'text' as const, text: JSON.stringify(value) }],
})

const sdk1 = {
  McpServer: McpServer1,
  StreamableHTTPServerTransport,
  WebStandardStreamableHTTPServerTransport,
}
const sdk2 = { McpServer: McpServer2, createMcpHandler, toNodeHandler }

function createServer2({ McpServer }: typeof sdk2, tools: Tools): McpServer2 {
  const server = new McpServer({ name: 'example', version: '2.0.0' })
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

function createServer1({ McpServer }: typeof sdk1, tools: Tools): McpServer1 {
  const server = new McpServer({ name: 'example', version: '1.0.0' })
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
function nodeSessions(sdk: typeof sdk1, tools: Tools) {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  return async (
    ...[request, response, body]: Parameters<StreamableHTTPServerTransport['handleRequest']>
  ) => {
    const id = request.headers['mcp-session-id']
    let transport = sessions.get(String(id))
    if (transport === undefined) {
      const created = new sdk.StreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (begun) => void sessions.set(begun, created),
      })
      await createServer1(sdk, tools).connect(created)
      transport = created
    }
    await transport.handleRequest(request, response, body)
  }
}

function fetchSessions(sdk: typeof sdk1, tools: Tools): FetchHandler {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()
  return async (request, context) => {
    const id = request.headers.get('mcp-session-id')
    let transport = sessions.get(String(id))
    if (transport === undefined) {
      const created = new sdk.WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (begun) => void sessions.set(begun, created),
      })
      await createServer1(sdk, tools).connect(created)
      transport = created
    }
    return await transport.handleRequest(request, context)
  }
}

const serversOf = (
  first: typeof sdk1,
  second: typeof sdk2,
  version: string,
): readonly ServerKind[] => [
  {
    name: `Express 5 with SDK 2${version}`,
    major: 2,
    createListener: (verifier, options, tools) =>
      express()
        .set('env', 'test')
        .use(
          expressEndpoint(
            verifier,
            options,
            second.toNodeHandler(second.createMcpHandler(() => createServer2(second, tools))),
          ),
        ),
  },
  {
    name: `Request with SDK 2${version}`,
    major: 2,
    createListener: (verifier, options, tools) =>
      listenerOf(
        fetchEndpoint(
          verifier,
          options,
          second.createMcpHandler(() => createServer2(second, tools)).fetch,
        ),
      ),
  },
  {
    name: `Express 4 with SDK 1${version} and a parser of bodies`,
    major: 1,
    createListener: (verifier, options, tools) =>
      express4()
        .set('env', 'test')
        .use(
          express4.json(),
          expressEndpoint(verifier, options, nodeSessions(first, tools)),
        ) as RequestListener,
  },
  {
    name: `Request with SDK 1${version}`,
    major: 1,
    createListener: (verifier, options, tools) =>
      listenerOf(fetchEndpoint(verifier, options, fetchSessions(first, tools))),
  },
]

export const SERVERS = serversOf(sdk1, sdk2, '')

/** The same with the oldest zod that each major permits: it copies what it reads in other ways. */
export const OLDEST = serversOf(
  zod3 as unknown as typeof sdk1, // the same types, of another copy
  zod4,
  ' and its oldest zod',
)

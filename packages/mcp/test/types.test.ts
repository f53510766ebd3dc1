import { createServer } from 'node:http'

import { toNodeHandler } from '@modelcontextprotocol/node'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { stubVerifier } from '@portcullis/testing'
import express, { type Request as ExpressRequest } from 'express'
import { expect, test } from 'vitest'

import { type EndpointOptions, expressEndpoint, fetchEndpoint } from '../src/index.ts'

// What the compiler must take without a cast, and what it must not.

const verifier = stubVerifier()
const options = { resource: 'https://mcp.test/mcp', authorizationServers: ['https://auth.test'] }
const mcp = createMcpHandler(() => new McpServer({ name: 'test', version: '1.0.0' }))
const node = new StreamableHTTPServerTransport()
const platform = new WebStandardStreamableHTTPServerTransport()

test('what both majors of the SDK serve with is a handler', () => {
  const endpoints = [
    expressEndpoint(verifier, options, toNodeHandler(mcp)),
    expressEndpoint(verifier, options, async (request, response, body) => {
      await node.handleRequest(request, response, body)
    }),
    fetchEndpoint(verifier, options, mcp.fetch),
    fetchEndpoint(verifier, options, async (request, context) => {
      return await platform.handleRequest(request, context)
    }),
  ]
  expect(endpoints).toHaveLength(4)
})

test('Express takes the endpoint, and so does a server of node', () => {
  const endpoint = expressEndpoint(verifier, options, toNodeHandler(mcp))
  const app = express().use(endpoint)
  const typed: EndpointOptions<ExpressRequest> = {
    ...options,
    onRefusal: (_error, { originalUrl }) => originalUrl,
    onForeignSession: (_auth, { ip }) => ip,
  }
  app.use(expressEndpoint(verifier, typed, (request: ExpressRequest) => request.baseUrl))
  const server = createServer((request, response) => {
    endpoint(request, response, () => response.end())
  })
  expect(server.listening).toBe(false)
})

test('a request of node alone is no request of Express', () => {
  const endpoint = expressEndpoint(verifier, options, (request: ExpressRequest) => request.baseUrl)
  // @ts-expect-error -- the handler reads what only Express has
  const server = createServer((request, response) => endpoint(request, response, () => {}))
  expect(server.listening).toBe(false)
})

test('the function of the platform is what Workers export', () => {
  const worker: { readonly fetch: (request: Request) => Promise<Response> } = {
    fetch: fetchEndpoint(verifier, options, mcp.fetch),
  }
  expect(worker.fetch).toBeTypeOf('function')
})

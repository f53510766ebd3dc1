import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import {
  createVerifier,
  discoverKeys,
  protectedResourceMetadata,
  scope,
  type Verifier,
} from '@portcullis/core'
import { authenticate, authorize, getAuth, serveMetadata } from '@portcullis/express'
import express, { type Express } from 'express'

import { authInfo } from './auth-info.ts'

// Here AUTH_URL is the issuer of an OAuth authorization server, and RESOURCE the URL that clients know this server by.
const { AUTH_URL = 'http://127.0.0.1:4010', PORT = '3000' } = process.env
const { RESOURCE = `http://127.0.0.1:${PORT}/mcp` } = process.env

/** The verifier must accept no other audience than `resource`: a token for another server is not for this one. */
export function createApi(verifier: Verifier, resource: string, issuer: string): Express {
  const resourceMetadata = protectedResourceMetadata({
    resource,
    authorizationServers: [issuer],
    scopes: ['tools'],
  })
  const mcp = createMcpHandler(() => {
    const server = new McpServer({ name: 'example', version: '1.0.0' })
    server.registerTool('whoami', { description: 'Who is calling' }, ({ http }) => {
      const { clientId, scopes } = http?.authInfo ?? {}
      return { content: [{ type: 'text', text: JSON.stringify({ clientId, scopes }) }] }
    })
    return server
  })
  const handle = toNodeHandler(mcp)

  const app = express().use(serveMetadata(resourceMetadata))
  // `property`: the SDK looks for its own AuthInfo in `request.auth`.
  const guard = authenticate(verifier, { property: 'bearer', resourceMetadata, respond: 'problem' })
  app.all('/mcp', guard, authorize(scope('tools')), (request, response) => {
    const auth = authInfo(getAuth(request), resource)
    void handle(Object.assign(request, { auth }), response)
  })
  return app
}

const keys = discoverKeys(AUTH_URL)
const verifier = createVerifier({
  keys,
  issuer: AUTH_URL,
  audience: RESOURCE,
  requiredClaims: ['client_id'],
})
export const server = createApi(verifier, RESOURCE, AUTH_URL).listen(Number(PORT), '127.0.0.1')

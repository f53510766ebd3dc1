import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { createVerifier, discoverKeys, scope, type Verifier } from '@portcullis/core'
import { expressEndpoint } from '@portcullis/mcp'
import express, { type Express } from 'express'

// Here AUTH_URL is the issuer of an OAuth authorization server, and RESOURCE the URL that clients know this server by.
const { AUTH_URL = 'http://127.0.0.1:4010', PORT = '3000' } = process.env
const { RESOURCE = `http://127.0.0.1:${PORT}/mcp` } = process.env

const mcp = createMcpHandler(() => {
  const server = new McpServer({ name: 'example', version: '1.0.0' })
  server.registerTool('whoami', { description: 'Who is calling' }, ({ http }) => {
    const { clientId, scopes, extra } = http?.authInfo ?? {}
    const text = JSON.stringify({ user: extra?.['sub'], clientId, scopes })
    return { content: [{ type: 'text', text }] }
  })
  server.registerTool('save', { description: 'Saves something' }, () => {
    return { content: [{ type: 'text', text: 'saved' }] }
  })
  return server
})

/** The verifier must name `resource` as its audience: a token for another server is not for this one. */
export function createApp(verifier: Verifier, resource: string, issuer: string): Express {
  const options = {
    resource,
    authorizationServers: [issuer],
    requirement: scope('tools'), // for every request
    tools: { save: scope('files:write') }, // for calls of this tool in addition
    sessions: false as const, // the handler of the SDK has none
  }
  return express().use(expressEndpoint(verifier, options, toNodeHandler(mcp)))
}

const keys = discoverKeys(AUTH_URL)
const verifier = createVerifier({ keys, issuer: AUTH_URL, audience: RESOURCE })
export const server = createApp(verifier, RESOURCE, AUTH_URL).listen(Number(PORT), '127.0.0.1')

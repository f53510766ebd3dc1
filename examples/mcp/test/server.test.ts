import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { createVerifier } from '@portcullis/core'
import { createTestIssuer, tokenService } from '@portcullis/testing'
import { expect, test, vi } from 'vitest'

// The port is free when the server is asked for it, and its own port is not known before.
vi.stubEnv('PORT', '0')
vi.stubEnv('RESOURCE', 'http://127.0.0.1/mcp')
const { createApp, server } = await import('../src/server.ts')
server.close()

async function portOf(listening: Server): Promise<number> {
  if (!listening.listening) await once(listening, 'listening')
  return (listening.address() as AddressInfo).port // it listens on a port
}

function close(listening: Server): void {
  listening.close()
  listening.closeAllConnections()
}

const ISSUER = 'https://auth.test'
const RESOURCE = 'https://mcp.test/mcp'

async function start() {
  const issuer = await createTestIssuer({ issuer: ISSUER, audience: RESOURCE })
  const verifier = createVerifier(issuer.verifierOptions)
  const listening = createApp(verifier, RESOURCE, ISSUER).listen(0, '127.0.0.1')
  const url = `http://127.0.0.1:${await portOf(listening)}/mcp`
  const connect = async (scopes: string) => {
    const token = await issuer.token({
      claims: { sub: 'ada', client_id: 'robot', scope: scopes },
    })
    const authProvider = { token: async () => await Promise.resolve(token) }
    const client = new Client({ name: 'test', version: '1.0.0' })
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { authProvider }))
    return client
  }
  return {
    connect,
    url,
    [Symbol.dispose]() {
      close(listening)
    },
  }
}

test('a tool knows who is calling', async () => {
  using mcp = await start()
  const client = await mcp.connect('tools more')
  const text = JSON.stringify({ user: 'ada', clientId: 'robot', scopes: ['tools', 'more'] })
  expect((await client.callTool({ name: 'whoami' })).content).toEqual([{ type: 'text', text }])
  await client.close()
})

test('a tool that needs more scope is called with it', async () => {
  using mcp = await start()
  const client = await mcp.connect('tools')
  await expect(client.callTool({ name: 'save' })).rejects.toThrow(/scope/)
  await client.close()
  const permitted = await mcp.connect('tools files:write')
  const result = await permitted.callTool({ name: 'save' })
  expect(result.content).toEqual([{ type: 'text', text: 'saved' }])
  await permitted.close()
})

test('a client without a token learns where to get one', async () => {
  using mcp = await start()
  const answer = await fetch(mcp.url, { method: 'POST', body: '{}' })
  expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
    401,
    'Bearer realm="api", scope="tools", resource_metadata="https://mcp.test/.well-known/oauth-protected-resource/mcp"',
  ])
  const metadata = new URL('/.well-known/oauth-protected-resource/mcp', mcp.url)
  expect(await (await fetch(metadata)).json()).toMatchObject({
    resource: RESOURCE,
    authorization_servers: [ISSUER],
    scopes_supported: ['tools'],
  })
})

test('the program discovers the keys of AUTH_URL', async () => {
  const issuer = await createTestIssuer()
  const service = await tokenService(issuer).listen({
    routes: ({ url, headers }) => {
      if (!url.endsWith('/.well-known/openid-configuration')) return undefined
      const own = `http://${headers.get('host')}`
      return Response.json({ issuer: own, jwks_uri: `${own}/tokenservice/pubkey.json` })
    },
  })
  vi.stubEnv('AUTH_URL', service.url)
  vi.resetModules()
  const program = await import('../src/server.ts')
  const url = `http://127.0.0.1:${await portOf(program.server)}/mcp`
  const claims = { iss: service.url, aud: 'http://127.0.0.1/mcp', scope: 'tools' }
  const headers = await issuer.bearer({ claims })
  const answer = await fetch(url, { method: 'POST', body: '{}', headers: { ...headers } })
  expect(answer.status).toBe(415) // let in by the endpoint, and refused by the SDK
  close(program.server)
  await service.close()
})

import { createServer, type IncomingMessage } from 'node:http'

import {
  Client,
  ClientCredentialsProvider,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { requireBearerAuth } from '@modelcontextprotocol/server'
import { createVerifier } from '@portcullis/core'
import { createTestIssuer, type TestIssuer } from '@portcullis/testing'
import { expect, test, vi } from 'vitest'

import { authInfo, oauthTokenVerifier } from '../src/auth-info.ts'
import { type Served, serve } from './serving.ts'

vi.stubEnv('PORT', '0')
vi.stubEnv('RESOURCE', 'http://127.0.0.1/mcp')
const { createApi, server } = await import('../src/mcp.ts')
server.close()

const REALM = 'Bearer realm="api"'

/** An MCP server, and the authorization server whose tokens it accepts. */
async function start({ granted = 'tools' } = {}) {
  const asked: URLSearchParams[] = []
  let issuer: TestIssuer | undefined
  const authorizationServer = createServer((request, response) => {
    void answer(request).then((document) => {
      response.writeHead(document === undefined ? 404 : 200, { 'Content-Type': 'application/json' })
      response.end(JSON.stringify(document))
    })
  })
  const auth = await serve(authorizationServer)
  const api = await serve(createServer())
  const [authUrl, resource] = [`http://${auth.host}`, `http://${api.host}/mcp`]
  issuer = await createTestIssuer({ issuer: authUrl, audience: resource })

  async function answer(request: IncomingMessage): Promise<unknown> {
    if (request.url === '/.well-known/oauth-authorization-server') {
      return {
        issuer: authUrl,
        jwks_uri: `${authUrl}/keys`,
        token_endpoint: `${authUrl}/token`,
        authorization_endpoint: `${authUrl}/authorize`,
        response_types_supported: ['code'],
        grant_types_supported: ['client_credentials'],
      }
    }
    if (request.url === '/keys') return { keys: [issuer?.publicJwk] }
    if (request.url !== '/token') return undefined
    const form = new URLSearchParams((await request.toArray()).join(''))
    asked.push(form)
    const claims = { client_id: 'robot', sub: 'ada', aud: form.get('resource'), scope: granted }
    const token = await issuer?.token({ claims })
    return { access_token: token, token_type: 'Bearer', expires_in: 300 }
  }

  const verifier = createVerifier({ ...issuer.verifierOptions, requiredClaims: ['client_id'] })
  api.server.on('request', createApi(verifier, resource, authUrl))
  return {
    asked,
    authUrl,
    issuer,
    resource,
    verifier,
    async [Symbol.asyncDispose]() {
      await Promise.all([auth, api].map(async (each: Served) => await each[Symbol.asyncDispose]()))
    },
  }
}

function clientOf(url: string, expectedIssuer: string) {
  const client = new Client({ name: 'test', version: '1.0.0' })
  const credentials = { clientId: 'robot', clientSecret: 'secret', expectedIssuer }
  const authProvider = new ClientCredentialsProvider(credentials)
  const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider })
  return { client, transport }
}

test('the client of the SDK finds the authorization server from our challenge, and the tool sees who calls', async () => {
  await using mcp = await start({ granted: 'tools more' })
  const { client, transport } = clientOf(mcp.resource, mcp.authUrl)
  await client.connect(transport)
  const result = await client.callTool({ name: 'whoami' })
  expect(result.content).toEqual([
    { type: 'text', text: JSON.stringify({ clientId: 'robot', scopes: ['tools', 'more'] }) },
  ])
  await client.close()
  const [form] = mcp.asked
  expect(mcp.asked).toHaveLength(1)
  expect(form?.get('scope')).toBe('tools') // from the challenge
  expect(form?.get('resource')).toBe(mcp.resource) // RFC 8707
})

test('the challenge names the metadata and the scope', async () => {
  await using mcp = await start()
  const answer = await fetch(mcp.resource, { method: 'POST', body: '{}' })
  expect(answer.status).toBe(401)
  const metadata = mcp.resource.replace('/mcp', '/.well-known/oauth-protected-resource/mcp')
  expect(answer.headers.get('www-authenticate')).toBe(
    `${REALM}, scope="tools", resource_metadata="${metadata}"`,
  )
  expect(await (await fetch(metadata)).json()).toMatchObject({
    resource: mcp.resource,
    authorization_servers: [mcp.authUrl],
    scopes_supported: ['tools'],
  })
})

test.each([
  ['for another server', { aud: 'https://other.test/mcp' }, 401, /error="invalid_token"/],
  ['without a client', { client_id: undefined }, 401, /error="invalid_token"/],
  ['without the scope', { scope: 'other' }, 403, /error="insufficient_scope".* scope="tools"/],
])('a token %s is refused', async (_case, claims, status, challenge) => {
  await using mcp = await start()
  const all = { client_id: 'robot', scope: 'tools', ...claims }
  const headers = await mcp.issuer.bearer({ claims: all })
  const answer = await fetch(mcp.resource, { method: 'POST', body: '{}', headers })
  expect(answer.status).toBe(status)
  expect(answer.headers.get('www-authenticate')).toMatch(challenge)
})

const header = { alg: 'RS512' }
const resource = 'https://api.test/mcp'

test('authInfo maps all that the SDK has a place for', () => {
  const claims = { client_id: 'robot', azp: 'other', sub: 'ada', scope: 'a b', exp: 1_767_225_600 }
  expect(authInfo({ claims, header, token: 'a.b.c' }, resource)).toEqual({
    token: 'a.b.c',
    clientId: 'robot',
    scopes: ['a', 'b'],
    expiresAt: 1_767_225_600,
    resource: new URL(resource),
    extra: { sub: 'ada' },
  })
})

test.each([
  ['azp, without client_id', { azp: 'robot', sub: 'ada' }, 'robot'],
  ['nothing of sub, which may be a user', { sub: 'robot' }, ''],
  ['no client that is not text', { client_id: { toString: () => 'robot' } }, ''],
])('as clientId authInfo takes %s', (_case, claims, clientId) => {
  const info = authInfo({ claims, header, token: 'a.b.c' }, resource)
  expect(info).toMatchObject({ clientId, scopes: [] })
  expect(info).not.toHaveProperty('expiresAt')
})

test('our verifier serves as the OAuthTokenVerifier of the SDK', async () => {
  const issuer = await createTestIssuer({ audience: resource })
  const verifier = oauthTokenVerifier(createVerifier(issuer.verifierOptions), resource)
  const gate = requireBearerAuth({
    verifier,
    requiredScopes: ['tools'],
    expectedResource: new URL(resource),
  })
  const ask = async (token: string) =>
    await gate(new Request(resource, { headers: { authorization: `Bearer ${token}` } }))
  const claims = { client_id: 'robot', scope: 'tools' }
  expect(await ask(await issuer.token({ claims }))).toMatchObject({
    clientId: 'robot',
    scopes: ['tools'],
  })
  expect(await ask('a.b.c')).toMatchObject({ status: 401 })
  expect(await ask(await issuer.token())).toMatchObject({ status: 403 })
  expect(await ask(await issuer.token({ claims: { ...claims, aud: 'other' } }))).toMatchObject({
    status: 401,
  })
})

test('behind that verifier an outage is no fault of the token, but it has no status of its own', async () => {
  const issuer = await createTestIssuer()
  issuer.outage(503)
  const verifier = oauthTokenVerifier(createVerifier(issuer.verifierOptions), resource)
  const gate = requireBearerAuth({ verifier })
  const headers = await issuer.bearer()
  expect(await gate(new Request(resource, { headers }))).toMatchObject({ status: 500 })
})

test('the program discovers the keys of AUTH_URL', async () => {
  await using mcp = await start()
  vi.stubEnv('AUTH_URL', mcp.authUrl)
  vi.stubEnv('RESOURCE', mcp.resource)
  vi.resetModules()
  const program = await import('../src/mcp.ts')
  await using api = await serve(program.server)
  const headers = await mcp.issuer.bearer({ claims: { client_id: 'robot', scope: 'tools' } })
  const answer = await fetch(`http://${api.host}/mcp`, { method: 'POST', body: '{', headers })
  expect(answer.status).toBe(415) // let in by the guard, and refused by the SDK
})

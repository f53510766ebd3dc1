import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type IncomingMessage, request as rawRequest, type RequestListener } from 'node:http'
import { fileURLToPath } from 'node:url'

import { getRequestListener } from '@hono/node-server'
import type { Requirement } from '@portcullis/core'
import { expressEndpoint, fetchEndpoint } from '@portcullis/mcp'
import { createTestIssuer, stubVerifier, tokenService } from '@portcullis/testing'
import expressCors from 'cors'
import express from 'express'
import { Hono } from 'hono'
import { cors as honoCors } from 'hono/cors'
import { decodeJwt } from 'jose'
import request from 'supertest'
import { afterAll, describe, expect, test, vi } from 'vitest'

import { serve } from '../bound-tokens/serve.ts'
import { writtenExamples } from './examples.ts'
import { identityProvider, ISSUER } from './identity-provider.ts'
import { exampleOf } from './markdown.ts'

// Every piece of code in packages/mcp/README.md, SESSIONS.md and TOKENS.md, as it stands.

const read = (name: string) =>
  readFileSync(fileURLToPath(new URL(`../../packages/mcp/${name}`, import.meta.url)), 'utf8')
const examples = writtenExamples('.mcp-readme')
const provider = await identityProvider()

afterAll(async () => {
  examples.remove()
  await provider[Symbol.asyncDispose]()
})

const RESOURCE = 'https://mcp.example.com/mcp'
const CHALLENGE =
  'Bearer realm="api", scope="tools", resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"'

async function run(place: number, ending = '') {
  const code = provider.namedIn(exampleOf(read('README.md'), place))
  return (await examples.run(`readme-${place}`, code, ending)) as {
    app: RequestListener & { fetch: (request: Request) => Promise<Response> }
    fetch: (request: Request) => Promise<Response>
    tools: Readonly<Record<string, Requirement>>
  }
}

const call = (name: string) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: {} },
})
const accept = { accept: 'application/json, text/event-stream' }

test('the example for Express: 401 with the metadata, and with a token the tool knows its user', async () => {
  const { app } = await run(0, '\nexport { app }')
  const refused = await request(app).post('/mcp').send({})
  expect([refused.status, refused.headers['www-authenticate']]).toEqual([401, CHALLENGE])
  const metadata = await request(app).get('/.well-known/oauth-protected-resource/mcp')
  expect(metadata.body).toMatchObject({ resource: RESOURCE, authorization_servers: [provider.url] })
  const claims = { sub: 'ada', scope: 'tools', aud: RESOURCE }
  const headers = { ...(await provider.bearer({ claims })), ...accept }
  const answer = await request(app).post('/mcp').set(headers).send(call('whoami'))
  expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('"text":"ada"')])
  const slash = await provider.bearer({ claims: { ...claims, aud: `${RESOURCE}/` } })
  expect((await request(app).post('/mcp').set(slash).send({})).status).toBe(401)
})

test('the example for the platform: as it is, and in Hono', async () => {
  const { app, fetch } = await run(1)
  for (const each of [fetch, async (asked: Request) => await app.fetch(asked)]) {
    const answer = await each(new Request(RESOURCE, { method: 'POST', body: '{}' }))
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, CHALLENGE])
    expect((await each(new Request('https://mcp.example.com/other'))).status).toBe(404)
  }
})

test('the example for the platform: Hono hands on what no Request can have', async () => {
  const { app } = await run(1)
  const listener = getRequestListener(async (asked) => await app.fetch(asked), {
    overrideGlobalObjects: false,
  })
  await using served = await serve(() => (asked, answer) => void listener(asked, answer))
  const [status] = (await once(
    rawRequest(`${served.url}/mcp`, { method: 'TRACE' }).end(),
    'response',
  )) as [IncomingMessage]
  expect([status.statusCode, status.headers.allow]).toEqual([405, 'GET, POST, DELETE'])
})

test('web pages may read the headers that the README exposes, by the word of each framework', async () => {
  const [, list = ''] = /`exposedHeaders: \[([^\]]*)\]` with `cors`/.exec(read('README.md')) ?? []
  const names = list.split(', ').map((each) => each.slice(1, -1))
  expect(names).toEqual(['WWW-Authenticate', 'Mcp-Session-Id'])
  expect(read('README.md')).toContain('`exposeHeaders` with that of Hono')
  const { fetch } = await run(1)
  const stated = { resource: RESOURCE, authorizationServers: [ISSUER] }
  const node = express()
    .set('env', 'test')
    .use(
      expressCors({ exposedHeaders: names }),
      expressEndpoint(stubVerifier(), stated, () => {}),
    )
  const hono = new Hono()
    .use(honoCors({ origin: '*', exposeHeaders: names }))
    .mount('/', fetch, { replaceRequest: false })
  const answers = [
    (await request(node).get('/mcp').set('origin', 'https://web.test')).headers,
    Object.fromEntries((await hono.request(RESOURCE)).headers),
  ] as readonly Record<string, string>[]
  for (const headers of answers) {
    expect(headers['www-authenticate']).toContain('resource_metadata')
    expect(headers['access-control-expose-headers']?.split(',')).toEqual(names)
  }
})

test('what tools need', async () => {
  const { tools } = await run(2)
  const claims = { aud: RESOURCE, scope: 'files:write' }
  const endpoint = fetchEndpoint(
    stubVerifier({ claims }),
    { resource: RESOURCE, authorizationServers: [ISSUER], tools },
    () => new Response('called'),
  )
  const status = async (name: string) => {
    const init = { method: 'POST', body: JSON.stringify(call(name)) }
    const headers = { authorization: 'Bearer any' }
    return (await endpoint(new Request(RESOURCE, { ...init, headers }))).status
  }
  expect([await status('write'), await status('erase'), await status('other')]).toEqual([
    200, 401, 200,
  ])
})

describe('the guide', () => {
  test('a session goes on with a new token of a client without a user', async () => {
    const code = provider
      .namedIn(exampleOf(read('SESSIONS.md'), 0))
      .replace("new Response('served')", "new Response('', { headers: { 'mcp-session-id': 'a' } })")
    const { fetch } = (await examples.run('sessions', code)) as {
      fetch: (request: Request) => Promise<Response>
    }
    const status = async (claims: Record<string, unknown>, session = {}) => {
      const headers = {
        ...(await provider.bearer({ claims: { aud: RESOURCE, ...claims } })),
        ...session,
      }
      return (await fetch(new Request(RESOURCE, { headers }))).status
    }
    const session = { 'mcp-session-id': 'a' }
    expect(await status({ client_id: 'robot' })).toBe(200)
    expect(await status({ client_id: 'robot', jti: 'renewed' }, session)).toBe(200)
    expect(await status({ client_id: 'other' }, session)).toBe(404)
    expect(await status({ client_id: 'robot', sub: 'ada' }, session)).toBe(404)
  })

  test('a tool calls another API with a token that is for that API, and names its user', async () => {
    const issuer = await createTestIssuer({ algorithm: 'ES256' })
    const service = await tokenService(issuer, { clients: { mcp: { secret: 'secret' } } }).listen()
    await using orders = await serve((_url) => (incoming, answer) => {
      const [, token = ''] = incoming.headers.authorization?.split(' ') ?? []
      const { sub, aud } = decodeJwt(token)
      answer.end(JSON.stringify({ sub, aud, url: incoming.url }))
    })
    vi.stubEnv('CLIENT_SECRET', 'secret')
    vi.stubEnv('ORDERS_URL', orders.url)
    const code = exampleOf(read('TOKENS.md'), 0).replaceAll(`'${ISSUER}'`, `'${service.authUrl}'`)
    const { mcp } = (await examples.run('tokens', code)) as {
      mcp: { fetch: Parameters<typeof fetchEndpoint>[2] }
    }
    const token = await issuer.token({
      claims: { iss: service.authUrl, aud: RESOURCE, sub: 'ada' },
    })
    const claims = decodeJwt(token)
    const headers = {
      ...accept,
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
    }
    const endpoint = fetchEndpoint(
      stubVerifier({ claims }),
      { resource: RESOURCE, authorizationServers: [ISSUER] },
      mcp.fetch,
    )
    const init = { method: 'POST', headers, body: JSON.stringify(call('orders')) }
    const text = await (await endpoint(new Request(RESOURCE, init))).text()
    expect(text).toContain(String.raw`{\"sub\":\"ada\",\"aud\":\"orders\",\"url\":\"/v1/orders\"}`)
    vi.unstubAllEnvs()
    await service.close()
  })
})

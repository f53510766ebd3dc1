import { execFile } from 'node:child_process'
import { createHash, generateKeyPairSync, X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import type { Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { metrics, trace } from '@opentelemetry/api'
import { OAuthError } from '@portcullis/client/oauth'
import type { LocalRevocations, Requirement, Revocations, Verifier } from '@portcullis/core'
import type { EventPoll, EventReceiver } from '@portcullis/events'
import { fetchEndpoint } from '@portcullis/mcp'
import type { Sources } from '@portcullis/metrics/prometheus'
import { createTestIssuer, stubVerifier, tokenService } from '@portcullis/testing'
import express from 'express'
import { fastify } from 'fastify'
import { decodeJwt } from 'jose'
import Koa from 'koa'
import request from 'supertest'
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'

import { root } from '../../docs/entries.ts'
import { serve } from '../bound-tokens/serve.ts'
import { fetchWith } from '../bound-tokens/tls-fetch.ts'
import { type Certificate, createCertificate } from '../certificate.ts'
import { writtenExamples } from './examples.ts'
import { AUDIENCE, identityProvider, ISSUER } from './identity-provider.ts'
import { blocksOf, exampleOf, exampleWithTokenService } from './markdown.ts'

// Programs in the documents that are no application with routes alone, as they stand: each does what its page says.

const read = (path: string) => readFileSync(join(root, 'packages', path), 'utf8')
const examples = writtenExamples('.readme-programs')
const provider = await identityProvider()
const folder = mkdtempSync(join(tmpdir(), 'portcullis-'))
vi.stubEnv('AUTH_URL', provider.authUrl)

/** An authorization server, which knows two clients, and an API that answers what it sees. */
const issuer = await createTestIssuer({ algorithm: 'ES256' })
const clients = { shop: { secret: 'secret' }, mcp: { secret: 'secret' } }
const service = await tokenService(issuer, { clients }).listen()
const api = await serve((_url) => (incoming, answer) => {
  const [, token = ''] = incoming.headers.authorization?.split(' ') ?? []
  const { sub, aud } = decodeJwt(token)
  answer.end(JSON.stringify({ sub, aud, url: incoming.url }))
})
vi.stubEnv('CLIENT_SECRET', 'secret')
vi.stubEnv('ORDERS_URL', api.url)
vi.stubEnv('API_URL', api.url)

afterAll(async () => {
  vi.unstubAllEnvs()
  await provider[Symbol.asyncDispose]()
  await service.close()
  await api[Symbol.asyncDispose]()
  examples.remove()
  rmSync(folder, { recursive: true })
})

interface Run {
  /** More code, after the example. */
  readonly ending?: string
  readonly change?: (code: string) => string
  /** Where its issuer is. */
  readonly at?: string
}

let runs = 0
/** What the examples of a document export, run as one file, with a provider in place of the one that they name. */
async function run<T>(
  path: string,
  places: readonly number[],
  { ending = '', change = (code) => code, at = provider.url }: Run = {},
): Promise<T> {
  const code = places.map((place) => exampleOf(read(path), place)).join('\n')
  const name = `${path}-${places.join('-')}-${(runs += 1)}`
  return (await examples.run(name, change(code).replaceAll(`'${ISSUER}'`, `'${at}'`), ending)) as T // or the test fails where it is used
}

test('TESTING.md of testing is a file of tests, all of which pass', async () => {
  const [, ...blocks] = blocksOf(read('testing/TESTING.md'))
  const file = examples.write('TESTING.md', blocks.map(({ code }) => code).join('\n'))
  const node = promisify(execFile)(process.execPath, ['--conditions=@portcullis/source', file])
  expect((await node).stdout).toMatch(/pass 8\n[^]*fail 0\n/)
})

test('README.md of core says who a token is for, and throws for one that has expired', async () => {
  const log = vi.spyOn(console, 'log').mockReturnValue()
  onTestFinished(() => {
    log.mockRestore()
  })
  vi.stubEnv('TOKEN', await provider.token({ claims: { sub: 'ada' } }))
  await run('core/README.md', [0])
  await run('core/README.md', [0], {
    change: () => exampleWithTokenService(read('core/README.md')),
  })
  expect(log.mock.calls).toEqual([['ada'], ['ada']])
  vi.stubEnv('TOKEN', await provider.token({ expiresIn: -60 }))
  await expect(run('core/README.md', [0])).rejects.toMatchObject({ reason: 'expired' })
})

test('MUTUAL-TLS.md: its server takes the token from the client whose certificate it is bound to', async () => {
  const all = [createCertificate(), createCertificate(), createCertificate()] as const
  const [ours, client, thief] = all
  const { server } = await run<{ server: Server }>('core/MUTUAL-TLS.md', [0], {
    ending: '\nexport { server }',
    change: (code) =>
      code
        .replace("'server.key'", `'${ours.keyFile}'`)
        .replace("'server.crt'", `'${ours.certFile}'`)
        .replace('listen(8443)', "listen(0, '127.0.0.1')"),
  })
  onTestFinished(() => {
    server.close()
    for (const each of all) each[Symbol.dispose]()
  })
  const digest = createHash('sha256').update(new X509Certificate(client.cert).raw)
  const cnf = { 'x5t#S256': digest.digest('base64url') }
  const headers = await provider.bearer({ claims: { sub: 'ada', cnf } })
  const { port } = server.address() as AddressInfo // it listens on a port
  const statusFor = async (...own: Certificate[]) =>
    (await fetchWith(ours, ...own)(`https://127.0.0.1:${port}/v1/accounts`, { headers })).status
  expect([await statusFor(client), await statusFor(thief), await statusFor()]).toEqual([
    200, 401, 401,
  ])
})

test('MANY-ISSUERS.md: the object refuses another issuer without a request, the function finds a tenant', async () => {
  const { verifier: listed } = await run<{ verifier: Verifier }>('core/MANY-ISSUERS.md', [0])
  const { verifier: found, tenants } = await run<{
    verifier: Verifier
    tenants: Map<string, { issuer: string; keyUrl: string }>
  }>('core/MANY-ISSUERS.md', [1], { ending: '\nexport { tenants }' })
  const iss = 'https://acme.example'
  const tenant = await createTestIssuer({ issuer: iss, audience: AUDIENCE })
  const unknown = listed.verify(await tenant.token())
  await expect(unknown).rejects.toMatchObject({ reason: 'unknown_key' })
  expect(tenant.requests()).toEqual([])
  await using published = await tokenService(tenant).listen()
  tenants.set(iss, { issuer: iss, keyUrl: published.keyUrl })
  await expect(found.verify(await tenant.token())).resolves.toMatchObject({ claims: { iss } })
})

test('OPAQUE-TOKENS.md: a verifier of tokens that something else proves, and tests that pass', async () => {
  const { verifier } = await run<{ verifier: Verifier }>('core/OPAQUE-TOKENS.md', [1])
  await expect(verifier.verify('key_3f9c')).resolves.toMatchObject({ claims: { sub: 'billing' } })
  await expect(verifier.verify('other')).rejects.toMatchObject({ reason: 'inactive' })
  await run('core/OPAQUE-TOKENS.md', [2])
})

/** A process that saves what is revoked. */
async function saving(): Promise<LocalRevocations> {
  const { revocations } = await run<{ revocations: LocalRevocations }>('core/REVOKING.md', [1], {
    change: (code) => code.replace("'revocations", `'${folder}/revocations`),
  })
  return revocations
}

describe('REVOKING.md', () => {
  test('logging out ends the stream of events of this token', async () => {
    const { app } = await run<{ app: RequestListener }>('core/REVOKING.md', [0, 3], {
      ending: '\nexport { app }',
    })
    await using served = await serve(() => app)
    const headers = await provider.bearer({ claims: { jti: 'stream' } })
    const stream = await fetch(`${served.url}/v1/events`, { headers })
    await fetch(`${served.url}/v1/logout`, { method: 'POST', headers })
    expect([stream.status, await stream.text()]).toEqual([200, '']) // it has ended
  })

  test('what was revoked is saved, and is there after a restart', async () => {
    await (await saving()).revoke({ jti: 'six' })
    expect((await saving()).toSnapshot().entries).toEqual([{ type: 'token', jti: 'six' }])
  })

  test('revocations of your own answer by a word', async () => {
    const { ofBlockedUsers, blockedUsers } = await run<{
      ofBlockedUsers: Revocations
      blockedUsers: Set<unknown>
    }>('core/REVOKING.md', [2], { ending: '\nexport { blockedUsers }' })
    blockedUsers.add('eve')
    const said = ['ada', 'eve'].map((sub) => ofBlockedUsers.statusOf({ sub }, 0, ''))
    expect(said).toEqual(['valid', 'revoked'])
  })
})

test('README.md of client calls the API with a token of its own', async () => {
  const { response } = await run<{ response: Response }>('client/README.md', [0])
  expect(response.status).toBe(200)
})

test('SERVE.md: its one line reports verdicts, until it is closed', async () => {
  const { reports } = await run<{ reports: { close(): Promise<void> } }>('cli/SERVE.md', [0], {
    ending: '\nexport { reports }',
  })
  await expect(reports.close()).resolves.toBeUndefined()
})

describe('OAUTH.md of client', () => {
  type Client = { tokens: { get(): Promise<string> } }
  const subjectOf = async ({ tokens }: Client) => decodeJwt(await tokens.get()).sub

  test('for the service itself', async () => {
    const { response } = await run<{ response: Response }>('client/OAUTH.md', [0], {
      at: service.authUrl,
    })
    const aud = 'https://orders.example.com'
    expect(await response.json()).toEqual({ sub: 'shop', aud, url: '/v1/orders' })
  })

  test('on behalf of a caller, the other service sees who it is; in an outage the route answers 502', async () => {
    const { app } = await run<{ app: RequestListener }>('client/OAUTH.md', [1], {
      at: service.authUrl,
    })
    const claims = { iss: service.authUrl, aud: AUDIENCE }
    const call = async (sub: string) =>
      await request(app)
        .get('/orders/7')
        .set(await issuer.bearer({ claims: { ...claims, sub } }))
    const seen = { sub: 'ada', aud: 'orders', url: '/v1/orders/7' }
    expect((await call('ada')).body).toEqual(seen)
    const outage = issuer.outage('html', { endpoint: 'token' })
    expect((await call('bob')).status).toBe(502)
    outage.restore()
  })

  test('a private key, from a file of PEM', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' })
    writeFileSync(join(folder, 'key.pem'), pem)
    vi.stubEnv('KEY_FILE', join(folder, 'key.pem'))
    const publicJwk = publicKey.export({ format: 'jwk' })
    await using keyed = await tokenService(issuer, { clients: { shop: { publicJwk } } }).listen()
    expect(await subjectOf(await run('client/OAUTH.md', [2], { at: keyed.authUrl }))).toBe('shop')
  })

  test('an assertion of the platform, from its file', async () => {
    const { publicJwk } = issuer
    await using trusting = await tokenService(issuer, { clients: { shop: { publicJwk } } }).listen()
    const claims = { iss: 'shop', sub: 'shop', aud: trusting.authUrl, jti: '1' }
    writeFileSync(join(folder, 'token'), await issuer.token({ claims }))
    vi.stubEnv('TOKEN_FILE', join(folder, 'token'))
    expect(await subjectOf(await run('client/OAUTH.md', [3], { at: trusting.authUrl }))).toBe(
      'shop',
    )
  })
})

test.each<readonly [string, (error: Error) => RequestListener | Promise<RequestListener>]>([
  ['Express', (error) => express().set('env', 'test').use(throwing(error))],
  ['Koa', (error) => Object.assign(new Koa(), { silent: true }).use(throwing(error)).callback()],
  [
    'Fastify',
    async (error) => {
      const app = fastify().get('/', throwing(error))
      await app.ready()
      return (incoming, answer) => {
        app.routing(incoming, answer)
      }
    },
  ],
])(
  '%s answers with the status and the headers of an OAuthError by itself, as OAUTH.md says',
  async (_, start) => {
    const down = new OAuthError('timeout', 'no', { status: 503, retryAfter: 6.2 })
    const { status, headers } = await request(await start(down)).get('/')
    expect([status, headers['retry-after']]).toEqual([503, '7'])
  },
)

function throwing(error: Error): () => never {
  return () => {
    throw error
  }
}

const toCall = (name: string) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: {} },
})

describe('the documents of mcp', () => {
  const aud = 'https://mcp.example.com/mcp'
  const accept = { accept: 'application/json, text/event-stream' }
  type Fetch = (request: Request) => Promise<Response>
  const stated = { resource: aud, authorizationServers: [ISSUER] }
  const calling = (name: string) => ({
    method: 'POST',
    body: JSON.stringify(toCall(name)),
    headers: { ...accept, 'content-type': 'application/json', authorization: 'Bearer any' },
  })

  test('the example for Express: 401 with the metadata, and with a token the tool knows its user', async () => {
    const { app } = await run<{ app: RequestListener }>('mcp/README.md', [0], {
      ending: '\nexport { app }',
    })
    const refused = await request(app).post('/mcp').send({})
    expect(refused.headers['www-authenticate']).toContain('scope="tools", resource_metadata=')
    const metadata = await request(app).get('/.well-known/oauth-protected-resource/mcp')
    expect(metadata.body).toMatchObject({ resource: aud, authorization_servers: [provider.url] })
    const headers = await provider.bearer({ claims: { sub: 'ada', scope: 'tools', aud } })
    const post = request(app).post('/mcp').set(headers).set(accept)
    expect((await post.send(toCall('whoami'))).text).toContain('"text":"ada"')
  })

  test('the example for the platform: as it is, and in Hono', async () => {
    const { app, fetch } = await run<{ app: { fetch: Fetch }; fetch: Fetch }>('mcp/README.md', [1])
    for (const each of [fetch, async (asked: Request) => await app.fetch(asked)]) {
      expect((await each(new Request(aud, { method: 'POST', body: '{}' }))).status).toBe(401)
      expect((await each(new Request('https://mcp.example.com/other'))).status).toBe(404)
    }
  })

  test('what tools need', async () => {
    const { tools } = await run<{ tools: Record<string, Requirement> }>('mcp/README.md', [2])
    const verifier = stubVerifier({ claims: { aud, scope: 'files:write' } })
    const endpoint = fetchEndpoint(verifier, { ...stated, tools }, () => new Response('called'))
    const statusOf = async (name: string) =>
      (await endpoint(new Request(aud, calling(name)))).status
    expect([await statusOf('write'), await statusOf('erase')]).toEqual([200, 401])
  })

  test('SESSIONS.md: a session goes on with a new token of a client without a user', async () => {
    const { fetch } = await run<{ fetch: Fetch }>('mcp/SESSIONS.md', [0], {
      change: (code) => code.replace("('served')", "('', { headers: { 'mcp-session-id': 'a' } })"),
    })
    const statusOf = async (claims: object, session = {}) => {
      const headers = { ...(await provider.bearer({ claims: { aud, ...claims } })), ...session }
      return (await fetch(new Request(aud, { headers }))).status
    }
    const session = { 'mcp-session-id': 'a' }
    expect(await statusOf({ client_id: 'robot' })).toBe(200)
    expect(await statusOf({ client_id: 'robot', jti: 'renewed' }, session)).toBe(200)
    expect(await statusOf({ client_id: 'other' }, session)).toBe(404)
  })

  test('TOKENS.md: a tool calls another API with a token that is for that API, and names its user', async () => {
    const { mcp } = await run<{ mcp: { fetch: Parameters<typeof fetchEndpoint>[2] } }>(
      'mcp/TOKENS.md',
      [0],
      { at: service.authUrl },
    )
    const token = await issuer.token({ claims: { iss: service.authUrl, aud, sub: 'ada' } })
    const endpoint = fetchEndpoint(stubVerifier({ claims: decodeJwt(token) }), stated, mcp.fetch)
    const init = calling('orders')
    const headers = { ...init.headers, authorization: `Bearer ${token}` }
    const text = await (await endpoint(new Request(aud, { ...init, headers }))).text()
    expect(text).toContain(String.raw`{\"sub\":\"ada\",\"aud\":\"orders\",\"url\":\"/v1/orders\"}`)
  })
})

/** The last example needs a client: here it is one whose polls the test answers. */
const POLLED = `
const waiting = []
export const polls = []
export const answerPoll = (sets) => waiting.shift()(Response.json({ sets }))
const tokens = {
  async fetch(_url, init) {
    polls.push(init.body)
    return await new Promise((resolve) => waiting.push(resolve))
  },
}
`

test.each(['apple', 'google', 'keycloak', 'okta'])(
  'docs/%s.md of events: its receiver is made, and refuses a request without an event',
  async (page) => {
    const { receiver } = await run<{ receiver: EventReceiver }>(`events/docs/${page}.md`, [0])
    const { status } = await receiver.answer({ method: 'POST', headers: {} })
    expect([400, 401]).toContain(status)
  },
)

test('README.md of events: a log-out, an event that is pushed and one that is polled end tokens', async () => {
  const { app, verifier, poll, polls, answerPoll } = await run<{
    app: RequestListener
    verifier: Verifier
    poll: EventPoll
    polls: readonly string[]
    answerPoll: (sets: object) => void
  }>('events/README.md', [0, 1, 2], { change: (code) => `${POLLED}${code}` })
  onTestFinished(async () => {
    await poll.close()
  })
  const users = ['ada', 'eve', 'bob']
  const tokens = await Promise.all(
    users.map(async (sub) => await provider.token({ claims: { sub, sid: sub } })),
  )
  const [ada = '', eve = '', bob = ''] = tokens
  for (const token of tokens) await expect(verifier.verify(token)).resolves.toBeDefined()
  const revoked = { reason: 'revoked' }
  const event = async (sub: string) =>
    await provider.token({
      claims: {
        aud: 'https://api.example.com/ssf',
        jti: sub,
        sub_id: { format: 'iss_sub', iss: provider.url, sub },
        events: { 'https://schemas.openid.net/secevent/caep/event-type/session-revoked': {} },
      },
      header: { typ: 'secevent+jwt' },
      omit: ['exp'],
    })

  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
  const logout = await provider.token({
    claims: { aud: 'my-client', sid: 'ada', jti: 'log-out', events },
    header: { typ: 'logout+jwt' },
  })
  const send = request(app).post('/backchannel-logout').type('form')
  expect((await send.send({ logout_token: logout })).status).toBe(200)
  await expect(verifier.verify(ada)).rejects.toMatchObject(revoked)

  const sender = await provider.bearer({ claims: { sub: 'transmitter' } })
  const push = async (headers: object) => {
    const post = request(app).post('/ssf/push').type('application/secevent+jwt')
    return (await post.set({ ...headers }).send(await event('eve'))).status
  }
  expect([await push({}), await push(sender)]).toEqual([401, 202])
  await expect(verifier.verify(eve)).rejects.toMatchObject(revoked)

  answerPoll({ bob: await event('bob') })
  await vi.waitUntil(() => polls.length === 2, 60_000)
  expect(polls[1]).toContain('"ack":["bob"]')
  await expect(verifier.verify(bob)).rejects.toMatchObject(revoked)
})

test('README.md of metrics: its commands ask for routes of its example, which say what happened', async () => {
  const { app, inside } = await run<{ app: RequestListener; inside: RequestListener }>(
    'metrics/README.md',
    [0],
    { ending: '\nexport { app, inside }' },
  )
  const [, commands] = blocksOf(read('metrics/README.md')).filter(
    ({ language }) => language === 'sh',
  )
  const asked = [...(commands?.code ?? '').matchAll(/localhost:300([01])(\S*)/g)]
  expect(asked).toHaveLength(5)
  const bearer = await provider.bearer({ claims: { sub: 'ada' } })
  const said: string[] = []
  for (const [line, [, port, path = '']] of asked.entries()) {
    const get = request(port === '0' ? app : inside).get(path)
    said.push((await get.set(line === 1 ? bearer : {})).text)
  }
  const [ready, accepted, refused, lines, status] = said
  expect([ready, accepted, refused]).toEqual([
    'OK',
    expect.stringContaining('"ada"'),
    expect.stringContaining('is required'),
  ])
  for (const line of [
    'portcullis_keys_usable{source="main"} 1\n',
    'portcullis_refusals_total{framework="express",code="missing_token",reason="missing_header"} 1\n',
    'portcullis_verdicts_total{source="main",code="accepted",reason="none",remembered="false"} 1\n',
  ])
    expect(lines).toContain(line)
  expect(JSON.parse(status ?? '')).toMatchObject({ keys: { main: { freshness: 'fresh' } } })
})

test('README.md of metrics: the example for OpenTelemetry listens, and nothing needs an SDK', async () => {
  const names = [vi.spyOn(metrics, 'getMeter'), vi.spyOn(trace, 'getTracer')]
  const { observe } = await run<{ observe: (sources: Sources) => void }>('metrics/README.md', [1])
  observe({})
  for (const name of names) expect(name).toHaveBeenCalledWith('portcullis')
})

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

import { metrics, trace } from '@opentelemetry/api'
import { createTokenClient } from '@portcullis/client'
import { createOAuthClient, OAuthError } from '@portcullis/client/oauth'
import { type Auth, AuthError, createVerifier, remoteKeys } from '@portcullis/core'
import { explain } from '@portcullis/core/explain'
import { receiveLogout } from '@portcullis/events'
import '@portcullis/express/request'
import { byForm, introspected } from '@portcullis/introspection'
import { expressEndpoint } from '@portcullis/mcp'
import { createHealth, statusOf } from '@portcullis/metrics'
import {
  collectMetrics as collectForOpenTelemetry,
  traceOperations,
} from '@portcullis/metrics/opentelemetry'
import { collectMetrics } from '@portcullis/metrics/prometheus'
import { auth0 } from '@portcullis/providers'
import { redisRevocations } from '@portcullis/redis'
import { createTestIssuer, introspectionService, tokenService } from '@portcullis/testing'
import type { Request } from 'express'
import { Registry } from 'prom-client'

import type { Guarded } from './guards/guarded.js'
import * as guards from './guards/index.js'

// The main calls of every package, in a program that can be compiled as CommonJS and as an ES module.

async function main(): Promise<void> {
  const issuer = await createTestIssuer()
  const logins = { ada: { password: 'secret', claims: { scope: 'read' } } }
  const clients = { shop: { secret: 'secret' } }
  const service = await tokenService(issuer, { logins, clients }).listen()
  const keys = remoteKeys(service.keyUrl)
  // Nothing listens there: a token that is not known to be revoked is accepted all the same.
  const url = 'redis://127.0.0.1:1'
  const revocations = redisRevocations({ url, whenStale: 'accept' })
  const verifier = createVerifier({ keys, issuer: null, audience: null, revocations })
  const account = { authUrl: service.authUrl, loginId: 'ada', password: 'secret' }

  const explanation = await explain(await issuer.token(), { keys, issuer: null, audience: null })
  assert.equal(explanation.verdict, 'accepted')
  await assert.rejects(verifier.verify('a.b.c'), AuthError)
  assert.equal(authOf({}), undefined)

  const preset = auth0({ domain: 'tenant.eu.auth0.com', audience: 'https://api.example.com' })
  await assert.rejects(createVerifier(preset).verify('a.b.c'), AuthError)

  assert.equal(statusOf({ keys: { main: keys } }).keys.main.freshness, 'fresh')
  assert.equal(createHealth(verifier).live(), 200)
  const register = new Registry()
  const sources = { keys: { main: keys } }
  const ends = [
    collectMetrics(register, sources),
    collectForOpenTelemetry(metrics.getMeter('app'), sources),
    traceOperations(trace.getTracer('app'), sources),
  ]
  assert.match(await register.metrics(), /^portcullis_keys_usable\{source="main"\} 1$/m)
  for (const end of ends) end()

  const resource = 'https://mcp.test/mcp'
  const ofResource = createVerifier({ ...issuer.verifierOptions, audience: resource })
  const stated = { resource, authorizationServers: ['https://auth.test'] }
  const endpoint = expressEndpoint(ofResource, stated, (_request, response) => {
    response.end()
  })
  assert.equal(typeof endpoint, 'function')
  const opaque = introspectionService(issuer)
  const asking = byForm({ jwt: verifier, opaque: introspected(opaque.verifierOptions) })
  const { claims } = await asking.verify(opaque.issue({ claims: { sub: 'ada' } }))
  assert.equal(claims.sub, 'ada')
  await assert.rejects(asking.verify('invented'), AuthError)
  const shop = { issuer: service.authUrl, clientId: 'shop', clientSecret: 'secret', origins: [] }
  const onwards = createOAuthClient(shop)
  const subject = await verifier.verify(await onwards.get())
  await verifier.verify(await onwards.onBehalfOf(subject, { audience: 'orders' }).get())
  const stranger = createOAuthClient({ ...shop, clientSecret: 'another' })
  await assert.rejects(stranger.get(), OAuthError)
  const logout = receiveLogout({
    keys,
    issuer: 'https://login.example.com',
    clientId: 'my-client',
    revocations,
    revokes: 'session',
  })
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const answer = await logout.answer({ headers, body: 'logout_token=a.b.c' })
  assert.equal(answer.status, 400)

  const all: Readonly<Record<string, Guarded>> = guards
  assert.ok(Object.keys(all).length > 0)
  for (const guarded of Object.values(all)) await tryGuard(guarded)

  await revocations.close()
  await service.close()

  async function tryGuard(guarded: Guarded): Promise<void> {
    const refusals: unknown[] = []
    const served = await guarded(verifier, (...refusal) => refusals.push(refusal))
    const server = served instanceof Server ? served : await serve(served.fetch)
    if (!server.listening) await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const tokens = createTokenClient({ ...account, origins: [new URL(url).origin] })
    const accepted = await tokens.fetch(url)
    assert.deepEqual([accepted.status, await accepted.json()], [200, 'ada'])
    const refused = await fetch(url)
    assert.equal(refused.status, 401)
    assert.equal(refused.headers.get('www-authenticate'), 'Bearer realm="api"')
    await refused.body?.cancel()
    assert.deepEqual(refusals, [['missing_header', '/']])
    await tokens.close()
    server.close()
    server.closeAllConnections()
  }
}

/** `@portcullis/express/request` declares it. */
function authOf(request: Pick<Request, 'auth'>): Auth | undefined {
  return request.auth
}

interface NodeServer {
  serve(options: {
    fetch: unknown
    port: number
    hostname: string
    overrideGlobalObjects: boolean
  }): Server
}

/**
 * Not imported by its name: its declarations need those of browsers. It leaves `Response` alone, or another framework that is
 * tried after it would not know its own answers.
 */
async function serve(fetch: unknown): Promise<Server> {
  const name: string = '@hono/node-server'
  const { serve: serveFetch } = (await import(name)) as NodeServer
  return serveFetch({ fetch, port: 0, hostname: '127.0.0.1', overrideGlobalObjects: false })
}

void main()

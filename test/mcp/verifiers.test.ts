import { createOAuthClient } from '@portcullis/client/oauth'
import {
  byIssuer,
  createVerifier,
  discoverKeys,
  dpopProofs,
  scope,
  type Verifier,
} from '@portcullis/core'
import { authenticate, getAuth } from '@portcullis/express'
import { byForm, introspected } from '@portcullis/introspection'
import express from 'express'
import { afterAll, describe, expect, test } from 'vitest'

import { serve } from '../bound-tokens/serve.ts'
import { createAgent } from './agent.ts'
import { SERVER, startAuthorizationServer } from './authorization-server.ts'
import { post } from './calls.ts'
import { SERVERS, startServer, type Tool } from './servers.ts'

// The endpoint with every kind of verifier, and tokens of an authorization server of others.

const jwt = await startAuthorizationServer()
const opaque = await startAuthorizationServer({ tokens: 'opaque' })
afterAll(async () => {
  await Promise.all([jwt, opaque].map(async (each) => await each[Symbol.asyncDispose]()))
})

const forJwt = (audience: string): Verifier =>
  createVerifier({ keys: discoverKeys(jwt.url), issuer: jwt.url, audience })
const forOpaque = (audience: string): Verifier =>
  introspected({ issuer: opaque.url, audience, ...SERVER })

const requirement = scope('tools')

describe.each(SERVERS.map((kind) => [kind.name, kind] as const))('%s', (_name, kind) => {
  test('opaque tokens, which only their issuer can read', async () => {
    const options = { authorizationServers: [opaque.url], requirement }
    await using server = await startServer(kind, forOpaque, options)
    const agent = createAgent(2, opaque.url)
    const connection = await agent.connect(server.resource)
    expect(agent.kept.tokens?.access_token).not.toContain('.')
    expect(JSON.parse(await connection.call('whoami'))).toMatchObject({
      user: 'ada',
      clientId: 'agent',
      scopes: ['tools'],
    })
    await connection.client.close()
  })

  test.each([
    ['byIssuer', jwt, (audience: string) => byIssuer({ [jwt.url]: forJwt(audience) })],
    [
      'byIssuer with a function',
      jwt,
      (audience: string) =>
        byIssuer((issuer) => (issuer === jwt.url ? forJwt(audience) : undefined)),
    ],
    [
      'byForm, for an opaque token',
      opaque,
      (audience: string) => byForm({ jwt: forJwt(audience), opaque: forOpaque(audience) }),
    ],
    [
      'a verifier that is not ours',
      jwt,
      (audience: string): Verifier => ({
        verify: async (token) => await forJwt(audience).verify(token),
        ready: async () => await Promise.resolve(),
      }),
    ],
  ])('%s', async (_title, { url }, createAny) => {
    const options = { authorizationServers: [url], requirement }
    await using server = await startServer(kind, createAny, options)
    const connection = await createAgent(2, url).connect(server.resource)
    expect(JSON.parse(await connection.call('whoami'))).toMatchObject({ user: 'ada' })
    await connection.client.close()
  })

  test('tokens that are bound to a key of the client, and the proof reaches no tool', async () => {
    await using server = await startServer(kind, forJwt, (origin) => ({
      authorizationServers: [jwt.url],
      requirement,
      dpop: dpopProofs({ origin }),
    }))
    const agent = createAgent(2, jwt.url, { proves: true })
    const connection = await agent.connect(server.resource)
    expect(agent.kept.tokens?.token_type).toBe('DPoP')
    expect(JSON.parse(await connection.call('whoami'))).toMatchObject({ user: 'ada', headers: [] })
    const token = agent.kept.tokens?.access_token ?? ''
    const stolen = await post(server.resource, 'whoami', { token })
    expect(stolen.status).toBe(401)
    await connection.client.close()
  })
})

describe.each(SERVERS.map((kind) => [kind.name, kind] as const))('%s', (_name, kind) => {
  const ORDERS = 'https://orders.example.com'
  const orders = createVerifier({ keys: discoverKeys(jwt.url), issuer: jwt.url, audience: ORDERS })

  test('a tool gets a token for another API, which names its user; its own token is refused there', async () => {
    await using api = await serve(() =>
      express()
        .set('env', 'test')
        .use(authenticate(orders, { respond: 'problem' }), (request, response) => {
          response.json({ user: getAuth(request).claims['user'] })
        }),
    )
    await using client = createOAuthClient({
      issuer: jwt.url,
      ...SERVER,
      resource: ORDERS,
      origins: [api.url],
    })
    const tool: Tool = async (authInfo) => {
      if (authInfo === undefined) throw new Error('nobody calls')
      const { token, extra } = authInfo
      const behalf = client.onBehalfOf({ token, claims: extra }, { resource: ORDERS })
      const passed = await fetch(api.url, { headers: { authorization: `Bearer ${token}` } })
      return [await (await behalf.fetch(api.url)).json(), passed.status]
    }
    const options = { authorizationServers: [jwt.url], requirement }
    await using server = await startServer(kind, forJwt, options, { orders: tool })
    const connection = await createAgent(2, jwt.url).connect(server.resource)
    expect(JSON.parse(await connection.call('orders'))).toEqual([{ user: 'ada' }, 401])
    await connection.client.close()
  })
})

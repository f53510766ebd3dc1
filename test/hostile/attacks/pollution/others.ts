import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { createOAuthClient, OAuthError } from '@portcullis/client/oauth'
import { createVerifier, localKeys, localRevocations, scope, type Verifier } from '@portcullis/core'
import { type EventReceiver, receiveEvents, receiveLogout } from '@portcullis/events'
import { type EndpointOptions, expressEndpoint, fetchEndpoint } from '@portcullis/mcp'
import { manualClock } from '@portcullis/testing'
import type { JWK } from 'jose'

import { AUDIENCE, ISSUER, type Listening, PROOF_TIME } from './calls.ts'

// A server of Node with what is no guard of a route: receivers of events, clients of an authorization server, and endpoints of the Model
// Context Protocol.

/** What a path does with the token of the request: the status for its answer. */
type Action = (token: string) => Promise<number>

/** @param tellers Who signs events. */
export async function serveOthers(good: JWK, tellers: JWK): Promise<Listening> {
  const actions = new Map(
    Object.entries({ ...receiving(good, tellers), ...calling(), ...mcpAsked(good) }),
  )
  const endpoints = new Map(Object.entries(mcpServed(good)))
  const server = createServer((request, response) => {
    const { url = '', rawHeaders } = request
    const endpoint = endpoints.get(url)
    if (endpoint !== undefined) {
      endpoint(request, response, () => response.writeHead(500).end())
      return
    }
    const action = actions.get(url)
    // The header itself: Node makes an object of all of them, which may lack it under pollution.
    const [, token = ''] = (rawHeaders[rawHeaders.indexOf('Authorization') + 1] ?? '').split(' ')
    void action?.(token).then((status) => {
      response.statusCode = status
      response.end()
    })
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { framework: 'no framework', fails: [], app: 'others', port }
}

function receiving(good: JWK, tellers: JWK): Readonly<Record<string, Action>> {
  // Events are of one time for all rounds.
  const clock = manualClock(PROOF_TIME)
  const revocations = localRevocations({ clock })
  const common = { keys: localKeys(tellers), issuer: ISSUER, revocations, clock } as const
  const authorize = createVerifier({ keys: localKeys(good), issuer: ISSUER, audience: null })
  const logout = receiveLogout({ ...common, clientId: AUDIENCE, revokes: 'session' })
  const events = { ...common, audience: AUDIENCE, revokes: 'subject' } as const
  return {
    '/logout': posted(logout, 'application/x-www-form-urlencoded', 'logout_token='),
    '/event': posted(receiveEvents({ ...events, authorize: null }), 'application/secevent+jwt'),
    '/event-of-strangers': posted(
      receiveEvents({ ...events, authorize }),
      'application/secevent+jwt',
    ),
  }
}

function posted(receiver: EventReceiver, type: string, before = ''): Action {
  return async (token) => {
    const headers = { __proto__: null, 'content-type': type }
    const { status } = await receiver.answer({ method: 'POST', headers, body: before + token })
    return status
  }
}

function calling(): Readonly<Record<string, Action>> {
  const common = { clientId: 'shop', clientSecret: 'secret', origins: ['https://orders.test'] }
  const endpoint = `${ISSUER}/token`
  const granting = (document: object) =>
    createOAuthClient({
      ...common,
      tokenEndpoint: endpoint,
      fetch: async () => await Promise.resolve(Response.json(document)),
    })
  const nothing = granting({})
  const elsewhere = granting({ access_token: 'granted', token_type: 'Bearer', expires_in: 3600 })
  const foreign = createOAuthClient({
    ...common,
    issuer: ISSUER,
    fetch: async () =>
      await Promise.resolve(
        Response.json({ issuer: 'https://other.test', token_endpoint: endpoint }),
      ),
  })
  return {
    '/granted-nothing': async () => await outcome(nothing.get()),
    '/sent-elsewhere': async () => await outcome(elsewhere.fetch('https://elsewhere.test/')),
    '/of-a-foreign-issuer': async () => await outcome(foreign.get()),
  }
}

/** Pauses after failures make different errors of one fault. */
async function outcome(work: Promise<unknown>): Promise<number> {
  try {
    await work
    return 200
  } catch (error) {
    return error instanceof OAuthError ? 502 : 500
  }
}

const MCP = 'https://mcp.test/mcp'

/** What each endpoint wants of the token that is good, which has the scope `read`. */
const MCP_OPTIONS: Readonly<Record<string, Partial<EndpointOptions>>> = {
  '': {},
  '-elsewhere': { resource: 'https://other.test/mcp' },
  '-scope': { requirement: scope('write') },
}

/** Of ours in all but the audience, which the endpoint checks by itself: the tokens name none. */
function mcpVerifier(good: JWK): Verifier {
  const verifier = createVerifier({ keys: localKeys(good), issuer: ISSUER, audience: null })
  return {
    async verify(token) {
      const auth = await verifier.verify(token)
      return { ...auth, claims: { ...auth.claims, aud: MCP } }
    },
    ready: async () => await Promise.resolve(),
  }
}

function mcpServed(good: JWK) {
  const served = (name: string, options: Partial<EndpointOptions>) => {
    const stated = {
      resource: MCP,
      authorizationServers: [ISSUER],
      path: `/mcp${name}`,
      ...options,
    }
    return expressEndpoint(mcpVerifier(good), stated, (_request, response) => {
      response.statusCode = 200
      response.end()
    })
  }
  return Object.fromEntries(
    Object.entries(MCP_OPTIONS).map(([name, options]) => [`/mcp${name}`, served(name, options)]),
  )
}

/** Calls of a tool, and one with the id of a session that nobody has begun. */
function mcpAsked(good: JWK): Readonly<Record<string, Action>> {
  const asked = (tool: string, options: Partial<EndpointOptions> = {}, sessionId = ''): Action => {
    const tools = { write: scope('write') }
    const stated = { resource: MCP, authorizationServers: [ISSUER], tools, ...options }
    const endpoint = fetchEndpoint(mcpVerifier(good), stated, () => new Response())
    const body = JSON.stringify({ method: 'tools/call', params: { name: tool } })
    return async (token) => {
      const headers = new Headers()
      if (token !== '') headers.set('authorization', `Bearer ${token}`)
      if (sessionId !== '') headers.set('mcp-session-id', sessionId)
      const init = { __proto__: null, method: 'POST', headers, body } as RequestInit
      try {
        return (await endpoint(new Request(stated.resource, init))).status
      } catch {
        return 500
      }
    }
  }
  return {
    '/mcp-tool': asked('read'),
    '/mcp-other-tool': asked('write'),
    '/mcp-of-others': asked('read', { resource: 'https://other.test/mcp' }),
    '/mcp-session': asked('read', {}, 'invented'),
  }
}

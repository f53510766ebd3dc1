import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  request as httpRequest,
  type RequestListener,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

import fastifyCors from '@fastify/cors'
import fastifyWebsocket from '@fastify/websocket'
import koaCors from '@koa/cors'
import { Router } from '@koa/router'
import { createVerifier, localKeys, scope } from '@portcullis/core'
import * as express from '@portcullis/express'
import * as fastify from '@portcullis/fastify'
import * as koa from '@portcullis/koa'
import { createTestIssuer } from '@portcullis/testing'
import expressCors from 'cors'
import express5 from 'express'
import { rateLimit } from 'express-rate-limit'
import express4 from 'express4'
import createFastify from 'fastify'
import helmet from 'helmet'
import Koa from 'koa'
import Koa2 from 'koa2'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'

// The guards among middleware that nobody here has written: in front of them and behind them, over real connections.

const issuer = await createTestIssuer()
const verifier = createVerifier({ keys: localKeys(issuer.publicJwk), issuer: null, audience: null })
const ada = await issuer.bearer({ claims: { sub: 'ada', scope: 'read' } })
const bob = await issuer.bearer({ claims: { sub: 'bob', scope: 'read write' } })

const CHALLENGE = 'Bearer realm="api"'
const origin = 'https://web.test'
const preflight = {
  method: 'OPTIONS',
  headers: {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization',
  },
}
const brokenJson = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: '{',
}

describe.each<[string, () => express5.Express]>([
  ['Express 5', () => express5()],
  // What these tests use, both majors have alike, with types of their own.
  ['Express 4', () => express4() as unknown as express5.Express],
])('%s', (_name, create) => {
  function createApp(): express5.Express {
    // Otherwise Express writes errors to stderr.
    return create().set('env', 'test')
  }

  test('helmet in front: a refusal has its headers and the challenge, an answer has its headers', async () => {
    const app = createApp()
    app.use(helmet(), express.authenticate(verifier))
    app.get('/', whoAmI)
    await serving(app, async (url) => {
      const refused = await fetch(url)
      expect(refused.status).toBe(401)
      expect(refused.headers.get('www-authenticate')).toBe(CHALLENGE)
      expect(refused.headers.get('strict-transport-security')).toMatch(/max-age/)
      const accepted = await fetch(url, { headers: ada })
      expect(await accepted.json()).toBe('ada')
      expect(accepted.headers.get('strict-transport-security')).toMatch(/max-age/)
    })
  })

  test('helmet behind: an answer has its headers, a refusal does without', async () => {
    const app = createApp()
    app.use(express.authenticate(verifier, { respond: 'problem' }), helmet())
    app.get('/', whoAmI)
    await serving(app, async (url) => {
      const refused = await fetch(url)
      expect(refused.headers.get('www-authenticate')).toBe(CHALLENGE)
      expect(refused.headers.has('strict-transport-security')).toBe(false)
      const accepted = await fetch(url, { headers: ada })
      expect(await accepted.json()).toBe('ada')
      expect(accepted.headers.get('strict-transport-security')).toMatch(/max-age/)
    })
  })

  test('cors in front: preflights need no token, and pages can read a refusal and its challenge', async () => {
    const app = createApp()
    app.use(expressCors({ origin, exposedHeaders: ['WWW-Authenticate'] }))
    app.use(express.authenticate(verifier))
    app.post('/', whoAmI)
    await serving(app, async (url) => {
      await expectPreflightAndRefusal(url)
      const accepted = await fetch(url, { method: 'POST', headers: { ...ada, origin } })
      expect(await accepted.json()).toBe('ada')
      expect(accepted.headers.get('access-control-allow-origin')).toBe(origin)
    })
  })

  test('cors behind: a preflight is refused as any request without a token', async () => {
    const app = createApp()
    app.use(express.authenticate(verifier), expressCors({ origin }))
    app.post('/', whoAmI)
    await serving(app, async (url) => {
      expect((await fetch(url, preflight)).status).toBe(401)
    })
  })

  test('express-rate-limit in front: refused requests count, and too many are not looked at', async () => {
    const told: string[] = []
    const app = createApp()
    app.use(rateLimit({ windowMs: 3_600_000, limit: 2 }))
    app.use(express.authenticate(verifier, { onRefusal: ({ reason }) => told.push(reason) }))
    app.get('/', whoAmI)
    await serving(app, async (url) => {
      expect((await fetch(url)).status).toBe(401)
      expect((await fetch(url, { headers: ada })).status).toBe(200)
      const limited = await fetch(url)
      expect(limited.status).toBe(429)
      expect(limited.headers.has('www-authenticate')).toBe(false)
      expect(told).toEqual(['missing_header'])
    })
  })

  test('express-rate-limit behind: can count by subject, and refused requests do not count', async () => {
    const app = createApp()
    app.use(express.authenticate(verifier))
    app.use(
      rateLimit({
        windowMs: 3_600_000,
        limit: 1,
        keyGenerator: (req) => String(express.getAuth(req).claims.sub),
      }),
    )
    app.get('/', whoAmI)
    await serving(app, async (url) => {
      const statuses: number[] = []
      for (const headers of [{}, ada, {}, ada, bob]) {
        statuses.push((await fetch(url, { headers })).status)
      }
      expect(statuses).toEqual([401, 200, 401, 429, 200])
    })
  })

  test('routers: a guard holds for its own router and those in it, and not for the one beside it', async () => {
    const places = express5.Router({ mergeParams: true })
    places.get('/', express.authorize(scope('read')), (req, res) => {
      res.json([req.params, express.getAuth(req).claims.sub])
    })
    places.post('/', express.authorize(scope('write')), whoAmI)
    const guarded = express5.Router()
    guarded.use(express.authenticate(verifier))
    guarded.use('/clients/:client/places', places)
    const open = express5.Router()
    open.get('/health', (_req, res) => {
      res.json('well')
    })
    const app = createApp()
    app.use('/v1', open)
    app.use('/v1', guarded)
    await serving(app, async (url) => {
      expect((await fetch(`${url}/v1/health`)).status).toBe(200)
      const path = `${url}/v1/clients/7/places`
      expect((await fetch(path)).status).toBe(401)
      expect(await (await fetch(path, { headers: ada })).json()).toEqual([{ client: '7' }, 'ada'])
      expect((await fetch(path, { method: 'POST', headers: ada })).status).toBe(403)
      expect((await fetch(path, { method: 'POST', headers: bob })).status).toBe(200)
      expect((await fetch(`${url}/v1/unknown`, { headers: ada })).status).toBe(404)
    })
  })

  test('express.json behind: a body is read only for those let through; in front: for everybody', async () => {
    const behind = createApp()
    behind.use(express.authenticate(verifier), express5.json())
    behind.post('/', echo)
    const inFront = createApp()
    inFront.use(express5.json(), express.authenticate(verifier))
    inFront.post('/', echo)
    await serving(behind, async (url) => {
      expect((await fetch(url, brokenJson)).status).toBe(401)
      await expectEcho(url)
    })
    await serving(inFront, async (url) => {
      expect((await fetch(url, brokenJson)).status).toBe(400)
      await expectEcho(url)
    })
  })
})

describe.each<[string, () => Koa<koa.AuthState>]>([
  ['Koa 3', () => new Koa<koa.AuthState>()],
  // What these tests use, both majors have alike, with types of their own.
  ['Koa 2', () => new Koa2<koa.AuthState>() as unknown as Koa<koa.AuthState>],
])('%s', (_name, createApp) => {
  test('@koa/router: a guard holds for its own router and those in it, and not for the one beside it', async () => {
    const places = new Router<koa.AuthState>()
    places.get('/places', koa.authorize(scope('read')), (ctx) => {
      ctx.body = [ctx.params, ctx.state.auth.claims.sub]
    })
    places.post('/places', koa.authorize(scope('write')), (ctx) => {
      ctx.body = ctx.state.auth.claims.sub
    })
    const guarded = new Router<koa.AuthState>({ prefix: '/v1' })
    guarded.use(koa.authenticate(verifier))
    guarded.use('/clients/:client', places.routes())
    const open = new Router<koa.AuthState>({ prefix: '/v1' })
    open.get('/health', (ctx) => {
      ctx.body = 'well'
    })
    const app = createApp()
    app.use(open.routes()).use(guarded.routes()).use(guarded.allowedMethods())
    await serving(app.callback(), async (url) => {
      expect((await fetch(`${url}/v1/health`)).status).toBe(200)
      const path = `${url}/v1/clients/7/places`
      const refused = await fetch(path)
      expect(refused.status).toBe(401)
      expect(refused.headers.get('www-authenticate')).toBe(CHALLENGE)
      expect(await (await fetch(path, { headers: ada })).json()).toEqual([{ client: '7' }, 'ada'])
      expect((await fetch(path, { method: 'POST', headers: ada })).status).toBe(403)
      expect((await fetch(path, { method: 'POST', headers: bob })).status).toBe(200)
      expect((await fetch(path, { method: 'DELETE', headers: ada })).status).toBe(405)
      expect((await fetch(`${url}/v1/unknown`, { headers: ada })).status).toBe(404)
    })
  })

  test('@koa/router behind: a guard of the whole application comes before the search for a route', async () => {
    const router = new Router<koa.AuthState>()
    router.get('/', (ctx) => {
      ctx.body = JSON.stringify(ctx.state.auth.claims.sub)
    })
    const app = createApp()
    app.use(koa.authenticate(verifier)).use(router.routes())
    await serving(app.callback(), async (url) => {
      expect((await fetch(`${url}/unknown`)).status).toBe(401)
      expect((await fetch(`${url}/unknown`, { headers: ada })).status).toBe(404)
      expect(await (await fetch(url, { headers: ada })).json()).toBe('ada')
    })
  })

  test.each(['forward', 'problem'] as const)(
    '@koa/cors in front, respond: %s: preflights need no token, and pages can read a refusal and its challenge',
    async (respond) => {
      const app = createApp()
      app.use(koaCors({ origin, exposeHeaders: ['WWW-Authenticate'] }))
      app.use(koa.authenticate(verifier, { respond }))
      app.use((ctx) => {
        ctx.body = JSON.stringify(ctx.state.auth.claims.sub)
      })
      await serving(app.callback(), async (url) => {
        await expectPreflightAndRefusal(url)
        const accepted = await fetch(url, { method: 'POST', headers: { ...ada, origin } })
        expect(await accepted.json()).toBe('ada')
        expect(accepted.headers.get('access-control-allow-origin')).toBe(origin)
      })
    },
  )

  test('@koa/cors behind: a preflight is refused as any request without a token', async () => {
    const app = createApp()
    app.use(koa.authenticate(verifier)).use(koaCors({ origin }))
    await serving(app.callback(), async (url) => {
      expect((await fetch(url, preflight)).status).toBe(401)
    })
  })

  test('koa-body behind: a body is read only for those let through; in front: for everybody', async () => {
    const koaBody = await loadKoaBody()
    const behind = createApp()
    behind.use(koa.authenticate(verifier)).use(koaBody()).use(koaEcho)
    const inFront = createApp()
    // A body that cannot be parsed is an error of its own status.
    inFront.on('error', () => undefined)
    inFront.use(koaBody()).use(koa.authenticate(verifier)).use(koaEcho)
    await serving(behind.callback(), async (url) => {
      expect((await fetch(url, brokenJson)).status).toBe(401)
      await expectEcho(url)
    })
    await serving(inFront.callback(), async (url) => {
      expect((await fetch(url, brokenJson)).status).toBe(400)
      await expectEcho(url)
    })
  })
})

describe('Fastify 5', () => {
  test.each(['forward', 'problem'] as const)(
    '@fastify/cors in front, respond: %s: preflights need no token, and pages can read a refusal and its challenge',
    async (respond) => {
      const app = createFastify()
      await app.register(fastifyCors, { origin, exposedHeaders: ['WWW-Authenticate'] })
      await app.register(fastify.authenticate(verifier, { respond }))
      app.post('/', (request) => ({ sub: request.auth.claims.sub }))
      await listening(app, async (url) => {
        await expectPreflightAndRefusal(url)
        const accepted = await fetch(url, { method: 'POST', headers: { ...ada, origin } })
        expect(await accepted.json()).toEqual({ sub: 'ada' })
        expect(accepted.headers.get('access-control-allow-origin')).toBe(origin)
      })
    },
  )

  test('@fastify/cors behind: a preflight is refused as any request without a token', async () => {
    const app = createFastify()
    await app.register(fastify.authenticate(verifier))
    await app.register(fastifyCors, { origin })
    app.post('/', () => ({}))
    await listening(app, async (url) => {
      expect((await fetch(url, preflight)).status).toBe(401)
    })
  })

  // Behind a hook that refuses, that plugin leaves the connection open: so it goes in front of every guard.
  test.each(['forward', 'problem'] as const)(
    '@fastify/websocket in front, respond: %s: a refusal ends the connection, a token opens one, whose handler sees what it proves',
    async (respond) => {
      const app = createFastify()
      await app.register(fastifyWebsocket)
      await app.register(fastify.authenticate(verifier, { respond }))
      app.get('/', { websocket: true }, (socket, req) => {
        socket.on('message', (message: Buffer) => {
          socket.send(`${String(req.auth.claims.sub)} says ${message.toString()}`)
        })
      })
      const onRequest = fastify.authorize(scope('write'))
      app.get('/write', { websocket: true, onRequest }, (socket) => {
        socket.send('welcome')
      })
      await listening(app, async (url) => {
        const refused = await upgrade(url)
        expect(refused).toMatchObject({
          statusCode: 401,
          headers: { 'www-authenticate': CHALLENGE },
        })
        const needy = new WebSocket(`${url}/write`, { headers: ada })
        await expect(once(needy, 'open')).rejects.toThrow('Unexpected server response: 403')
        const socket = new WebSocket(url, { headers: ada })
        await once(socket, 'open')
        socket.send('hello')
        const [answer] = (await once(socket, 'message')) as [Buffer]
        expect(answer.toString()).toBe('ada says hello')
        socket.close()
        await once(socket, 'close')
      })
    },
  )
})

function whoAmI(req: express5.Request, res: express5.Response): void {
  res.json(express.getAuth(req).claims.sub)
}

function echo(req: express5.Request, res: express5.Response): void {
  res.json(req.body)
}

function koaEcho(ctx: Koa.Context): void {
  ctx.body = Reflect.get(ctx.request, 'body')
}

async function expectPreflightAndRefusal(url: string): Promise<void> {
  const allowed = await fetch(url, preflight)
  expect(allowed.status).toBe(204)
  expect(allowed.headers.get('access-control-allow-origin')).toBe(origin)
  const refused = await fetch(url, { method: 'POST', headers: { origin } })
  expect(refused.status).toBe(401)
  expect(refused.headers.get('www-authenticate')).toBe(CHALLENGE)
  expect(refused.headers.get('cache-control')).toBe('no-store')
  expect(refused.headers.get('access-control-allow-origin')).toBe(origin)
  expect(refused.headers.get('access-control-expose-headers')).toMatch(/www-authenticate/i)
}

async function expectEcho(url: string): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...ada, 'content-type': 'application/json' },
    body: '{"place":"here"}',
  })
  expect(await response.json()).toEqual({ place: 'here' })
}

async function serving(
  app: (...args: Parameters<RequestListener>) => unknown,
  use: (url: string) => Promise<void>,
): Promise<void> {
  const server = createServer((request, response) => {
    app(request, response)
  }).listen(0, '127.0.0.1')
  try {
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo // what a server on a port has
    await use(`http://127.0.0.1:${port}`)
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

async function listening(
  app: { listen: (on: object) => Promise<string>; close: () => Promise<unknown> },
  use: (url: string) => Promise<void>,
): Promise<void> {
  try {
    await use(await app.listen({ port: 0, host: '127.0.0.1' }))
  } finally {
    await app.close()
  }
}

/** What the server answers to a request for a WebSocket before it ends the connection. */
async function upgrade(url: string): Promise<IncomingMessage> {
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': Buffer.alloc(16).toString('base64'),
  }
  const call = httpRequest(url, { headers }).end()
  const [socket] = (await once(call, 'socket')) as [Socket]
  const closed = once(socket, 'close')
  const [response] = (await once(call, 'response')) as [IncomingMessage]
  response.resume()
  await closed
  return response
}

/** Its types change node's `IncomingMessage` for everybody, and those of Express do not agree: so the compiler must not see it. */
async function loadKoaBody(): Promise<() => Koa.Middleware> {
  const name: string = 'koa-body'
  const { koaBody } = (await import(name)) as { koaBody: () => Koa.Middleware }
  return koaBody
}

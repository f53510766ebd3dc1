import { once } from 'node:events'
import { type IncomingMessage, request as httpRequest } from 'node:http'
import type { Socket } from 'node:net'

import fastifyCors from '@fastify/cors'
import fastifyWebsocket from '@fastify/websocket'
import { scope } from '@portcullis/core'
import * as fastify from '@portcullis/fastify'
import createFastify from 'fastify'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'

import {
  ada,
  CHALLENGE,
  expectPreflightAndRefusal,
  expectReadableOutage,
  exposed,
  listening,
  origin,
  outage,
  preflight,
  verifier,
} from './serving.ts'

// Among middleware that nobody here has written: in front of the guards and behind them, over real connections.

describe('Fastify 5', () => {
  test.each(['forward', 'problem'] as const)(
    '@fastify/cors in front, respond: %s: preflights need no token, and pages can read a refusal and its challenge',
    async (respond) => {
      const app = createFastify()
      await app.register(fastifyCors, { origin, exposedHeaders: exposed })
      await app.register(fastify.authenticate(verifier, { respond }))
      app.post('/', (request) => ({ sub: request.auth.claims.sub }))
      await listening(app, async (url) => {
        await expectPreflightAndRefusal(url)
        const accepted = await fetch(url, { method: 'POST', headers: { ...ada, origin } })
        expect(await accepted.json()).toEqual({ sub: 'ada' })
        expect(accepted.headers.get('access-control-allow-origin')).toBe(origin)
      })
      const down = createFastify()
      await down.register(fastifyCors, { origin, exposedHeaders: exposed })
      await down.register(fastify.authenticate(outage, { respond }))
      down.post('/', () => ({}))
      await listening(down, expectReadableOutage)
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
        expect((await upgrade(`${url}/unknown`)).statusCode).toBe(401)
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

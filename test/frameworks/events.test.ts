import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  request as requestOverHttp,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'

import { getRequestListener } from '@hono/node-server'
import { Controller, Module, Post, Req, Res } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { createVerifier, localRevocations } from '@portcullis/core'
import { type EventReceiver, receiveEvents, receiveLogout } from '@portcullis/events'
import { createTestIssuer, eventTransmitter } from '@portcullis/testing'
import express from 'express'
import express4 from 'express4'
import { fastify, type FastifyReply, type FastifyRequest } from 'fastify'
import { fastify as fastify4 } from 'fastify4'
import { Hono } from 'hono'
import Koa from 'koa'
import Koa2 from 'koa2'
import { describe, expect, test } from 'vitest'

// Events in every framework, as the README of events says, with and without a body parser before.

const ISSUER = 'https://login.test'
const FORM = 'application/x-www-form-urlencoded'
const SET = 'application/secevent+jwt'

const issuer = await createTestIssuer({ issuer: ISSUER, algorithm: 'ES256' })
const transmitter = eventTransmitter(issuer, { audience: 'me' })

interface Receivers {
  readonly logout: EventReceiver
  readonly push: EventReceiver
}

/** An application that receives log-outs at `/logout` and security events at `/push`. */
type Make = (receivers: Receivers) => Listener | Promise<Listener>

type Listener = (request: IncomingMessage, response: ServerResponse) => unknown

interface KoaContext {
  readonly path: string
  readonly headers: object
  readonly req: IncomingMessage
  readonly request: object
  status: number
  body: unknown
  set(headers: Readonly<Record<string, string>>): void
}

async function answerKoa(context: KoaContext, { logout, push }: Receivers): Promise<void> {
  const receiver = context.path === '/logout' ? logout : push
  const { status, headers, body } = await receiver.answer({
    headers: context.headers,
    rawHeaders: context.req.rawHeaders,
    body: context.req.readableDidRead ? Reflect.get(context.request, 'body') : context.req,
  })
  context.status = status
  context.set(headers)
  context.body = body
}

async function answerFastify(
  receiver: EventReceiver,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { status, headers, body } = await receiver.answer({
    headers: request.headers,
    rawHeaders: request.raw.rawHeaders,
    body: request.body,
  })
  await reply.code(status).headers(headers).send(body)
}

function nestController({ logout, push }: Receivers, platform: 'express' | 'fastify'): object {
  class Events {
    async logout(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      await send(logout, request, reply)
    }
    async push(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      await send(push, request, reply)
    }
  }
  async function send(
    receiver: EventReceiver,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    if (platform === 'fastify') await answerFastify(receiver, request, reply)
    // Those of Express are those of Node.
    else await receiver(...([request, reply] as unknown as Parameters<EventReceiver>))
  }
  for (const name of ['logout', 'push'] as const) {
    Post(name)(
      Events.prototype,
      name,
      Object.getOwnPropertyDescriptor(Events.prototype, name) as PropertyDescriptor,
    )
    Req()(Events.prototype, name, 0)
    Res()(Events.prototype, name, 1)
  }
  Controller()(Events)
  // oxlint-disable-next-line typescript/no-extraneous-class -- a module of Nest
  class Root {}
  Module({ controllers: [Events] })(Root)
  return Root
}

const MAKERS: Readonly<Record<string, Make>> = {
  'node:http': ({ logout, push }) => {
    return (request, response) => {
      void (request.url === '/logout' ? logout : push)(request, response)
    }
  },
  'Express 5': ({ logout, push }) => express().post('/logout', logout).post('/push', push),
  'Express 5 behind its parsers': ({ logout, push }) =>
    express()
      .use(express.json(), express.urlencoded(), express.text({ type: SET }))
      .post('/logout', logout)
      .post('/push', push),
  'Express 4 behind its parsers': ({ logout, push }) =>
    express4()
      .use(express4.json(), express4.urlencoded({ extended: true }), express4.raw({ type: SET }))
      .post('/logout', (request, response) => void logout(request, response))
      .post('/push', (request, response) => void push(request, response)),
  'Express 4 behind a parser of something else': ({ logout, push }) =>
    express4()
      .use(express4.json())
      .post('/logout', (request, response) => void logout(request, response))
      .post('/push', (request, response) => void push(request, response)),
  Hono: ({ logout, push }) => {
    const app = new Hono()
    app.post('/logout', async (context) => await logout.fetch(context.req.raw))
    app.post('/push', async (context) => await push.fetch(context.req.raw))
    const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false })
    return (request, response) => void listener(request, response)
  },
  'Hono behind what reads the body': (receivers) => {
    const app = new Hono()
    app.use(async (context, next) => {
      await context.req.parseBody()
      await next()
    })
    for (const name of ['logout', 'push'] as const) {
      app.post(`/${name}`, async (context) => {
        const { status, headers, body } = await receivers[name].answer({
          headers: context.req.raw.headers,
          body: await context.req.text(),
        })
        return new Response(body, { status, headers })
      })
    }
    const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false })
    return (request, response) => void listener(request, response)
  },
  'Koa 3': (receivers) => {
    const app = new Koa()
    app.use(async (context) => {
      await answerKoa(context, receivers)
    })
    return app.callback()
  },
  // As koa-bodyparser does it with what it does not read, such as security events.
  'Koa 3 behind a parser of something else': (receivers) => {
    const app = new Koa()
    app.use(async (context, next) => {
      Object.assign(context.request, { body: {} })
      await next()
    })
    app.use(async (context) => {
      await answerKoa(context, receivers)
    })
    return app.callback()
  },
  'Koa 2 behind a parser': (receivers) => {
    const app = new Koa2()
    app.use(async (context, next) => {
      const chunks: Buffer[] = []
      for await (const chunk of context.req) chunks.push(chunk as Buffer)
      Object.assign(context.request, { body: Buffer.concat(chunks).toString() })
      await next()
    })
    app.use(async (context) => {
      await answerKoa(context, receivers)
    })
    return app.callback()
  },
  'Fastify 5': async ({ logout, push }) => {
    const app = fastify()
    app.addContentTypeParser([FORM, SET], (_request, payload, done) => {
      done(null, payload)
    })
    app.post('/logout', async (request, reply) => {
      await answerFastify(logout, request, reply)
    })
    app.post('/push', async (request, reply) => {
      await answerFastify(push, request, reply)
    })
    await app.ready()
    return (request, response) => {
      app.routing(request, response)
    }
  },
  'Fastify 4 that reads texts': async ({ logout, push }) => {
    const app = fastify4()
    app.addContentTypeParser([FORM, SET], { parseAs: 'string' }, (_request, body, done) => {
      done(null, body)
    })
    app.post('/logout', async (request, reply) => {
      await answerFastify(logout, request as never, reply as never)
    })
    app.post('/push', async (request, reply) => {
      await answerFastify(push, request as never, reply as never)
    })
    await app.ready()
    return (request, response) => {
      app.routing(request, response)
    }
  },
  'Nest on Express': async (receivers) => {
    const root = nestController(receivers, 'express')
    const app = await NestFactory.create(root as never, new ExpressAdapter(), { logger: false })
    await app.init()
    return app.getHttpAdapter().getInstance() as RequestListener
  },
  'Nest on Fastify': async (receivers) => {
    const root = nestController(receivers, 'fastify')
    const adapter = new FastifyAdapter()
    const app = await NestFactory.create(root as never, adapter, { logger: false })
    adapter.getInstance().addContentTypeParser([SET], (_request, payload, done) => {
      done(null, payload)
    })
    await app.init()
    await adapter.getInstance().ready()
    return (request, response) => {
      adapter.getInstance().routing(request, response)
    }
  },
}

describe.each(Object.entries(MAKERS))('%s', (_, make) => {
  test('a log-out and a security event are recorded, a repeat is acknowledged, others are refused', async () => {
    const revocations = localRevocations()
    const { keys } = issuer.verifierOptions
    const options = { keys, issuer: ISSUER, revocations, revokes: 'session' } as const
    await using served = await serve(
      await make({
        logout: receiveLogout({ ...options, clientId: 'me' }),
        push: receiveEvents({ ...options, audience: 'me', authorize: 'the secret of a test' }),
      }),
    )
    const logout = await transmitter.logoutToken({ sid: 's-1' })
    expect(await transmitter.sendLogout(served.at('/logout'), logout)).toSatisfy(isAccepted(200))
    expect(await transmitter.sendLogout(served.at('/logout'), logout)).toSatisfy(isAccepted(200))
    const subject = { format: 'opaque', id: 's-2' }
    const event = await transmitter.securityEvent({ type: 'session-revoked', subject })
    const push = async (token: string, secret?: string) =>
      await transmitter.push(served.at('/push'), token, secret)
    expect((await push(event)).status).toBe(401)
    expect(revocations.size).toBe(1)
    expect(await push(event, 'the secret of a test')).toSatisfy(isAccepted(202))
    expect(revocations.toSnapshot().entries).toMatchObject([{ sid: 's-1' }, { sid: 's-2' }])
    const strange = await push(logout, 'the secret of a test')
    expect(strange.headers.get('content-type')).toMatch(/^application\/json/)
    expect([strange.status, await strange.json()]).toMatchObject([400, { err: 'invalid_request' }])
    const forged = await transmitter.sendLogout(served.at('/logout'), `${logout}x`)
    expect([forged.status, forged.headers.get('cache-control')]).toEqual([400, 'no-store'])
    expect(revocations.size).toBe(2)
  })
})

test.each(Object.entries(MAKERS))(
  '%s: a header Authorization that came twice is refused',
  async (_, make) => {
    const revocations = localRevocations()
    const options = { issuer: ISSUER, revocations, revokes: 'session' } as const
    const { keys } = issuer.verifierOptions
    const authorize = createVerifier(issuer.verifierOptions)
    await using served = await serve(
      await make({
        logout: receiveLogout({ ...options, keys, clientId: 'me' }),
        push: receiveEvents({ ...options, keys, audience: 'me', authorize }),
      }),
    )
    const subject = { format: 'opaque', id: 's-2' }
    const event = await transmitter.securityEvent({ type: 'session-revoked', subject })
    const bearer = ['Authorization', `Bearer ${await issuer.token()}`]
    const pushed = async (...more: readonly string[]) => {
      const headers = ['Host', 'x', 'Content-Type', SET, 'Content-Length', String(event.length)]
      const sending = requestOverHttp(served.at('/push'), {
        method: 'POST',
        headers: [...headers, ...bearer, ...more],
      })
      sending.end(event)
      const [response] = (await once(sending, 'response')) as [IncomingMessage]
      response.resume()
      return response.statusCode
    }
    expect(await pushed('Authorization', 'Bearer x')).toBe(400)
    expect(revocations.size).toBe(0)
    expect(await pushed()).toBe(202)
    expect(revocations.size).toBe(1)
  },
)

function isAccepted(status: number) {
  return (response: Response) =>
    response.status === status && response.headers.get('cache-control') === 'no-store'
}

async function serve(listener: Listener) {
  const server = createServer((request, response) => void listener(request, response))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    at: (path: string) => `http://127.0.0.1:${port}${path}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

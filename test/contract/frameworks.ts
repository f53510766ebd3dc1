import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

import fastifyCors from '@fastify/cors'
import koaCors from '@koa/cors'
import { Router } from '@koa/router'
import type {
  Auth,
  GuardOptions,
  ProtectedResourceMetadata,
  Requirement,
  Verifier,
} from '@portcullis/core'
import * as onExpress from '@portcullis/express'
import * as onFastify from '@portcullis/fastify'
import * as onKoa from '@portcullis/koa'
import expressCors from 'cors'
import express5 from 'express'
import express4 from 'express4'
import { fastify as fastify5, type FastifyInstance } from 'fastify'
import { fastify as fastify4 } from 'fastify4'
import Koa3 from 'koa'
import Koa2 from 'koa2'

interface Guard {
  verifier: Verifier
  options?: GuardOptions
}

/** What a handler sees of its request. */
export interface View {
  /** What the guard shows under this name, where the framework keeps such things. */
  property(name: string): unknown
  getAuth(verifier?: Verifier): Auth
  findAuth(verifier?: Verifier): Auth | undefined
}

interface Guarded {
  guards?: readonly Guard[]
  requirements?: readonly Requirement[]
}

/** Is there for every method. */
interface Route extends Guarded {
  path: string
  /** Returns the JSON to answer with, or a promise of it. */
  handle: (view: View) => unknown
}

interface ScopeSpec extends Guarded {
  routes?: readonly Route[]
}

export interface AppSpec extends ScopeSpec {
  /** By prefix: Express and Koa call them routers, Fastify scopes. */
  routers?: Readonly<Record<string, ScopeSpec>>
  /** The framework's usual CORS middleware, for any origin, in front of everything. */
  cors?: boolean
  /** Is served in front of the guards. */
  metadata?: ProtectedResourceMetadata
  /** The application's own error handler: it sends what this answers, and no header of the error. */
  onError?: (error: unknown) => { status: number; body: unknown }
  /** Octets, as `node:http` takes it. */
  maxHeaderSize?: number
  /** Switches a framework's printing of errors on, where it is off or off for tests. */
  development?: boolean
  /** Switches it off, for handlers that throw on purpose. */
  silent?: boolean
}

export interface Application extends AsyncDisposable {
  readonly url: string
  readonly port: number
  readonly server: Server
}

export interface Framework {
  readonly name: string
  /** Listens on a free port of 127.0.0.1. */
  readonly createApp: (spec: AppSpec) => Promise<Application>
}

/** An origin that CORS middleware lets in. */
export const WEB = 'https://web.test'

// Express: the part that both majors type alike.

interface ExpressReply {
  json(body: unknown): unknown
  status(status: number): ExpressReply
}

interface ExpressRouter {
  use(...handlers: unknown[]): unknown
  all(path: string, ...handlers: unknown[]): unknown
}

interface Express {
  (): RequestListener & ExpressRouter & { set(name: string, value: string): unknown }
  Router(): ExpressRouter
}

type ExpressHandler = (
  request: object,
  response: ExpressReply,
  next: (error: unknown) => void,
) => unknown

const expressMiddleware = ({ guards = [], requirements = [] }: Guarded) => [
  ...guards.map(({ verifier, options }) => onExpress.authenticate(verifier, options)),
  ...(requirements.length === 0 ? [] : [onExpress.authorize(...requirements)]),
]

async function createExpressApp(
  { express, wrap }: { express: Express; wrap: (handler: ExpressHandler) => ExpressHandler },
  spec: AppSpec,
): Promise<Application> {
  const app = express()
  // Express prints every error it is handed, unless it is told that this is a test.
  app.set('env', spec.development === true ? 'development' : 'test')
  if (spec.cors === true) app.use(expressCors({ origin: WEB }))
  if (spec.metadata !== undefined) app.use(onExpress.serveMetadata(spec.metadata))

  function fill(router: ExpressRouter, scope: ScopeSpec): void {
    for (const each of expressMiddleware(scope)) router.use(each)
    for (const { path, handle, ...guarded } of scope.routes ?? []) {
      const handler: ExpressHandler = (request, response) =>
        answer(
          () =>
            handle({
              property: (name): unknown => Reflect.get(request, name),
              getAuth: (verifier) => onExpress.getAuth(request, verifier),
              findAuth: (verifier) => onExpress.findAuth(request, verifier),
            }),
          (body) => response.json(body),
        )
      router.all(path, ...expressMiddleware(guarded), wrap(handler))
    }
  }

  fill(app, spec)
  for (const [prefix, scope] of Object.entries(spec.routers ?? {})) {
    const router = express.Router()
    fill(router, scope)
    app.use(prefix, router)
  }
  const { onError } = spec
  if (onError !== undefined) {
    app.use((error: unknown, _request: object, response: ExpressReply, _next: unknown) => {
      const { status, body } = onError(error)
      response.status(status).json(body)
    })
  }
  return await listening(app, spec)
}

/** Express 4 leaves it to the application to forward what an asynchronous handler rejects with. */
function forwardingRejections(handler: ExpressHandler): ExpressHandler {
  return (request, response, next) => {
    const result = handler(request, response, next)
    if (result instanceof Promise) result.catch(next)
  }
}

const koaMiddleware = ({ guards = [], requirements = [] }: Guarded) => [
  ...guards.map(({ verifier, options }) => onKoa.authenticate(verifier, options)),
  ...(requirements.length === 0 ? [] : [onKoa.authorize(...requirements)]),
]

async function createKoaApp(Koa: typeof Koa3, spec: AppSpec): Promise<Application> {
  const app = new Koa()
  app.silent = spec.silent === true
  const { onError } = spec
  if (onError !== undefined) {
    app.use(async (context, next) => {
      try {
        await next()
      } catch (error) {
        const { status, body } = onError(error)
        context.status = status
        context.body = body
      }
    })
  }
  if (spec.cors === true) app.use(koaCors({ origin: WEB }))
  if (spec.metadata !== undefined) app.use(onKoa.serveMetadata(spec.metadata))

  function fill(router: Router, scope: ScopeSpec): void {
    for (const { path, handle, ...guarded } of scope.routes ?? []) {
      router.all(path, ...koaMiddleware(guarded), (context) =>
        answer(
          () =>
            handle({
              property: (name): unknown => Reflect.get(context.state, name),
              getAuth: (verifier) => onKoa.getAuth(context, verifier),
              findAuth: (verifier) => onKoa.findAuth(context, verifier),
            }),
          (body) => {
            context.body = body
          },
        ),
      )
    }
    app.use(router.routes())
  }

  for (const each of koaMiddleware(spec)) app.use(each)
  fill(new Router(), spec)
  for (const [prefix, scope] of Object.entries(spec.routers ?? {})) {
    const router = new Router({ prefix })
    for (const each of koaMiddleware(scope)) router.use(each)
    fill(router, scope)
  }
  const handle = app.callback()
  return await listening((request, response) => void handle(request, response), spec)
}

async function guardScope(scope: FastifyInstance, guards: readonly Guard[] = []): Promise<void> {
  for (const { verifier, options } of guards) {
    await scope.register(onFastify.authenticate(verifier, options))
  }
}
function addRoute(scope: FastifyInstance, { path, requirements = [], handle }: Route): void {
  const hooks = requirements.length === 0 ? {} : { onRequest: onFastify.authorize(...requirements) }
  scope.all(path, hooks, (request, reply) =>
    answer(
      () =>
        handle({
          property: (name): unknown => Reflect.get(request, name),
          getAuth: (verifier) => onFastify.getAuth(request, verifier),
          findAuth: (verifier) => onFastify.findAuth(request, verifier),
        }),
      (body) => reply.send(body),
    ),
  )
}

async function fillScope(scope: FastifyInstance, within: ScopeSpec): Promise<void> {
  await guardScope(scope, within.guards)
  if (within.requirements !== undefined) {
    scope.addHook('onRequest', onFastify.authorize(...within.requirements))
  }
  for (const route of within.routes ?? []) {
    // A guard belongs to a scope, so a route with its own is a scope with one route.
    await scope.register(async (inner) => {
      await guardScope(inner, route.guards)
      addRoute(inner, route)
    })
  }
}

async function createFastifyApp(
  {
    fastify,
    useCors,
  }: { fastify: typeof fastify5; useCors: (app: FastifyInstance) => Promise<void> },
  spec: AppSpec,
): Promise<Application> {
  const app = fastify({
    ...(spec.maxHeaderSize === undefined ? {} : { http: { maxHeaderSize: spec.maxHeaderSize } }),
    logger: spec.development === true ? { level: 'error' } : false,
  })
  const { onError } = spec
  if (onError !== undefined) {
    app.setErrorHandler((error, _request, reply) => {
      const { status, body } = onError(error)
      reply.code(status).send(body)
    })
  }
  if (spec.cors === true) await useCors(app)
  if (spec.metadata !== undefined) await app.register(onFastify.serveMetadata(spec.metadata))

  await fillScope(app, spec)
  for (const [prefix, scope] of Object.entries(spec.routers ?? {})) {
    await app.register(
      async (inner) => {
        await fillScope(inner, scope)
      },
      { prefix },
    )
  }
  await app.listen({ port: 0, host: '127.0.0.1' })
  return application(app.server)
}

/** What `@fastify/cors`, which is for Fastify 5 alone, does. */
async function useCorsHook(app: FastifyInstance): Promise<void> {
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ 'access-control-allow-origin': WEB, vary: 'Origin' })
    const isPreflight = 'access-control-request-method' in request.headers
    if (request.method !== 'OPTIONS' || !isPreflight) return undefined
    reply.header('access-control-allow-methods', 'GET,HEAD,POST')
    return await reply.code(204).send()
  })
}

/** Sends what a handler returns, at once or later, and lets what it throws go to the framework. */
function answer(handle: () => unknown, send: (body: unknown) => unknown): unknown {
  const body = handle()
  return body instanceof Promise ? body.then(send) : send(body)
}

async function listening(
  listener: RequestListener,
  { maxHeaderSize }: AppSpec,
): Promise<Application> {
  const options = maxHeaderSize === undefined ? {} : { maxHeaderSize }
  const server = createServer(options, listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return application(server)
}

function application(server: Server): Application {
  const { port } = server.address() as AddressInfo // it listens on a port
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    server,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

// Two majors have what the interfaces above name, with types of their own.
const express = {
  5: { express: express5 as unknown as Express, wrap: (handler: ExpressHandler) => handler },
  4: { express: express4 as unknown as Express, wrap: forwardingRejections },
}
const koa2 = Koa2 as unknown as typeof Koa3
const fastify = {
  5: {
    fastify: fastify5,
    useCors: async (app: FastifyInstance) => {
      await app.register(fastifyCors, { origin: WEB })
    },
  },
  4: { fastify: fastify4 as unknown as typeof fastify5, useCors: useCorsHook },
}

export const frameworks: readonly Framework[] = [
  { name: 'Express 5', createApp: async (spec) => await createExpressApp(express[5], spec) },
  { name: 'Express 4', createApp: async (spec) => await createExpressApp(express[4], spec) },
  { name: 'Koa 3', createApp: async (spec) => await createKoaApp(Koa3, spec) },
  { name: 'Koa 2', createApp: async (spec) => await createKoaApp(koa2, spec) },
  { name: 'Fastify 5', createApp: async (spec) => await createFastifyApp(fastify[5], spec) },
  { name: 'Fastify 4', createApp: async (spec) => await createFastifyApp(fastify[4], spec) },
]

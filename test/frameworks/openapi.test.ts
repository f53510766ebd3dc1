import swagger from '@fastify/swagger'
import { Router } from '@koa/router'
import { Controller, Delete, Get, Module, Post } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { claim, createVerifier, scope } from '@portcullis/core'
import * as ofExpress from '@portcullis/express'
import { describeRoutes as routesOfExpress } from '@portcullis/express/routes'
import * as ofFastify from '@portcullis/fastify'
import { describeRoutes, noteRoutes, securityOf } from '@portcullis/fastify/routes'
import * as ofHono from '@portcullis/hono'
import { describeRoutes as routesOfHono } from '@portcullis/hono/routes'
import * as ofKoa from '@portcullis/koa'
import { describeRoutes as routesOfKoa } from '@portcullis/koa/routes'
import { OptionalAuth, PortcullisModule, Public, Requires } from '@portcullis/nest'
import { describeRoutes as routesOfNest } from '@portcullis/nest/routes'
import { createTestIssuer, type RouteList } from '@portcullis/testing'
import express from 'express'
import { fastify, type FastifyInstance } from 'fastify'
import { type Handler, Hono } from 'hono'
import Koa from 'koa'
import { expect, test } from 'vitest'

// One API in five frameworks, and what its description by OpenAPI says of tokens: the same, whichever framework has it.

const issuer = await createTestIssuer()
const verifier = createVerifier(issuer.verifierOptions)
const write = scope('users:write')
const admin = claim('roles', 'admin')

const PATHS = {
  '/health': { get: { security: [] } },
  '/hello': { get: { security: [{}, { bearer: [] }] } },
  '/users': { post: { security: [{ bearer: ['users:write'] }] } },
  '/users/{id}': {
    get: { security: [{ bearer: [] }] },
    delete: { security: [{ bearer: [] }] },
  },
}

/** No request is made: what a handler does is not looked at. */
function answer(): void {}

const answerHono: Handler = (c) => c.body(null)

function inExpress(): RouteList {
  const { authenticate, authorize } = ofExpress
  const app = express()
  app.get('/health', answer)
  app.get('/hello', authenticate(verifier, { optional: true }), answer)
  app.use('/users', authenticate(verifier))
  app.post('/users', authorize(write), answer)
  app.get('/users/:id', answer)
  app.delete('/users/:id', authorize(admin), answer)
  return routesOfExpress(app)
}

function inKoa(): RouteList {
  const { authenticate, authorize } = ofKoa
  const open = new Router()
  open.get('/health', answer)
  open.get('/hello', authenticate(verifier, { optional: true }), answer)
  const users = new Router()
  users.post('/users', authorize(write), answer)
  users.get('/users/:id', answer)
  users.delete('/users/:id', authorize(admin), answer)
  const app = new Koa()
  app.use(open.routes()).use(authenticate(verifier)).use(users.routes())
  return routesOfKoa(app)
}

function inHono(): RouteList {
  const { authenticate, authorize } = ofHono
  const app = new Hono<{ Variables: ofHono.AuthVariables }>()
  app.get('/health', answerHono)
  app.get('/hello', authenticate(verifier, { optional: true }), answerHono)
  app.use('/users/*', authenticate(verifier))
  app.post('/users', authorize(write), answerHono)
  app.get('/users/:id', answerHono)
  app.delete('/users/:id', authorize(admin), answerHono)
  return routesOfHono(app)
}

async function fastifyApp(prepare: (app: FastifyInstance) => unknown): Promise<FastifyInstance> {
  const { authenticate, authorize } = ofFastify
  const app = fastify()
  noteRoutes(app)
  await prepare(app)
  app.get('/health', answer)
  await app.register(async (open) => {
    await open.register(authenticate(verifier, { optional: true }))
    open.get('/hello', answer)
  })
  await app.register(async (users) => {
    await users.register(authenticate(verifier))
    users.post('/users', { onRequest: authorize(write) }, answer)
    users.get('/users/:id', answer)
    users.delete('/users/:id', { onRequest: authorize(admin) }, answer)
  })
  await app.ready()
  return app
}

@Controller()
class Open {
  @Public()
  @Get('health')
  health(): void {}

  @OptionalAuth()
  @Get('hello')
  hello(): void {}
}

@Controller('users')
class Users {
  @Requires(write)
  @Post()
  save(): void {}

  @Get(':id')
  read(): void {}

  @Requires(admin)
  @Delete(':id')
  remove(): void {}
}

@Module({ imports: [PortcullisModule.forRoot({ verifier })], controllers: [Open, Users] })
// oxlint-disable-next-line typescript/no-extraneous-class -- a module of Nest
class AppModule {}

async function inNest(): Promise<RouteList> {
  const app = await NestFactory.create(AppModule, { logger: false })
  try {
    return await routesOfNest(app)
  } finally {
    await app.close()
  }
}

test.each<[string, () => RouteList | Promise<RouteList>]>([
  ['express', inExpress],
  ['koa', inKoa],
  ['hono', inHono],
  ['fastify', async () => describeRoutes(await fastifyApp(() => {}))],
  ['nest', inNest],
])('%s: each operation has what its guard requires', async (_name, list) => {
  expect(securityOf(await list())).toEqual({
    securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    paths: PATHS,
    undescribed: [],
    beyondScopes: [{ method: 'DELETE', path: '/users/:id', requirements: [admin.description] }],
  })
})

/** As much of a description as this is about. */
interface Description {
  readonly openapi: string
  components?: { securitySchemes?: object }
  readonly paths: Readonly<Record<string, Readonly<Record<string, { security?: object[] }>>>>
}

function addSecurity(document: Description, app: FastifyInstance): void {
  // #region security
  const { securitySchemes, paths } = securityOf(describeRoutes(app))
  document.components ??= {}
  document.components.securitySchemes = {
    ...document.components.securitySchemes,
    ...securitySchemes,
  }
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, security] of Object.entries(operations)) {
      Object.assign(document.paths[path]?.[method] ?? {}, security)
    }
  }
  // #endregion
}

test('what @fastify/swagger makes says it of each of its operations, and has a scheme for each name', async () => {
  const other = { type: 'apiKey', name: 'key', in: 'header' } as const
  const openapi = {
    openapi: '3.1.0',
    components: { securitySchemes: { other } },
    security: [{ other: [] }],
  }
  const app = await fastifyApp(async (made) => await made.register(swagger, { openapi }))
  const before = app.swagger() as Description
  expect(before.openapi).toBe('3.1.0')
  const operations = operationsOf(before)
  expect(operations.map(({ name }) => name).toSorted()).toEqual(
    operationsOf({ paths: PATHS })
      .map(({ name }) => name)
      .toSorted(),
  )
  expect(operations.filter(({ security }) => security !== undefined)).toEqual([])
  const after = structuredClone(before)
  addSecurity(after, app)
  expect(securityIn(after)).toEqual(PATHS)
  expect(after.components?.securitySchemes).toEqual({
    other,
    bearer: { type: 'http', scheme: 'bearer' },
  })
  // All else is as it was.
  for (const { operation } of operationsOf(after)) delete operation.security
  expect(after.paths).toEqual(before.paths)
})

function operationsOf({ paths }: Pick<Description, 'paths'>) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method} ${path}`,
      operation,
      security: operation.security,
    })),
  )
}

function securityIn({ paths }: Description): unknown {
  return Object.fromEntries(
    Object.entries(paths).map(([path, methods]) => [
      path,
      Object.fromEntries(
        Object.entries(methods).map(([method, { security }]) => [method, { security }]),
      ),
    ]),
  )
}

import assert from 'node:assert/strict'
import { once } from 'node:events'

import { serve } from '@hono/node-server'
import { Get, Controller, Module, Req } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { createVerifier, remoteKeys, scope } from '@portcullis/core'
import { explain } from '@portcullis/core/explain'
import { authenticate, authorize, getAuth } from '@portcullis/express'
import * as guardedFastify from '@portcullis/fastify'
import * as guardedHono from '@portcullis/hono'
import * as guardedKoa from '@portcullis/koa'
import * as guardedNest from '@portcullis/nest'
import { createTestIssuer, tokenService } from '@portcullis/testing'
import express from 'express'
import { fastify } from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'

const issuer = await createTestIssuer()
const service = await tokenService(issuer).listen()
const keys = remoteKeys(service.keyUrl)
const verifier = createVerifier({ keys, issuer: null, audience: null })

const explanation = await explain(await issuer.token(), { keys, issuer: null, audience: null })
assert.equal(explanation.verdict, 'accepted')

const app = express()
app.set('env', 'test')
app.get('/', authenticate(verifier), authorize(scope('read')), (request, response) => {
  response.json(getAuth(request).claims.sub)
})
await guards(app.listen(0, '127.0.0.1'))

const koa = new Koa()
koa.use(guardedKoa.authenticate(verifier))
koa.use(guardedKoa.authorize(scope('read')))
koa.use((context) => {
  context.body = JSON.stringify(context.state.auth.claims.sub)
})
await guards(koa.listen(0, '127.0.0.1'))

const scoped = fastify()
await scoped.register(guardedFastify.authenticate(verifier))
scoped.get('/', { onRequest: guardedFastify.authorize(scope('read')) }, async (request) =>
  JSON.stringify(request.auth.claims.sub),
)
await scoped.ready()
await guards(scoped.server.listen(0, '127.0.0.1'))

const hono = new Hono()
hono.use(guardedHono.authenticate(verifier), guardedHono.authorize(scope('read')))
hono.get('/', (context) => context.json(context.get('auth').claims.sub))
await guards(serve({ fetch: hono.fetch, port: 0, hostname: '127.0.0.1' }))

// Decorators are called by hand: Node has none.
class Places {
  list(request) {
    return JSON.stringify(guardedNest.getAuth(request).claims.sub)
  }
}
const descriptor = Object.getOwnPropertyDescriptor(Places.prototype, 'list')
Req()(Places.prototype, 'list', 0)
Get()(Places.prototype, 'list', descriptor)
guardedNest.Requires(scope('read'))(Places.prototype, 'list', descriptor)
Controller()(Places)
class Root {}
Module({ imports: [guardedNest.PortcullisModule.forRoot({ verifier })], controllers: [Places] })(
  Root,
)
const nest = await NestFactory.create(Root, { logger: false })
await nest.listen(0, '127.0.0.1')
await guards(nest.getHttpServer())

await service.close()

async function guards(server) {
  if (!server.listening) await once(server, 'listening')
  const url = `http://127.0.0.1:${server.address().port}/`
  const claims = { sub: 'ada', scope: 'read' }
  const accepted = await fetch(url, { headers: await issuer.bearer({ claims }) })
  assert.equal(accepted.status, 200)
  assert.equal(await accepted.json(), 'ada')
  const refused = await fetch(url)
  assert.equal(refused.status, 401)
  assert.equal(refused.headers.get('www-authenticate'), 'Bearer realm="api"')
  await refused.body.cancel()
  server.close()
  server.closeAllConnections()
}

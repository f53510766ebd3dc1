import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

import { Controller, Get, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { createTokenClient } from '@portcullis/client'
import { type Auth, AuthError, createVerifier, remoteKeys, scope } from '@portcullis/core'
import '@portcullis/express/request'
import * as guardedExpress from '@portcullis/express'
import * as guardedFastify from '@portcullis/fastify'
import * as guardedHono from '@portcullis/hono'
import * as guardedKoa from '@portcullis/koa'
import { CurrentAuth, PortcullisModule, Requires } from '@portcullis/nest'
import { redisRevocations } from '@portcullis/redis'
import { createTestIssuer, tokenService } from '@portcullis/testing'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'

// The main calls of every package, in a program that can be compiled as CommonJS and as an ES module.

async function main(): Promise<void> {
  const issuer = await createTestIssuer()
  const logins = { ada: { password: 'secret', claims: { scope: 'read' } } }
  const service = await tokenService(issuer, { logins }).listen()
  const keys = remoteKeys(service.keyUrl)
  // Nothing listens there: a token that is not known to be revoked is accepted all the same.
  const url = 'redis://127.0.0.1:1'
  const revocations = redisRevocations({ url, whenStale: 'accept' })
  const verifier = createVerifier({ keys, issuer: null, audience: null, revocations })
  const account = { authUrl: service.authUrl, loginId: 'ada', password: 'secret' }

  const expressApp = express().set('env', 'test')
  const { authenticate, authorize } = guardedExpress
  expressApp.get('/', authenticate(verifier), authorize(scope('read')), (request, response) => {
    const auth: Auth | undefined = request.auth
    response.json(auth?.claims.sub)
  })
  await guards(expressApp.listen(0, '127.0.0.1'))

  const koaApp = new Koa<guardedKoa.AuthState>()
  koaApp.use(guardedKoa.authenticate(verifier)).use(guardedKoa.authorize(scope('read')))
  koaApp.use((context) => {
    context.body = JSON.stringify(context.state.auth.claims.sub)
  })
  await guards(koaApp.listen(0, '127.0.0.1'))

  const honoApp = new Hono<{ Variables: guardedHono.AuthVariables }>()
  honoApp.use(guardedHono.authenticate(verifier)).use(guardedHono.authorize(scope('read')))
  honoApp.get('/', (context) => context.json(context.var.auth.claims.sub))
  // Without a port: the declarations of @hono/node-server need those of browsers.
  const tokensForHono = createTokenClient({ ...account, origins: [] })
  const authorization = `Bearer ${await tokensForHono.get()}`
  const accepted = await honoApp.request('/', { headers: { authorization } })
  assert.deepEqual([accepted.status, await accepted.json()], [200, 'ada'])
  assert.equal((await honoApp.request('/')).status, 401)
  await tokensForHono.close()

  const fastifyApp = fastify()
  await fastifyApp.register(guardedFastify.authenticate(verifier))
  const onRequest = guardedFastify.authorize(scope('read'))
  fastifyApp.get('/', { onRequest }, async (request) => JSON.stringify(request.auth.claims.sub))
  await fastifyApp.listen({ host: '127.0.0.1', port: 0 })
  await guards(fastifyApp.server)

  @Controller()
  class Places {
    @Get()
    @Requires(scope('read'))
    list(@CurrentAuth() auth: Auth): string {
      return JSON.stringify(auth.claims.sub)
    }
  }

  @Module({ imports: [PortcullisModule.forRoot({ verifier })], controllers: [Places] })
  class Root {}

  const nestApp = await NestFactory.create(Root, { logger: false })
  await nestApp.listen(0, '127.0.0.1')
  await guards(nestApp.getHttpServer() as Server)

  await assert.rejects(verifier.verify('a.b.c'), AuthError)
  await revocations.close()
  await service.close()

  async function guards(server: Server): Promise<void> {
    if (!server.listening) await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const tokens = createTokenClient({ ...account, origins: [new URL(url).origin] })
    const accepted = await tokens.fetch(url)
    assert.deepEqual([accepted.status, await accepted.json()], [200, 'ada'])
    const refused = await fetch(url)
    assert.equal(refused.status, 401)
    await refused.body?.cancel()
    await tokens.close()
    server.close()
    server.closeAllConnections()
  }
}

void main()

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'

import { getRequestListener } from '@hono/node-server'
import { createVerifier, localKeys } from '@portcullis/core'
import * as expressGuard from '@portcullis/express'
import * as fastifyGuard from '@portcullis/fastify'
import * as honoGuard from '@portcullis/hono'
import * as koaGuard from '@portcullis/koa'
import { createTestIssuer } from '@portcullis/testing'
import express from 'express'
import { fastify } from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'

// A program that puts guards of one framework where they do nothing, and prints what a developer reads then. Some mistakes
// are possible without types alone, so they have a cast here.

const issuer = await createTestIssuer()
const keys = localKeys(issuer.publicJwk)
const verifier = createVerifier({ keys, issuer: null, audience: null })

type Listener = (request: IncomingMessage, response: ServerResponse) => unknown
type Mistake = () => Promise<Listener>

/** By the folder of the package. Fastify adds a guard to the routes above it as well, and in Nest there is no order. */
const mistakes: Readonly<Record<string, Readonly<Record<string, Mistake>>>> = {
  express: {
    'a guard after the route': async () => {
      const app = express()
      app.get('/', (request, response) => void response.json(expressGuard.getAuth(request)))
      return app.use(expressGuard.authenticate(verifier))
    },
    'authenticate is not called': async () => express().use(expressGuard.authenticate as never),
    'authorize is not called': async () => express().use(expressGuard.authorize as never),
  },
  koa: {
    'a guard after the route': async () => {
      const app = new Koa()
      app.use((ctx) => {
        ctx.body = koaGuard.getAuth(ctx)
      })
      return app.use(koaGuard.authenticate(verifier)).callback()
    },
    'authenticate is not called': async () =>
      new Koa().use(koaGuard.authenticate as never).callback(),
    'authorize is not called': async () => new Koa().use(koaGuard.authorize as never).callback(),
    'getAuth of the request': async () => {
      const app = new Koa().use(koaGuard.authenticate(verifier))
      app.use((ctx) => {
        ctx.body = koaGuard.getAuth(ctx.request)
      })
      return app.callback()
    },
  },
  fastify: {
    'authenticate is not called': async () => {
      await fastify().register(fastifyGuard.authenticate as never)
      return () => {}
    },
    'authorize is not called': async () => {
      await fastify().register(fastifyGuard.authorize as never)
      return () => {}
    },
  },
  hono: {
    'a guard after the route': async () => {
      const app = new Hono()
      app.get('/', (c) => c.json(honoGuard.getAuth(c)))
      return getRequestListener(app.use(honoGuard.authenticate(verifier)).fetch)
    },
    'authenticate is not called': async () =>
      getRequestListener(new Hono().use(honoGuard.authenticate as never).fetch),
    'authorize is not called': async () =>
      getRequestListener(new Hono().use(honoGuard.authorize as never).fetch),
    'getAuth of the request': async () => {
      const app = new Hono().use(honoGuard.authenticate(verifier))
      app.get('/', (c) => c.json(honoGuard.getAuth(c.req)))
      return getRequestListener(app.fetch)
    },
  },
}

async function show(mistake: Mistake): Promise<void> {
  const listener = await mistake()
  const server = createServer((request, response) => void listener(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const response = await fetch(`http://127.0.0.1:${port}/`, { headers: await issuer.bearer() })
  console.error(`answer: ${response.status} ${await response.text()}`)
  await setImmediate() // some frameworks print after the answer
  server.close()
}

for (const [name, mistake] of Object.entries(mistakes[process.argv[2] ?? ''] ?? {})) {
  console.error(`# ${name}`)
  await show(mistake).catch((error: unknown) => {
    console.error(error)
  })
}

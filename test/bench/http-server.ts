import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'

import fastifyJwt, { type TokenOrHeader } from '@fastify/jwt'
import { getRequestListener } from '@hono/node-server'
import { type CanActivate, Controller, Get, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { check, type Verifier } from '@portcullis/core'
import { authenticate as guardExpress, authorize } from '@portcullis/express'
import { authenticate as guardFastify } from '@portcullis/fastify'
import { authenticate as guardHono } from '@portcullis/hono'
import { authenticate as guardKoa } from '@portcullis/koa'
import { PortcullisGuard } from '@portcullis/nest'
import { redisRevocations } from '@portcullis/redis'
import { createClient } from '@redis/client'
import express, { type RequestHandler } from 'express'
import { expressjwt } from 'express-jwt'
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import buildGetJwks from 'get-jwks'
import { Hono, type MiddlewareHandler } from 'hono'
import { jwk as honoJwk } from 'hono/jwk'
import jwksRsa from 'jwks-rsa'
import Koa, { type Middleware } from 'koa'
import koaJwt from 'koa-jwt'

import { AUDIENCE, ISSUER, type PublicJwk } from './inputs.ts'
import type { KeyUrls } from './key-server.ts'
import { awsVerifierOf, expressOauth2Guard, verifierOf } from './subjects.ts'

// One server with one route, in a process of its own: node http-server.ts FRAMEWORK GUARD KEYS, where KEYS is the JSON of
// what it needs to know of the keys. Every guard is set up as its README says; the comments name the section.

export interface Keys {
  readonly jwk: PublicJwk
  readonly urls: KeyUrls
  /** Where revocations are, if they are asked. */
  readonly redis?: string
}

type Start = (keys: Keys) => Promise<Server>

/** The guard of each framework, as in the first example of its README. */
const OURS: Readonly<Record<string, (verifier: Verifier) => Promise<Server>>> = {
  Express: (verifier) => serveExpress(guardExpress(verifier)),
  Koa: (verifier) => serveKoa(guardKoa(verifier)),
  Fastify: (verifier) =>
    serveFastify(async (app) => {
      await app.register(guardFastify(verifier))
    }),
  Hono: (verifier) => serveHono(guardHono(verifier)),
  Nest: (verifier) => serveNest(new PortcullisGuard({ verifier })),
}

const rules = { algorithms: ['RS512' as const], issuer: ISSUER, audience: AUDIENCE }

/** The open route first. */
const SERVERS: Readonly<Record<string, Readonly<Record<string, Start>>>> = {
  Express: {
    open: () => serveExpress(),
    // README of express-jwt, "Retrieve key dynamically", with the integration that jwks-rsa ships for it.
    'express-jwt + jwks-rsa': ({ urls }) => {
      const secret = jwksRsa.expressJwtSecret({ jwksUri: urls.set, cache: true })
      return serveExpress(expressjwt({ secret, ...rules }))
    },
    // README, "Getting started", with the URL of the keys in place of a discovery.
    'express-oauth2-jwt-bearer': (keys) => serveExpress(expressOauth2Guard(keys)),
    // README, "Express"; the example sends the whole header, which needs its scheme cut off.
    'aws-jwt-verify'(keys) {
      const verifier = awsVerifierOf(keys)
      return serveExpress((request, response, next) => {
        const refuse = () => response.status(403).json({ statusCode: 403, message: 'Forbidden' })
        void verifier.verify(tokenOf(request.headers.authorization)).then(() => next(), refuse)
      })
    },
  },
  Koa: {
    open: () => serveKoa(),
    // README of koa-jwt, "Token Verification Exceptions": the example with koaJwtSecret of jwks-rsa.
    'koa-jwt + jwks-rsa'({ urls }) {
      const caching = { cache: true, cacheMaxEntries: 5, cacheMaxAge: 36_000_000 }
      const secret = jwksRsa.koaJwtSecret({ jwksUri: urls.set, ...caching })
      return serveKoa(koaJwt({ secret, ...rules }))
    },
  },
  Fastify: {
    open: () => serveFastify(() => {}),
    // README of get-jwks, "@fastify/jwt". The domain is stated: the example takes it from the token.
    '@fastify/jwt + get-jwks': (keys) => serveFastify(withGetJwks(keys, false)),
    // The same with the cache of verified tokens that README of @fastify/jwt, "verify", describes.
    '@fastify/jwt + get-jwks, cache on': (keys) => serveFastify(withGetJwks(keys, true)),
    // README, "Fastify".
    'aws-jwt-verify'(keys) {
      const verifier = awsVerifierOf(keys)
      return serveFastify((app) => {
        app.addHook('onRequest', async (request) => {
          await verifier.verify(tokenOf(request.headers.authorization))
        })
      })
    },
  },
  Hono: {
    open: () => serveHono(),
    // Its documentation fetches the keys for every request: there is no cache.
    'hono/jwk'({ urls }) {
      const verification = { iss: ISSUER, aud: AUDIENCE }
      return serveHono(honoJwk({ jwks_uri: urls.set, alg: ['RS512'], verification }))
    },
  },
  Nest: { open: () => serveNest() },
}

/** Guards of Express that ask whether a token was revoked. */
const ASKING: Readonly<Record<string, Start>> = {
  async 'Portcullis, a replica'(keys) {
    const revocations = redisRevocations({ url: keys.redis ?? '' })
    const verifier = verifierOf(keys, { revocations })
    await verifier.ready()
    revocations.subscribe(() => tell({ heardAt: String(process.hrtime.bigint()) }))
    return await serveExpress(guardExpress(verifier))
  },
  async 'Portcullis, a check with a GET'(keys) {
    const client = createClient({ url: keys.redis ?? '' })
    client.on('error', () => {})
    await client.connect()
    const isKept = check(
      async ({ claims }) => (await client.get(`revoked:${String(claims['jti'])}`)) === null,
    )
    return await serveExpress(guardExpress(verifierOf(keys)), authorize(isKept))
  },
}
export const ASKING_GUARDS: readonly string[] = Object.keys(ASKING)
export const FRAMEWORKS: readonly string[] = Object.keys(SERVERS)

/** Which guards there are for each framework: the open route and ours first. */
export function guardsOf(framework: string): string[] {
  const [open = '', ...others] = Object.keys(SERVERS[framework] ?? {})
  return [open, 'Portcullis', ...others]
}

function withGetJwks({ urls }: Keys, cache: boolean): (app: FastifyInstance) => Promise<void> {
  const getJwks = buildGetJwks({ issuersWhitelist: [urls.domain] })
  return async (app) => {
    await app.register(fastifyJwt, {
      decode: { complete: true },
      secret: async (_request: FastifyRequest, token: TokenOrHeader) => {
        const { header } = token as { header: { kid: string; alg: string } } // by `decode: { complete: true }`
        return await getJwks.getPublicKey({ ...header, domain: urls.domain })
      },
      verify: { algorithms: ['RS512'], allowedIss: ISSUER, allowedAud: AUDIENCE, cache },
    })
    app.addHook('onRequest', async (request) => {
      await request.jwtVerify()
    })
  }
}

export function tokenOf(authorization: string | undefined): string {
  return authorization?.slice('Bearer '.length) ?? ''
}

export async function serveExpress(...guards: RequestHandler[]): Promise<Server> {
  const app = express()
  for (const guard of guards) app.use(guard)
  app.get('/', (_request, response) => {
    response.json({ ok: true })
  })
  return await listening(app)
}

export async function serveKoa(...guards: Middleware[]): Promise<Server> {
  const app = new Koa()
  for (const guard of guards) app.use(guard)
  app.use((context) => {
    context.body = { ok: true }
  })
  return await listening(app.callback())
}

export async function serveHono(...guards: MiddlewareHandler[]): Promise<Server> {
  const app = new Hono()
  for (const guard of guards) app.use(guard)
  app.get('/', (context) => context.json({ ok: true }))
  return await listening(getRequestListener(app.fetch))
}

/** On Express. Decorators are called by hand: Node has none. */
export async function serveNest(...guards: CanActivate[]): Promise<Server> {
  class Route {
    answer(): unknown {
      return { ok: true }
    }
  }
  const { prototype } = Route
  Get()(prototype, 'answer', Object.getOwnPropertyDescriptor(prototype, 'answer') ?? {})
  Controller()(Route)
  class Root {}
  Module({ controllers: [Route] })(Root)
  const app = await NestFactory.create(Root, { logger: false })
  app.useGlobalGuards(...guards)
  await app.listen(0, '127.0.0.1')
  return app.getHttpServer() as Server
}

export async function serveFastify(
  guard: (app: FastifyInstance) => Promise<void> | void,
): Promise<Server> {
  const app = fastify()
  await guard(app)
  app.get('/', () => ({ ok: true }))
  await app.listen({ port: 0, host: '127.0.0.1' })
  return app.server
}

async function listening(
  handle: (...request: Parameters<RequestListener>) => unknown,
): Promise<Server> {
  const server = createServer((request, response) => {
    void handle(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

/** Starts a server with one of those guards. */
export async function serve(framework: string, guard: string, keys: Keys): Promise<Server> {
  const start = ASKING[guard] ?? SERVERS[framework]?.[guard]
  const started = guard === 'Portcullis' ? OURS[framework]?.(verifierOf(keys)) : start?.(keys)
  if (started === undefined) throw new Error(`there is no ${guard} for ${framework}`)
  return await started
}

/** What a server in a process of its own tells its parent. */
export interface Message {
  readonly port?: number
  /** Since it was asked last: microseconds of CPU time in all threads. */
  readonly cpu?: number
  /** When a replica heard of a revocation: nanoseconds of the clock that all processes of a machine share. */
  readonly heardAt?: string
}

function tell(message: Message): void {
  process.send?.(message)
}

/** Says where it listens, and what it used whenever the parent asks, until the parent goes. */
function answerParent(server: Server): void {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new TypeError('not a port')
  let used = process.cpuUsage()
  process.on('message', () => {
    const { user, system } = process.cpuUsage(used)
    used = process.cpuUsage()
    tell({ cpu: user + system })
  })
  process.once('disconnect', () => process.exit())
  tell({ port: address.port })
}

const [framework, guard, keys] = process.argv.slice(2)
if (process.send !== undefined && framework !== undefined && guard !== undefined) {
  // Written by guarded-server.ts.
  answerParent(await serve(framework, guard, JSON.parse(keys ?? '') as Keys))
}

import { once } from 'node:events'
import { createServer, type Server } from 'node:http'

import fastifyJwt, { type TokenOrHeader } from '@fastify/jwt'
import { getRequestListener } from '@hono/node-server'
import { type CanActivate, Controller, Get, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import {
  createVerifier,
  dpopProofs,
  type GuardOptions,
  remoteKeys,
  type Verifier,
} from '@portcullis/core'
import { authenticate as guardExpress } from '@portcullis/express'
import { authenticate as guardFastify } from '@portcullis/fastify'
import { authenticate as guardHono } from '@portcullis/hono'
import { authenticate as guardKoa } from '@portcullis/koa'
import { PortcullisGuard } from '@portcullis/nest'
import { JwtVerifier } from 'aws-jwt-verify'
import express, { type Express, type RequestHandler } from 'express'
import { expressjwt } from 'express-jwt'
import { auth } from 'express-oauth2-jwt-bearer'
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import buildGetJwks from 'get-jwks'
import { Hono, type MiddlewareHandler } from 'hono'
import { jwk as honoJwk } from 'hono/jwk'
import jwksRsa from 'jwks-rsa'
import Koa, { type Middleware } from 'koa'
import koaJwt from 'koa-jwt'

import { answerParent } from './answer-parent.ts'
import { ORIGIN } from './bound-client.ts'
import { AUDIENCE, ISSUER, type PublicJwk } from './inputs.ts'
import type { KeyUrls } from './key-server.ts'

// One server with one route, in a process of its own: node http-server.ts FRAMEWORK GUARD KEYS, where KEYS is the JSON of
// what it needs to know of the keys. Every guard is set up as its README says; the comments name the section.

interface Keys {
  readonly jwk: PublicJwk
  readonly urls: KeyUrls
}

type Start = (keys: Keys) => Promise<Server>

/** The guard of each framework, as in the first example of its README. */
const OURS: Readonly<
  Record<string, (verifier: Verifier, options: GuardOptions) => Promise<Server>>
> = {
  Express: (verifier, options) => serveExpress(guardExpress(verifier, options)),
  Koa: (verifier, options) => serveKoa(guardKoa(verifier, options)),
  Fastify: (verifier, options) =>
    serveFastify(async (app) => {
      await app.register(guardFastify(verifier, options))
    }),
  Hono: (verifier, options) => serveHono(guardHono(verifier, options)),
  Nest: (verifier, options) => serveNest(new PortcullisGuard({ verifier, ...options })),
}

const SERVERS: Readonly<Record<string, Readonly<Record<string, Start>>>> = {
  Express: {
    open: () => serveExpress(),
    // README of express-jwt, "Retrieve key dynamically", with the integration that jwks-rsa ships for it.
    'express-jwt + jwks-rsa': ({ urls }) =>
      serveExpress(
        expressjwt({
          secret: jwksRsa.expressJwtSecret({ jwksUri: urls.set, cache: true }),
          algorithms: ['RS512'],
          issuer: ISSUER,
          audience: AUDIENCE,
        }),
      ),
    // README, "Getting started", with the URL of the keys in place of a discovery.
    'express-oauth2-jwt-bearer': ({ urls }) =>
      serveExpress(
        auth({
          issuer: ISSUER,
          jwksUri: urls.set,
          audience: AUDIENCE,
          tokenSigningAlg: 'RS512',
        }),
      ),
    // README, "Express"; the example sends the whole header, which needs its scheme cut off.
    'aws-jwt-verify': async (keys) => {
      const verifier = awsVerifierOf(keys)
      return await serveExpress((request, response, next) => {
        verifier.verify(tokenOf(request.headers.authorization)).then(
          () => {
            next()
          },
          () => {
            response.status(403).json({ statusCode: 403, message: 'Forbidden' })
          },
        )
      })
    },
  },
  Koa: {
    open: () => serveKoa(),
    // README of koa-jwt, "Token Verification Exceptions": the example with koaJwtSecret of jwks-rsa.
    'koa-jwt + jwks-rsa': ({ urls }) =>
      serveKoa(
        koaJwt({
          secret: jwksRsa.koaJwtSecret({
            jwksUri: urls.set,
            cache: true,
            cacheMaxEntries: 5,
            cacheMaxAge: 36_000_000,
          }),
          algorithms: ['RS512'],
          issuer: ISSUER,
          audience: AUDIENCE,
        }),
      ),
  },
  Fastify: {
    open: () => serveFastify(() => {}),
    // README of get-jwks, "@fastify/jwt". The domain is stated: the example takes it from the token.
    '@fastify/jwt + get-jwks': (keys) => serveFastify(withGetJwks(keys, false)),
    // The same with the cache of verified tokens that README of @fastify/jwt, "verify", describes.
    '@fastify/jwt + get-jwks, cache on': async (keys) =>
      await serveFastify(withGetJwks(keys, true)),
    // README, "Fastify".
    'aws-jwt-verify': async (keys) => {
      const verifier = awsVerifierOf(keys)
      return await serveFastify((app) => {
        app.addHook('onRequest', async (request) => {
          await verifier.verify(tokenOf(request.headers.authorization))
        })
      })
    },
  },
  Hono: {
    open: () => serveHono(),
    // Its documentation fetches the keys for every request: there is no cache.
    'hono/jwk': ({ urls }) =>
      serveHono(
        honoJwk({
          jwks_uri: urls.set,
          alg: ['RS512'],
          verification: { iss: ISSUER, aud: AUDIENCE },
        }),
      ),
  },
  Nest: {
    open: () => serveNest(),
  },
}

/** What takes bound tokens as well. BOUND-TOKENS.md of @portcullis/core, "DPoP proofs". */
export const BOUND = 'Portcullis, DPoP'

/** Which guards there are for each framework: the open route and ours first. */
export function guardsOf(framework: string): string[] {
  const [open = '', ...others] = Object.keys(SERVERS[framework] ?? {})
  return [open, 'Portcullis', ...others]
}

export const FRAMEWORKS = Object.keys(SERVERS)

interface Complete {
  readonly header: { readonly kid: string; readonly alg: string }
}

function withGetJwks({ urls }: Keys, cache: boolean): (app: FastifyInstance) => Promise<void> {
  const getJwks = buildGetJwks({ issuersWhitelist: [urls.domain] })
  return async (app) => {
    await app.register(fastifyJwt, {
      decode: { complete: true },
      secret: async (_request: FastifyRequest, token: TokenOrHeader) => {
        const { header } = token as Complete // by `decode: { complete: true }`
        return await getJwks.getPublicKey({ ...header, domain: urls.domain })
      },
      verify: { algorithms: ['RS512'], allowedIss: ISSUER, allowedAud: AUDIENCE, cache },
    })
    app.addHook('onRequest', async (request) => {
      await request.jwtVerify()
    })
  }
}

function verifierOf({ jwk, urls }: Keys): Verifier {
  return createVerifier({
    keys: remoteKeys(urls.bare),
    issuer: ISSUER,
    audience: AUDIENCE,
    algorithms: [jwk.alg],
  })
}

function awsVerifierOf({ jwk, urls }: Keys): { verify(token: string): Promise<unknown> } {
  const verifier = JwtVerifier.create({ issuer: ISSUER, audience: AUDIENCE, jwksUri: urls.set })
  // "Loading the JWKS from file": it fetches over TLS alone.
  verifier.cacheJwks({ keys: [{ ...jwk }] })
  return verifier
}

export function tokenOf(authorization: string | undefined): string {
  return authorization?.slice('Bearer '.length) ?? ''
}

export async function serveExpress(...guards: RequestHandler[]): Promise<Server> {
  const app: Express = express()
  for (const guard of guards) app.use(guard)
  app.get('/', (_request, response) => {
    response.json({ ok: true })
  })
  return await listening(createServer(app))
}

export async function serveKoa(...guards: Middleware[]): Promise<Server> {
  const app = new Koa()
  for (const guard of guards) app.use(guard)
  app.use((context) => {
    context.body = { ok: true }
  })
  const handle = app.callback()
  return await listening(
    createServer((request, response) => {
      void handle(request, response)
    }),
  )
}

export async function serveHono(...guards: MiddlewareHandler[]): Promise<Server> {
  const app = new Hono()
  for (const guard of guards) app.use(guard)
  app.get('/', (context) => context.json({ ok: true }))
  const handle = getRequestListener(app.fetch)
  return await listening(
    createServer((request, response) => {
      void handle(request, response)
    }),
  )
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

async function listening(server: Server): Promise<Server> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

/** Starts a server with one of those guards. */
export async function serve(framework: string, guard: string, keys: Keys): Promise<Server> {
  const options = guard === BOUND ? { dpop: dpopProofs({ origin: ORIGIN }) } : {}
  const start = guard.startsWith('Portcullis')
    ? OURS[framework]?.(verifierOf(keys), options)
    : SERVERS[framework]?.[guard]?.(keys)
  if (start === undefined) throw new Error(`there is no ${guard} for ${framework}`)
  return await start
}

const [framework, guard, keys] = process.argv.slice(2)
if (process.send !== undefined && framework !== undefined && guard !== undefined) {
  // Written by http.ts.
  answerParent(await serve(framework, guard, JSON.parse(keys ?? '') as Keys))
}

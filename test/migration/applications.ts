import type { RequestListener } from 'node:http'

import { getRequestListener } from '@hono/node-server'
import type { Express } from 'express'
import type { FastifyInstance } from 'fastify'
import type Koa from 'koa'

import { createApp as expressJwtAfter } from './express-jwt/after.ts'
import { createApp as expressJwtBefore } from './express-jwt/before.ts'
import { createApp as expressOauth2After } from './express-oauth2-jwt-bearer/after.ts'
import { createApp as expressOauth2Before } from './express-oauth2-jwt-bearer/before.ts'
import { createApp as fastifyAfter } from './fastify-jwt/after.ts'
import { createApp as fastifyBefore } from './fastify-jwt/before.ts'
import { createApp as honoAfter } from './hono-jwk/after.ts'
import { createApp as honoBefore } from './hono-jwk/before.ts'
import { createApp as keycloakAfter } from './keycloak-connect/after.ts'
import { createApp as keycloakBefore } from './keycloak-connect/before.ts'
import { createApp as koaAfter } from './koa-jwt/after.ts'
import { createApp as koaBefore } from './koa-jwt/before.ts'
import { createApp as passportAfter } from './passport-jwt/after.ts'
import { createApp as passportBefore } from './passport-jwt/before.ts'

export type Side = 'before' | 'after'

interface Application {
  /** As its framework has it. */
  readonly app: object
  readonly listener: RequestListener
}

/** @param origin Where the API is. */
type Create = (issuer: string, origin: string) => Application | Promise<Application>

/** By the name of the peer. */
export const applications: Readonly<Record<string, Readonly<Record<Side, Create>>>> = {
  'express-jwt': { before: ofExpress(expressJwtBefore), after: ofExpress(expressJwtAfter) },
  'express-oauth2-jwt-bearer': {
    before: ofExpress(expressOauth2Before),
    after: ofExpress(expressOauth2After),
  },
  'passport-jwt': { before: ofExpress(passportBefore), after: ofExpress(passportAfter) },
  'keycloak-connect': { before: ofExpress(keycloakBefore), after: ofExpress(keycloakAfter) },
  'koa-jwt': { before: ofKoa(koaBefore), after: ofKoa(koaAfter) },
  '@fastify/jwt': { before: ofFastify(fastifyBefore), after: ofFastify(fastifyAfter) },
  'hono/jwk': { before: ofHono(honoBefore), after: ofHono(honoAfter) },
}

function ofExpress(createApp: (issuer: string, origin: string) => Express): Create {
  return (issuer, origin) => {
    const app = createApp(issuer, origin)
    return { app, listener: app }
  }
}

function ofKoa(createApp: (issuer: string) => Pick<Koa, 'callback'>): Create {
  return (issuer) => {
    const app = createApp(issuer)
    const callback = app.callback()
    return { app, listener: (request, response) => void callback(request, response) }
  }
}

function ofFastify(createApp: (issuer: string) => Promise<FastifyInstance>): Create {
  return async (issuer) => {
    const app = await createApp(issuer)
    await app.ready()
    return {
      app,
      listener(request, response) {
        app.routing(request, response)
      },
    }
  }
}

function ofHono(
  createApp: (issuer: string) => { fetch: (request: Request) => Response | Promise<Response> },
): Create {
  return (issuer) => {
    const app = createApp(issuer)
    const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false })
    return { app, listener: (request, response) => void listener(request, response) }
  }
}

import type { RequestListener } from 'node:http'

import { getRequestListener } from '@hono/node-server'
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

/** @param origin Where the API is. */
type CreateListener = (issuer: string, origin: string) => RequestListener | Promise<RequestListener>

/** By the name of the peer, as listeners of `node:http`. */
export const applications: Readonly<Record<string, Readonly<Record<Side, CreateListener>>>> = {
  'express-jwt': { before: expressJwtBefore, after: expressJwtAfter },
  'express-oauth2-jwt-bearer': { before: expressOauth2Before, after: expressOauth2After },
  'passport-jwt': { before: passportBefore, after: passportAfter },
  'keycloak-connect': { before: keycloakBefore, after: keycloakAfter },
  'koa-jwt': { before: ofKoa(koaBefore), after: ofKoa(koaAfter) },
  '@fastify/jwt': { before: ofFastify(fastifyBefore), after: ofFastify(fastifyAfter) },
  'hono/jwk': { before: ofHono(honoBefore), after: ofHono(honoAfter) },
}

function ofKoa(createApp: (issuer: string) => Pick<Koa, 'callback'>): CreateListener {
  return (issuer) => {
    const callback = createApp(issuer).callback()
    return (request, response) => void callback(request, response)
  }
}

function ofFastify(createApp: (issuer: string) => Promise<FastifyInstance>): CreateListener {
  return async (issuer) => {
    const app = await createApp(issuer)
    await app.ready()
    return (request, response) => {
      app.routing(request, response)
    }
  }
}

function ofHono(
  createApp: (issuer: string) => { fetch: (request: Request) => Response | Promise<Response> },
): CreateListener {
  return (issuer) => {
    const listener = getRequestListener(createApp(issuer).fetch, { overrideGlobalObjects: false })
    return (request, response) => void listener(request, response)
  }
}

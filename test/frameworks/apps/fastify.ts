import type { RequestListener } from 'node:http'

import cors from '@fastify/cors'
import { refusalOf } from '@portcullis/client/oauth'
import { createVerifier, refusal, scope, type Verifier } from '@portcullis/core'
import { authenticate, authorize, findAuth, getAuth } from '@portcullis/fastify'
import { describeRoutes, noteRoutes } from '@portcullis/fastify/routes'
import { assertGuarded } from '@portcullis/testing'
import { fastify, type FastifyInstance, type FastifyRequest } from 'fastify'
import { z } from 'zod'

import { type Applications, callOnwards, type Configuration, logged } from './configuration.ts'

function createApp(verifier: Verifier): FastifyInstance {
  const stream = {
    write(line: string): void {
      const fields = JSON.parse(line) as { ip?: string; code: string; reason: string }
      // The guard writes a line of its own, without the address.
      if (fields.ip !== undefined) logged.push({ ...fields, detail: undefined })
    },
  }
  const app = fastify({ logger: { stream }, disableRequestLogging: true })
  // #region handler
  app.setErrorHandler(async (error, _request, reply) => {
    const refused = refusal(error)
    if (!refused) throw error
    return await reply.code(refused.status).send({ code: refused.code })
  })
  // #endregion
  app.register(async (calls) => {
    calls.setErrorHandler(async (error, _request, reply) => {
      const refused = refusalOf(error)
      if (!refused) throw error
      return await reply.code(refused.status).headers(refused.headers).send(refused.body)
    })
    calls.get('/refused', async () => await callOnwards('refuses'))
    calls.get('/down', async () => await callOnwards('is down'))
  })
  app.register(async (open) => {
    await open.register(authenticate(verifier, { optional: true }))
    open.get('/hello', async (request) => ({
      hello: findAuth(request)?.claims.sub ?? 'stranger',
    }))
  })
  const guard = authenticate(verifier, {
    onRefusal: ({ code, reason, detail }, request: FastifyRequest) => {
      request.log.info({ ip: request.ip, code, reason, detail }, 'refused')
    },
  })
  app.register(async (places) => {
    await places.register(guard)
    places.get('/places', async (request) => ({ readBy: request.auth.claims.sub }))
    places.post(
      '/places',
      { onRequest: authorize(scope('places:write')) },
      async (request, reply) => await reply.code(201).send({ savedBy: request.auth.claims.sub }),
    )
  })
  return app
}

async function createTypedApp({ keys, issuer, audience }: Configuration): Promise<FastifyInstance> {
  const app = fastify()
  const verifier = createVerifier({
    keys,
    issuer,
    audience,
    schema: z.object({ sub: z.string(), role: z.enum(['user', 'admin']) }),
  })
  await app.register(cors, {
    origin: 'https://web.example.com',
    exposedHeaders: ['WWW-Authenticate', 'Retry-After'],
  })
  await app.register(authenticate(verifier))
  app.get('/role', async (request) => {
    const { role } = getAuth(request, verifier).claims
    return JSON.stringify(role satisfies 'user' | 'admin')
  })
  return app
}

async function checkRoutes(verifier: Verifier, health: string): Promise<void> {
  const app = fastify()
  // #region note
  noteRoutes(app) // directly behind fastify(), before any route
  // #endregion
  app.addHook('onRequest', async function logger() {})
  app.get(health, async () => ({}))
  app.register(async (places) => {
    await places.register(authenticate(verifier))
    places.get('/places', async (request) => ({ readBy: request.auth.claims.sub }))
  })
  // #region routes
  await app.ready()
  assertGuarded(describeRoutes(app), { open: ['GET /health'], before: ['logger'] })
  // #endregion
}

export const applications: Applications = {
  listed: checkRoutes,
  plain: async (verifier) => await listenerOf(createApp(verifier)),
  typed: async (configuration) => await listenerOf(await createTypedApp(configuration)),
}

async function listenerOf(app: FastifyInstance): Promise<RequestListener> {
  await app.ready()
  return (request, response) => {
    app.routing(request, response)
  }
}

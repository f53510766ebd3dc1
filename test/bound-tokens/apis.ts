import type { RequestListener } from 'node:http'

import { getRequestListener } from '@hono/node-server'
import type { GuardOptions, Verifier } from '@portcullis/core'
import { authenticate as inExpress, getAuth as authOfExpress } from '@portcullis/express'
import { authenticate as inFastify } from '@portcullis/fastify'
import { authenticate as inHono } from '@portcullis/hono'
import { authenticate as inKoa, getAuth as authOfKoa } from '@portcullis/koa'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'

/** An API with one guard for all, which answers every method and path with the `client_id` of the token. */
export type CreateApi = (
  verifier: Verifier,
  options: GuardOptions,
) => RequestListener | Promise<RequestListener>

export const APIS: Readonly<Record<string, CreateApi>> = {
  Express: (verifier, options) =>
    express()
      .use(inExpress(verifier, options))
      .use((request, response) => void response.json(authOfExpress(request).claims['client_id'])),

  Koa(verifier, options) {
    const app = new Koa()
    app.use(inKoa(verifier, options)).use((context) => {
      context.body = JSON.stringify(authOfKoa(context).claims['client_id'])
    })
    const handle = app.callback()
    return (request, response) => void handle(request, response)
  },

  async Fastify(verifier, options) {
    const app = fastify()
    await app.register(inFastify(verifier, options))
    app.all(
      '/*',
      async (request, reply) => await reply.send(JSON.stringify(request.auth.claims['client_id'])),
    )
    await app.ready()
    return (request, response) => {
      app.routing(request, response)
    }
  },

  Hono(verifier, options) {
    const app = new Hono()
    app
      .use(inHono(verifier, options))
      .all('/*', (context) => context.json(context.get('auth')?.claims['client_id'] ?? null))
    const handle = getRequestListener(app.fetch)
    return (request, response) => void handle(request, response)
  },
}

import cors from '@koa/cors'
import { Router } from '@koa/router'
import { refusalOf } from '@portcullis/client/oauth'
import { createVerifier, refusal, scope, type Verifier } from '@portcullis/core'
import { authenticate, authorize, findAuth, getAuth, type AuthState } from '@portcullis/koa'
import { describeRoutes } from '@portcullis/koa/routes'
import { assertGuarded } from '@portcullis/testing'
import Koa from 'koa'
import { z } from 'zod'

import { type Applications, callOnwards, type Configuration, log } from './configuration.ts'

function createApp(verifier: Verifier): Koa {
  const app = new Koa()
  // #region handler
  app.use(async (ctx, next) => {
    try {
      await next()
    } catch (error) {
      const refused = refusal(error)
      if (!refused) throw error
      ctx.status = refused.status
      ctx.body = { code: refused.code }
    }
  })
  // #endregion
  app.use(async (ctx, next) => {
    try {
      await next()
    } catch (error) {
      const refused = refusalOf(error)
      if (!refused) throw error
      ctx.set(refused.headers)
      ctx.status = refused.status
      ctx.body = refused.body
    }
  })
  const router = new Router()
  router.get('/refused', async (ctx) => {
    ctx.body = await callOnwards('refuses')
  })
  router.get('/down', async (ctx) => {
    ctx.body = await callOnwards('is down')
  })
  // #region optional
  router.get('/hello', authenticate(verifier, { optional: true }), (ctx) => {
    ctx.body = { hello: findAuth(ctx)?.claims.sub ?? 'stranger' }
  })
  // #endregion
  const guard = authenticate(verifier, {
    onRefusal: ({ code, reason, detail }, ctx: Koa.Context) => {
      log.info({ ip: ctx.ip, code, reason, detail }, 'refused')
    },
  })
  const places = new Router<AuthState>({ prefix: '/places', sensitive: true })
  places.use(guard)
  places.get('/', (ctx) => {
    ctx.body = { readBy: ctx.state.auth.claims.sub }
  })
  places.post('/', authorize(scope('places:write')), (ctx) => {
    ctx.status = 201
    ctx.body = { savedBy: getAuth(ctx).claims.sub }
  })
  app.use(router.routes())
  app.use(places.routes())
  return app
}

function createTypedApp({ keys, issuer, audience }: Configuration): Koa {
  const app = new Koa()
  const verifier = createVerifier({
    keys,
    issuer,
    audience,
    schema: z.object({ sub: z.string(), role: z.enum(['user', 'admin']) }),
  })
  app.use(
    cors({
      origin: 'https://web.example.com',
      exposeHeaders: ['WWW-Authenticate', 'Retry-After'],
    }),
  )
  app.use(authenticate(verifier))
  app.use((ctx) => {
    const { role } = getAuth(ctx, verifier).claims
    ctx.body = JSON.stringify(role satisfies 'user' | 'admin')
  })
  return app
}

function checkRoutes(verifier: Verifier, health: string): void {
  const app = new Koa()
  app.use(async function logger(_ctx, next) {
    await next()
  })
  const open = new Router({ sensitive: true })
  open.get(health, (ctx) => {
    ctx.body = {}
  })
  const places = new Router<AuthState>({ sensitive: true })
  places.get('/places', (ctx) => {
    ctx.body = { readBy: ctx.state.auth.claims.sub }
  })
  app.use(open.routes())
  app.use(authenticate(verifier))
  app.use(places.routes())
  // #region routes
  assertGuarded(describeRoutes(app), { open: ['GET /health'], before: ['logger'] })
  // #endregion
}

export const applications: Applications = {
  listed: checkRoutes,
  plain: (verifier) => createApp(verifier).callback(),
  typed: (configuration) => createTypedApp(configuration).callback(),
}

import { refusalOf } from '@portcullis/client/oauth'
import { createVerifier, refusal, scope, type Verifier } from '@portcullis/core'
import { authenticate, authorize, type AuthVariables } from '@portcullis/hono'
import { describeRoutes } from '@portcullis/hono/routes'
import { assertGuarded } from '@portcullis/testing'
import { Hono } from 'hono'
import { cors } from 'hono/cors'
import { z } from 'zod'

import { type Applications, callOnwards, type Configuration, log } from './configuration.ts'

function createApp(verifier: Verifier): Hono<{ Variables: AuthVariables }> {
  const app = new Hono<{ Variables: AuthVariables }>()
  // #region optional
  app.get('/hello', authenticate(verifier, { optional: true }), (c) =>
    c.json({ hello: c.var.auth?.claims.sub ?? 'stranger' }),
  )
  // #endregion
  const guard = authenticate(verifier, {
    onRefusal: ({ code, reason, detail }, c) => {
      log.info({ path: c.req.path, code, reason, detail }, 'refused')
    },
  })
  app.use('/places', guard)
  app.get('/places', (c) => c.json({ readBy: c.var.auth.claims.sub }))
  app.post('/places', authorize(scope('places:write')), (c) =>
    c.json({ savedBy: c.var.auth.claims.sub }, 201),
  )
  const calls = new Hono()
  calls.get('/refused', async (c) => c.text(await callOnwards('refuses')))
  calls.get('/down', async (c) => c.text(await callOnwards('is down')))
  calls.onError((error, c) => {
    const refused = refusalOf(error)
    if (!refused) throw error
    return c.body(refused.body, refused.status, refused.headers)
  })
  app.route('/', calls)
  // #region handler
  app.onError((error, c) => {
    const refused = refusal(error)
    return refused ? c.json({ code: refused.code }, refused.status) : c.json({ code: 'fault' }, 500)
  })
  // #endregion
  return app
}

function createTypedApp({ keys, issuer, audience }: Configuration): Hono {
  const app = new Hono()
  const verifier = createVerifier({
    keys,
    issuer,
    audience,
    schema: z.object({ sub: z.string(), role: z.enum(['user', 'admin']) }),
  })
  app.use(
    cors({ origin: 'https://web.example.com', exposeHeaders: ['WWW-Authenticate', 'Retry-After'] }),
  )
  app.use(authenticate(verifier))
  app.get('/role', authenticate(verifier), (c) => c.json(c.var.auth.claims.role))
  return app
}

function checkRoutes(verifier: Verifier, health: string): void {
  const app = new Hono<{ Variables: AuthVariables }>()
  app.use(async function logger(_c, next) {
    await next()
  })
  app.get(health, (c) => c.json({}))
  app.use(authenticate(verifier))
  app.get('/places', (c) => c.json({ readBy: c.var.auth.claims.sub }))
  // #region routes
  assertGuarded(describeRoutes(app), { open: ['GET /health'], before: ['logger'] })
  // #endregion
}

export const applications: Applications = {
  listed: checkRoutes,
  plain: createApp,
  typed: createTypedApp,
}

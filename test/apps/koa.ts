import { Router } from '@koa/router'
import { refusal, scope, type Verifier } from '@portcullis/core'
import { authenticate, authorize, findAuth, getAuth, type AuthState } from '@portcullis/koa'
import Koa from 'koa'

export function createApp(verifier: Verifier): Koa {
  const app = new Koa()
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
  const router = new Router()
  router.get('/hello', authenticate(verifier, { optional: true }), (ctx) => {
    ctx.body = { hello: findAuth(ctx)?.claims.sub ?? 'stranger' }
  })
  const places = new Router<AuthState>({ prefix: '/places' })
  places.use(authenticate(verifier))
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

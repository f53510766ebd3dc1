import { Router } from '@koa/router'
import { createVerifier, remoteKeys, scope } from '@portcullis/core'
import { authenticate, authorize, type AuthState, findAuth } from '@portcullis/koa'
import Koa from 'koa'

export function createApp(issuer: string): Koa {
  const keys = remoteKeys(`${issuer}/.well-known/jwks.json`)
  const verifier = createVerifier({ keys, issuer, audience: 'places', algorithms: ['RS256'] })
  const app = new Koa()
  const open = new Router()
  open.get('/health', (ctx) => {
    ctx.body = '"well"'
  })
  open.get('/hello', authenticate(verifier, { optional: true }), (ctx) => {
    ctx.body = { hello: findAuth(ctx)?.claims.sub ?? 'stranger' }
  })
  const router = new Router<AuthState>()
  router.get('/places', (ctx) => {
    ctx.body = { readBy: ctx.state.auth.claims.sub }
  })
  router.post('/places', authorize(scope('places:write')), (ctx) => {
    ctx.status = 201
    ctx.body = { savedBy: ctx.state.auth.claims.sub }
  })
  app.use(open.routes())
  app.use(authenticate(verifier))
  app.use(router.routes())
  return app
}

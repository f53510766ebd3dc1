import { Router } from '@koa/router'
import { koaJwtSecret } from 'jwks-rsa'
import Koa from 'koa'
import jwt from 'koa-jwt'

interface State {
  user?: { sub?: string; scope?: string }
}

export function createApp(issuer: string): Koa<State> {
  const options = {
    secret: koaJwtSecret({ jwksUri: `${issuer}/.well-known/jwks.json`, cache: true }),
    issuer,
    audience: 'places',
    algorithms: ['RS256'],
  }
  const app = new Koa<State>()
  const router = new Router<State>()
  router.get('/health', (ctx) => {
    ctx.body = '"well"'
  })
  router.get('/hello', jwt({ ...options, passthrough: true }), (ctx) => {
    ctx.body = { hello: ctx.state.user?.sub ?? 'stranger' }
  })
  router.get('/places', (ctx) => {
    ctx.body = { readBy: ctx.state.user?.sub }
  })
  router.post('/places', (ctx) => {
    const { sub, scope = '' } = ctx.state.user ?? {}
    if (!scope.split(' ').includes('places:write')) ctx.throw(403)
    ctx.status = 201
    ctx.body = { savedBy: sub }
  })
  app.use(jwt(options).unless({ path: ['/health', '/hello'] }))
  app.use(router.routes())
  return app
}

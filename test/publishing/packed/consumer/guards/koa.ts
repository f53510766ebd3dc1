import { type Auth, scope } from '@portcullis/core'
import { authenticate, authorize, type AuthState, getAuth } from '@portcullis/koa'
import Koa from 'koa'

import type { Guarded } from './guarded.js'

export const guarded: Guarded = (verifier, onRefusal) => {
  const app = new Koa<AuthState>()
  const guard = authenticate(verifier, {
    onRefusal: (error, context: Koa.Context) => {
      onRefusal(error.reason, context.path)
    },
  })
  app.use(guard).use(authorize(scope('read')))
  app.use((context) => {
    const auth: Auth = context.state.auth
    context.body = JSON.stringify(getAuth(context) === auth && auth.claims.sub)
  })
  return app.listen(0, '127.0.0.1')
}

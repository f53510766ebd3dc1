import { type Auth, scope } from '@portcullis/core'
import { authenticate, authorize, type AuthVariables, getAuth } from '@portcullis/hono'
import { Hono } from 'hono'

import type { Guarded } from './guarded.js'

export const guarded: Guarded = (verifier, onRefusal) => {
  const app = new Hono<{ Variables: AuthVariables }>()
  const guard = authenticate(verifier, {
    onRefusal: (error, context) => {
      onRefusal(error.reason, context.req.path)
    },
  })
  app.use(guard).use(authorize(scope('read')))
  app.get('/', (context) => {
    const auth: Auth = context.var.auth
    return context.json(getAuth(context) === context.get('auth') && auth.claims.sub)
  })
  return app
}

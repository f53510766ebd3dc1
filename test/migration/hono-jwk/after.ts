import { createVerifier, refusal, remoteKeys, scope } from '@portcullis/core'
import { authenticate, authorize, type AuthVariables } from '@portcullis/hono'
import { Hono } from 'hono'

export function createApp(issuer: string): Hono<{ Variables: AuthVariables }> {
  const keys = remoteKeys(`${issuer}/.well-known/jwks.json`)
  const verifier = createVerifier({ keys, issuer, audience: 'places', algorithms: ['RS256'] })
  const app = new Hono<{ Variables: AuthVariables }>()
  app.get('/health', (c) => c.json('well'))
  app.get('/hello', authenticate(verifier, { optional: true }), (c) =>
    c.json({ hello: c.var.auth?.claims.sub ?? 'stranger' }),
  )
  app.use(authenticate(verifier))
  app.get('/places', (c) => c.json({ readBy: c.var.auth.claims.sub }))
  app.post('/places', authorize(scope('places:write')), (c) =>
    c.json({ savedBy: c.var.auth.claims.sub }, 201),
  )
  app.onError((error, c) => {
    const refused = refusal(error)
    return refused ? c.json({ code: refused.code }, refused.status) : c.json({ code: 'fault' }, 500)
  })
  return app
}

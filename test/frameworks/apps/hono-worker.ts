import { createVerifier, remoteKeys } from '@portcullis/core'
import { authenticate, type AuthVariables } from '@portcullis/hono'
import { Hono, type MiddlewareHandler } from 'hono'

interface Env {
  Bindings: { AUTH_URL: string }
  Variables: AuthVariables
}

// Bindings come with a request. The guard is kept for the next ones, because it has the keys.
let guard: MiddlewareHandler | undefined

const app = new Hono<Env>()
app.use((c, next) => {
  const keyUrl = `${c.env.AUTH_URL}/tokenservice/pubkey.json`
  // The tokens of this service have neither `iss` nor `aud`: elsewhere state both
  guard ??= authenticate(createVerifier({ keys: remoteKeys(keyUrl), issuer: null, audience: null }))
  return guard(c, next)
})
app.get('/places', (c) => c.json({ readBy: c.var.auth.claims.sub }))

export default app

import { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { jwk } from 'hono/jwk'
import type { JwtVariables } from 'hono/jwt'

interface Payload {
  sub?: string
  scope?: string
}

export function createApp(issuer: string): Hono<{ Variables: JwtVariables<Payload> }> {
  const options = {
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    alg: ['RS256' as const],
    verification: { iss: issuer, aud: 'places' },
  }
  const app = new Hono<{ Variables: JwtVariables<Payload> }>()
  app.get('/health', (c) => c.json('well'))
  app.get('/hello', jwk({ ...options, allow_anon: true }), (c) => {
    const payload = c.get('jwtPayload') as Payload | undefined
    return c.json({ hello: payload?.sub ?? 'stranger' })
  })
  app.use(jwk(options))
  app.get('/places', (c) => c.json({ readBy: c.get('jwtPayload').sub }))
  app.post('/places', (c) => {
    const { sub, scope = '' } = c.get('jwtPayload')
    if (!scope.split(' ').includes('places:write')) throw new HTTPException(403)
    return c.json({ savedBy: sub }, 201)
  })
  app.onError((error, c) => {
    if (error instanceof HTTPException) return error.getResponse()
    return c.json({ code: 'fault' }, 500)
  })
  return app
}

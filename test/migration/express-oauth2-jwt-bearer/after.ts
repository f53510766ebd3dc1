import { claim, createVerifier, discoverKeys, dpopProofs, scope } from '@portcullis/core'
import { authenticate, authorize, findAuth, getAuth } from '@portcullis/express'
import express from 'express'

export function createApp(issuer: string, origin: string): express.Express {
  const keys = discoverKeys(issuer)
  const verifier = createVerifier({ keys, issuer, audience: 'places', algorithms: ['RS256'] })
  const dpop = dpopProofs({ origin })
  const app = express()
  app.get('/health', (_request, response) => {
    response.json('well')
  })
  app.get('/hello', authenticate(verifier, { optional: true, dpop }), (request, response) => {
    response.json({ hello: findAuth(request)?.claims.sub ?? 'stranger' })
  })
  app.use(authenticate(verifier, { dpop }))
  app.get('/places', (request, response) => {
    response.json({ readBy: getAuth(request).claims.sub })
  })
  app.post('/places', authorize(scope('places:write')), (request, response) => {
    response.status(201).json({ savedBy: getAuth(request).claims.sub })
  })
  app.delete('/places', authorize(claim('roles', 'admin')), (_request, response) => {
    response.sendStatus(204)
  })
  return app
}

import { claim, createVerifier, remoteKeys } from '@portcullis/core'
import { authenticate, authorize, findAuth, getAuth } from '@portcullis/express'
import express from 'express'

const realmRole = (role: string) => claim(['realm_access', 'roles'], role)
const clientRole = (role: string) => claim(['resource_access', 'places', 'roles'], role)

export function createApp(issuer: string): express.Express {
  const keys = remoteKeys(`${issuer}/protocol/openid-connect/certs`)
  const verifier = createVerifier({ keys, issuer, audience: 'places', algorithms: ['RS256'] })
  const app = express()
  app.get('/health', (_request, response) => {
    response.json('well')
  })
  app.get('/hello', authenticate(verifier, { optional: true }), (request, response) => {
    response.json({ hello: findAuth(request)?.claims.sub ?? 'stranger' })
  })
  app.use(authenticate(verifier), authorize(claim('typ', 'Bearer'))) // no ID token
  app.get('/places', (request, response) => {
    response.json({ readBy: getAuth(request).claims.sub })
  })
  app.post('/places', authorize(realmRole('writer')), (request, response) => {
    response.status(201).json({ savedBy: getAuth(request).claims.sub })
  })
  app.delete('/places', authorize(clientRole('admin')), (_request, response) => {
    response.sendStatus(204)
  })
  return app
}

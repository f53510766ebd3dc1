import express from 'express'
import { auth, claimIncludes, requiredScopes } from 'express-oauth2-jwt-bearer'

export function createApp(issuer: string): express.Express {
  const options = { issuerBaseURL: issuer, audience: 'places', tokenSigningAlg: 'RS256' }
  const app = express()
  app.get('/health', (_request, response) => {
    response.json('well')
  })
  app.get('/hello', auth({ ...options, authRequired: false }), (request, response) => {
    response.json({ hello: request.auth?.payload.sub ?? 'stranger' })
  })
  app.use(auth(options))
  app.get('/places', (request, response) => {
    response.json({ readBy: request.auth?.payload.sub })
  })
  app.post('/places', requiredScopes('places:write'), (request, response) => {
    response.status(201).json({ savedBy: request.auth?.payload.sub })
  })
  app.delete('/places', claimIncludes('roles', 'admin'), (_request, response) => {
    response.sendStatus(204)
  })
  return app
}

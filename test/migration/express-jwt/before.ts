import express from 'express'
import { expressjwt, type Request } from 'express-jwt'
import { expressJwtSecret, type GetVerificationKey } from 'jwks-rsa'

const answerError: express.ErrorRequestHandler = (error, _request, response, next) => {
  if (error instanceof Error && error.name === 'UnauthorizedError')
    response.status(401).json({ code: 'unauthorized' })
  else next(error)
}

export function createApp(issuer: string): express.Express {
  const jwksUri = `${issuer}/.well-known/jwks.json`
  const secret: GetVerificationKey = expressJwtSecret({ jwksUri, cache: true, rateLimit: true })
  const options = { secret, issuer, audience: 'places', algorithms: ['RS256' as const] }
  const app = express()
  app.use(expressjwt(options).unless({ path: ['/health', '/hello'] }))
  app.get('/health', (_request, response) => {
    response.json('well')
  })
  const optional = expressjwt({ ...options, credentialsRequired: false })
  app.get('/hello', optional, (request: Request, response) => {
    response.json({ hello: request.auth?.sub ?? 'stranger' })
  })
  app.get('/places', (request: Request, response) => {
    response.json({ readBy: request.auth?.sub })
  })
  app.post('/places', (request: Request, response) => {
    const scopes = String(request.auth?.['scope']).split(' ')
    if (scopes.includes('places:write')) response.status(201).json({ savedBy: request.auth?.sub })
    else response.status(403).json({ code: 'insufficient_scope' })
  })
  app.use(answerError)
  return app
}

import { refusal, scope, type Verifier } from '@portcullis/core'
import { authenticate, authorize, findAuth, getAuth } from '@portcullis/express'
import express from 'express'

const answerError: express.ErrorRequestHandler = (error, _request, response, next) => {
  const refused = refusal(error)
  if (refused) response.status(refused.status).json({ code: refused.code })
  else next(error)
}

export function createApp(verifier: Verifier): express.Express {
  const app = express()
  app.get('/hello', authenticate(verifier, { optional: true }), (request, response) => {
    response.json({ hello: findAuth(request)?.claims.sub ?? 'stranger' })
  })
  app.use('/places', authenticate(verifier))
  app.get('/places', (request, response) => {
    response.json({ readBy: getAuth(request).claims.sub })
  })
  app.post('/places', authorize(scope('places:write')), (request, response) => {
    response.status(201).json({ savedBy: getAuth(request).claims.sub })
  })
  app.use(answerError)
  return app
}

import { refusalOf } from '@portcullis/client/oauth'
import { createVerifier, refusal, scope, type Verifier } from '@portcullis/core'
import { authenticate, authorize, findAuth, getAuth } from '@portcullis/express'
import { describeRoutes } from '@portcullis/express/routes'
import { assertGuarded } from '@portcullis/testing'
import cors from 'cors'
import express from 'express'
import { z } from 'zod'

import { type Applications, callOnwards, type Configuration, log } from './configuration.ts'

// #region onwards
const answerOnwards: express.ErrorRequestHandler = (error, _request, response, next) => {
  const refused = refusalOf(error)
  if (refused) response.status(refused.status).set(refused.headers).send(refused.body)
  else next(error)
}
// #endregion

// #region handler
const answerError: express.ErrorRequestHandler = (error, _request, response, next) => {
  const refused = refusal(error)
  if (refused) response.status(refused.status).json({ code: refused.code })
  else next(error)
}
// #endregion

function createApp(verifier: Verifier): express.Express {
  const app = express()
  // #region optional
  const optional = authenticate(verifier, { optional: true })
  app.get('/hello', optional, (request, response) => {
    response.json({ hello: findAuth(request)?.claims.sub ?? 'stranger' })
  })
  // #endregion
  // #region log
  const guard = authenticate(verifier, {
    onRefusal: ({ code, reason, detail }, request: express.Request) => {
      log.info({ ip: request.ip, code, reason, detail }, 'refused')
    },
  })
  // #endregion
  app.use('/places', guard)
  app.get('/places', (request, response) => {
    response.json({ readBy: getAuth(request).claims.sub })
  })
  app.post('/places', authorize(scope('places:write')), (request, response) => {
    response.status(201).json({ savedBy: getAuth(request).claims.sub })
  })
  app.get('/refused', (_request, response, next) => {
    callOnwards('refuses').then((text) => response.send(text), next)
  })
  app.get('/down', (_request, response, next) => {
    callOnwards('is down').then((text) => response.send(text), next)
  })
  // #region use-onwards
  app.use(answerOnwards)
  // #endregion
  // #region use-handler
  app.use(answerError)
  // #endregion
  return app
}

function createTypedApp({ keys, issuer, audience }: Configuration): express.Express {
  const app = express()
  // #region typed
  const verifier = createVerifier({
    keys,
    issuer,
    audience,
    schema: z.object({ sub: z.string(), role: z.enum(['user', 'admin']) }),
  })
  // #endregion
  // #region cors
  app.use(
    cors({
      origin: 'https://web.example.com',
      exposedHeaders: ['WWW-Authenticate', 'Retry-After'],
    }),
  )
  app.use(authenticate(verifier))
  // #endregion
  app.get('/role', (request, response) => {
    // #region role
    const { role } = getAuth(request, verifier).claims
    // #endregion
    response.json(role satisfies 'user' | 'admin')
  })
  return app
}

function checkRoutes(verifier: Verifier, health: string): void {
  const app = express()
  app.use(function logger(_request, _response, next) {
    next()
  })
  app.get(health, (_request, response) => {
    response.json({})
  })
  app.use(authenticate(verifier))
  app.get('/places', (request, response) => {
    response.json({ readBy: getAuth(request).claims.sub })
  })
  // #region routes
  assertGuarded(describeRoutes(app), { open: ['GET /health'], before: ['logger'] })
  // #endregion
}

export const applications: Applications = {
  listed: checkRoutes,
  plain: createApp,
  typed: (configuration) => createTypedApp(configuration).set('env', 'test'),
}

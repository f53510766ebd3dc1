import fastifyJwt from '@fastify/jwt'
import { type Auth, createVerifier, localKeys, scope } from '@portcullis/core'
import * as express from '@portcullis/express'
import * as fastify from '@portcullis/fastify'
import createExpress from 'express'
import { auth as jwtBearer } from 'express-oauth2-jwt-bearer'
import createFastify from 'fastify'

import * as guards from './guards/index.js'

// Other packages declare `auth` and `user` of a request with types of their own: all of them are in this one program.

const verifier = createVerifier({ keys: localKeys({ kty: 'RSA' }), issuer: null, audience: null })

const app = createExpress()
app.use('/ours', express.authenticate(verifier), express.authorize(scope('read')))
app.use('/bearer', jwtBearer({ issuerBaseURL: 'https://auth.test', audience: 'api' }))
app.get('/ours', (req, res) => {
  const { claims }: Auth = express.getAuth(req)
  const exp: number | undefined = claims.exp
  // @ts-expect-error -- our declaration of req.auth is opt-in, and theirs are not ours
  const ours: Auth = req.auth
  res.json([exp, ours])
})

const fastifyApp = createFastify()
await fastifyApp.register(fastifyJwt, { secret: 'not ours' })
await fastifyApp.register(fastify.authenticate(verifier))
fastifyApp.get('/ours', { onRequest: fastify.authorize(scope('read')) }, (request) => {
  const auth: Auth = request.auth
  const user: string | object | Buffer = request.user
  return { exp: auth.claims.exp, same: fastify.getAuth(request) === auth, user }
})

for (const guarded of Object.values(guards)) await guarded(verifier, () => {})

import fastifyJwt from '@fastify/jwt'
import { type Auth, createVerifier, localKeys, scope } from '@portcullis/core'
import * as express from '@portcullis/express'
import * as fastify from '@portcullis/fastify'
import * as hono from '@portcullis/hono'
import * as koa from '@portcullis/koa'
import * as nest from '@portcullis/nest'
import createExpress from 'express'
import { auth as jwtBearer } from 'express-oauth2-jwt-bearer'
import createFastify, { type FastifyRequest } from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'

// Other packages declare `auth` and `user` of a request with types of their own: all of them are in this one program.

const verifier = createVerifier({ keys: localKeys({ kty: 'RSA' }), issuer: null, audience: null })

const app = createExpress()
app.use('/ours', express.authenticate(verifier), express.authorize(scope('read')))
app.use(
  '/logged',
  express.authenticate(verifier, {
    onRefusal: (error, req: createExpress.Request) => {
      console.log(req.ip, error.reason)
    },
  }),
)
app.use('/bearer', jwtBearer({ issuerBaseURL: 'https://auth.test', audience: 'api' }))
app.get('/ours', (req, res) => {
  const { claims }: Auth = express.getAuth(req)
  const exp: number | undefined = claims.exp
  // @ts-expect-error -- our declaration of req.auth is opt-in, and theirs are not ours
  const ours: Auth = req.auth
  res.json([exp, ours])
})

const koaApp = new Koa<koa.AuthState>()
koaApp.use(koa.authenticate(verifier)).use(koa.authorize(scope('read')))
koaApp.use(
  koa.authenticate(verifier, {
    onRefusal: (error, ctx: Koa.Context) => {
      console.log(ctx.ip, error.reason)
    },
  }),
)
koaApp.use((ctx) => {
  const auth: Auth = ctx.state.auth
  ctx.body = [auth.claims.exp, koa.getAuth(ctx).claims.exp]
})

const fastifyApp = createFastify()
await fastifyApp.register(fastifyJwt, { secret: 'not ours' })
await fastifyApp.register(fastify.authenticate(verifier))
fastifyApp.get('/ours', { onRequest: fastify.authorize(scope('read')) }, (request) => {
  const auth: Auth = request.auth
  const user: string | object | Buffer = request.user
  return { exp: auth.claims.exp, same: fastify.getAuth(request) === auth, user }
})
const loggingGuard = fastify.authenticate(verifier, {
  onRefusal: (error, request: FastifyRequest) => {
    request.log.info({ ip: request.ip, reason: error.reason })
  },
})
await fastifyApp.register(loggingGuard, { prefix: '/logged' })
const http2App = createFastify({ http2: true })
await http2App.register(fastify.authenticate(verifier))
await http2App.register(loggingGuard)

const honoApp = new Hono<{ Variables: hono.AuthVariables }>()
honoApp.use(hono.authenticate(verifier)).use(hono.authorize(scope('read')))
honoApp.get('/ours', (c) => {
  const auth: Auth = c.var.auth
  return c.json([auth.claims.exp, hono.getAuth(c) === c.get('auth')])
})

nest.PortcullisModule.forRoot({
  verifier,
  onRefusal: (error, request: createExpress.Request) => [error.code, request.path],
})

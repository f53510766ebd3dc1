import { bodyParser } from '@koa/bodyparser'
import { Router } from '@koa/router'
import { createVerifier, remoteKeys, scope } from '@portcullis/core'
import { authenticate, authorize, type AuthState } from '@portcullis/koa'
import Koa from 'koa'

const { AUTH_URL = 'http://127.0.0.1:4010', PORT = '3000' } = process.env

const verifier = createVerifier({
  keys: remoteKeys(`${AUTH_URL}/tokenservice/pubkey.json`),
  issuer: null, // the service documents no issuer
  audience: null, // and no audience
  algorithms: ['RS512'], // and signs with RS512 alone
})
const router = new Router<AuthState>()

router.get('/health', (context) => {
  context.body = { status: 'ok' }
})

router.use('/v1', authenticate(verifier, { respond: 'problem' }))
router.use('/v1', authorize(scope('locations:write')), bodyParser())

router.post('/v1/clientLocations', (context) => {
  const { claims } = context.state.auth
  const location: unknown = context.request.body
  context.body = { savedBy: claims.sub, location }
})

export const app = new Koa().use(router.routes())
export const server = app.listen(Number(PORT), '127.0.0.1')
server.on('error', (error) => {
  console.error(`api: ${error.message} (PORT sets another port)`)
  process.exit(1)
})
server.on('listening', () => {
  const address = server.address()
  console.log(
    `api            http://127.0.0.1:${typeof address === 'object' ? address?.port : PORT}`,
  )
})

import { serve } from '@hono/node-server'
import { createVerifier, remoteKeys, scope } from '@portcullis/core'
import { authenticate, authorize, type AuthVariables } from '@portcullis/hono'
import { Hono } from 'hono'
import { validator } from 'hono/validator'

const { AUTH_URL = 'http://127.0.0.1:4010', PORT = '3000' } = process.env

const verifier = createVerifier({
  keys: remoteKeys(`${AUTH_URL}/tokenservice/pubkey.json`),
  issuer: null, // the service documents no issuer
  audience: null, // and no audience
  algorithms: ['RS512'], // and signs with RS512 alone
})
export const app = new Hono<{ Variables: AuthVariables }>()

app.get('/health', (c) => c.json({ status: 'ok' }))

app.use('/v1/*', authenticate(verifier, { respond: 'problem' }))
app.use('/v1/*', authorize(scope('locations:write')))

app.post(
  '/v1/clientLocations',
  validator('json', (location: object) => location), // 400 for what is no JSON
  (c) => c.json({ savedBy: c.var.auth.claims.sub, location: c.req.valid('json') }),
)

export const server = serve({ fetch: app.fetch, port: Number(PORT), hostname: '127.0.0.1' })
server.on('error', (error: Error) => {
  console.error(`api: ${error.message}`)
  process.exit(1)
})
server.on('listening', () => {
  const address = server.address()
  console.log(
    `api            http://127.0.0.1:${typeof address === 'object' ? address?.port : PORT}`,
  )
})

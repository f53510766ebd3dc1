import { createVerifier, remoteKeys, scope } from '@portcullis/core'
import { authenticate, authorize, getAuth } from '@portcullis/express'
import express from 'express'

const { AUTH_URL = 'http://127.0.0.1:4010', PORT = '3000' } = process.env

const verifier = createVerifier({
  keys: remoteKeys(`${AUTH_URL}/tokenservice/pubkey.json`),
  issuer: null, // the service documents no issuer
  audience: null, // and no audience
  algorithms: ['RS512'], // and signs with RS512 alone
})
export const app = express()

app.get('/health', (_request, response) => {
  response.json({ status: 'ok' })
})

app.use('/v1', authenticate(verifier, { respond: 'problem' }))
app.use('/v1', authorize(scope('locations:write')), express.json())

app.post('/v1/clientLocations', (request, response) => {
  const { claims } = getAuth(request)
  const location: unknown = request.body
  response.json({ savedBy: claims.sub, location })
})

export const server = app.listen(Number(PORT), '127.0.0.1', (error) => {
  if (error !== undefined) {
    console.error(`api: ${error.message} (PORT sets another port)`)
    process.exit(1)
  }
  const address = server.address()
  console.log(
    `api            http://127.0.0.1:${typeof address === 'object' ? address?.port : PORT}`,
  )
})

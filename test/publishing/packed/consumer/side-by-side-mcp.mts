import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js'
import { type Auth, createVerifier, localKeys } from '@portcullis/core'
import { authenticate, getAuth } from '@portcullis/express'
import express from 'express'

// Apart from side-by-side.mts: what the SDK declares as `req.auth` does not agree with express-oauth2-jwt-bearer either.

const verifier = createVerifier({ keys: localKeys({ kty: 'RSA' }), issuer: null, audience: null })

const app = express()
app.use('/ours', authenticate(verifier))
app.use(
  '/mcp',
  requireBearerAuth({
    verifier: {
      verifyAccessToken: (token) => Promise.resolve({ token, clientId: 'mcp', scopes: [] }),
    },
  }),
)
app.get('/ours', (req, res) => {
  const { claims }: Auth = getAuth(req)
  const exp: number | undefined = claims.exp
  const clientId: string | undefined = req.auth?.clientId
  res.json([exp, clientId])
})

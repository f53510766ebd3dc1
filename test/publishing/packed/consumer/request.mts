import { type Auth, createVerifier, localKeys } from '@portcullis/core'
import { authenticate } from '@portcullis/express'
import '@portcullis/express/request'
import express from 'express'

// The declaration of `req.auth`, which is opt-in.

const verifier = createVerifier({ keys: localKeys({ kty: 'RSA' }), issuer: null, audience: null })

express().get('/', authenticate(verifier, { optional: true }), (req, res) => {
  const exp: number | undefined = req.auth?.claims.exp
  const auth: Auth | undefined = req.auth
  // @ts-expect-error -- an anonymous request has none
  const proven: Auth = req.auth
  res.json([exp, auth, proven])
})

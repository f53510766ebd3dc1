import { createVerifier, remoteKeys } from '@portcullis/core'
import { authenticate, getAuth } from '@portcullis/express'
import express from 'express'

const keys = remoteKeys(`${process.env.AUTH_URL}/tokenservice/pubkey.json`)
const verifier = createVerifier({ keys, issuer: null, audience: null })
const app = express().get('/', authenticate(verifier), (request, response) => {
  response.json({ hello: getAuth(request).claims.sub })
})
const server = app.listen(process.env.PORT, () => console.log(server.address().port))

import { createVerifier, remoteKeys } from '@portcullis/core'
import { authenticate, getAuth } from '@portcullis/express'
import express from 'express'

const keys = remoteKeys(`${process.env['AUTH_URL']}/tokenservice/pubkey.json`)
const verifier = createVerifier({ keys, issuer: null, audience: null })
const app = express().set('env', 'production')
app.get('/', authenticate(verifier), (request, response) => {
  response.json({ hello: getAuth(request).claims.sub })
})
const server = app.listen(Number(process.env['PORT']), '127.0.0.1', () => {
  const address = server.address()
  console.log(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`)
})
